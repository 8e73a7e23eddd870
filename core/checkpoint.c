/* Checkpoints. A file is a head, the network's configuration, a few numbers, and every array of the state with its name and size, each
   followed by its XXH64. Numbers are little-endian; arrays are as in memory, which is why the head states the byte order. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "ini.h"
#include "memory.h"
#include "output.h"
#include "simulation.h"
#include "text.h"

#define MAGIC "MILLCHECKPOINT1\n"
#define ORDER UINT64_C(0x0102030405060708)
#define NAME_BYTES 64
#define WORDS_MAX 2048u /* of a history: 8 usable ones and the longest delay */

/* What is written and read in the same order: one function walks the state, and `pass` writes or reads what it is given. */
struct file {
  FILE *stream;
  const char *path;
  int writing;
  uint64_t size; /* of a file that is read */
  struct mill_error *error;
};

static int damaged(const struct file *f, const char *what)
{
  return mill_fail(f->error, MILL_DATA, "%s: a damaged checkpoint: %s", f->path, what);
}

static int pass(struct file *f, void *data, uint64_t bytes)
{
  if (bytes == 0)
    return 0;
  if (f->writing)
    return fwrite(data, 1, bytes, f->stream) == bytes
               ? 0
               : mill_fail(f->error, MILL_RESOURCES, "%s: cannot write: %s", f->path, strerror(errno));
  return fread(data, 1, bytes, f->stream) == bytes ? 0 : damaged(f, "it ends too early");
}

static int pass_number(struct file *f, const char *what, uint64_t *value)
{
  uint64_t sealed[2] = {*value, *value ^ ORDER};
  if (pass(f, sealed, sizeof sealed) < 0)
    return -1;
  if (sealed[1] != (sealed[0] ^ ORDER))
    return damaged(f, what);
  *value = sealed[0];
  return 0;
}

/* A named array. When reading, name and size must be those in the file. */
static int pass_array(struct file *f, const char *name, void *data, uint64_t bytes)
{
  char found[NAME_BYTES] = "";
  uint64_t size = bytes, hash = f->writing ? XXH64(data, bytes, 0) : 0;
  if (f->writing)
    mill_text_format(found, sizeof found, "%s", name);
  if (pass(f, found, sizeof found) < 0 || pass_number(f, "the size of an array", &size) < 0)
    return -1;
  found[NAME_BYTES - 1] = 0;
  if (strncmp(found, name, NAME_BYTES - 1) != 0 || size != bytes)
    return mill_fail(f->error, MILL_DATA, "%s: holds `%.60s` of %llu bytes where this network has `%s` of %llu", f->path, found,
                     (unsigned long long)size, name, (unsigned long long)bytes);
  if (pass(f, data, bytes) < 0 || pass_number(f, "the hash of an array", &hash) < 0)
    return -1;
  return hash == XXH64(data, bytes, 0) ? 0 : damaged(f, name);
}

/* ---- The configuration that must agree --------------------------------------------------------------------------------- */

static int may_differ(const char *section, const char *key)
{
  static const char *const sections[] = {"strategy", "record"};
  static const char *const keys[] = {"duration", "backend"};
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
    if (strcmp(section, sections[i]) == 0)
      return 1;
  }
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    if (strcmp(section, "simulation") == 0 && strcmp(key, keys[i]) == 0)
      return 1;
  }
  return 0;
}

static const char *value_in(const struct mill_ini *ini, const char *section, const char *key)
{
  const struct mill_ini_section *s = mill_ini_section_find(ini, section);
  const struct mill_ini_entry *e = s ? mill_ini_entry_find(s, key) : NULL;
  return e ? e->value : NULL;
}

/* The first entry of one that the other lacks or has otherwise; 0 when there is none. */
static int differs(const struct file *f, const struct mill_ini *a, const struct mill_ini *b, int a_is_file)
{
  for (size_t s = 0; s < a->count; s++) {
    for (size_t e = 0; e < a->section[s].count; e++) {
      const char *section = a->section[s].name, *key = a->section[s].entry[e].key, *one = a->section[s].entry[e].value;
      const char *other = value_in(b, section, key);
      if (may_differ(section, key) || (other && strcmp(one, other) == 0))
        continue;
      mill_fail(f->error, MILL_DATA, "%s: of another network: [%s] %s is %s%s%s there and %s%s%s here", f->path, section, key,
                a_is_file || other ? "`" : "",
                a_is_file ? one
                : other   ? other
                          : "not set",
                a_is_file || other ? "`" : "", !a_is_file || other ? "`" : "", a_is_file ? (other ? other : "not set") : one,
                !a_is_file || other ? "`" : "");
      return 1;
    }
  }
  return 0;
}

static int pass_config(struct file *f, struct mill_simulation *sim)
{
  uint64_t bytes = strlen(sim->config);
  struct mill_ini *ini = NULL;
  char *text;
  int rc;
  if (pass_number(f, "the size of the configuration", &bytes) < 0)
    return -1;
  if (f->writing)
    return pass(f, sim->config, bytes);
  if (bytes > f->size)
    return damaged(f, "the size of the configuration");
  text = malloc(bytes + 1);
  if (!text)
    return mill_fail(f->error, MILL_RESOURCES, "out of memory");
  rc = pass(f, text, bytes);
  if (rc == 0)
    rc = mill_ini_parse(f->path, text, bytes, NULL, 0, &ini, f->error);
  free(text);
  if (rc < 0)
    return -1;
  rc = differs(f, ini, sim->file->ini, 1) || differs(f, sim->file->ini, ini, 0) ? -1 : 0;
  mill_ini_free(ini);
  return rc;
}

/* ---- The state --------------------------------------------------------------------------------------------------------- */

/* Histories may be longer or shorter than in the file, as history_words says. */
static int pass_history(struct file *f, struct mill_simulation *sim, uint32_t index)
{
  struct mill_population_run *run = &sim->run[index];
  const uint64_t size = sim->population[index].size;
  uint64_t words = run->history_words, *all;
  char name[NAME_BYTES];
  int rc;
  if (pass_number(f, "the length of a history", &words) < 0)
    return -1;
  if (words > WORDS_MAX)
    return damaged(f, "the length of a history");
  mill_text_format(name, sizeof name, "%s: histories", sim->population[index].name);
  if (words == run->history_words)
    return pass_array(f, name, run->history, size * words * 8);
  all = mill_allocate_or_fail("spike histories", size, words * 8, f->error);
  if (!all)
    return -1;
  rc = pass_array(f, name, all, size * words * 8);
  if (rc == 0)
    mill_plastic_history(sim, index, all, (uint32_t)words);
  mill_release(all);
  return rc;
}

static int pass_population(struct file *f, struct mill_simulation *sim, uint32_t index)
{
  const struct mill_population *p = &sim->population[index];
  const struct mill_population_run *run = &sim->run[index];
  char name[NAME_BYTES];
  for (uint32_t s = 0; s < run->ops->state_count; s++) {
    mill_text_format(name, sizeof name, "%s.%s", p->name, run->ops->state[s].name);
    if (pass_array(f, name, run->column[s], p->size * (uint64_t)mill_state_size(run, s)) < 0)
      return -1;
  }
  for (uint32_t r = 0; r < p->receptor_count; r++) {
    const struct mill_ring *ring = &p->ring[r];
    mill_text_format(name, sizeof name, "%s.%s: input", p->name, run->ops->receptor[r].name);
    if (pass_array(f, name, ring->cell, ring->stride * (ring->mask + UINT64_C(1)) * (ring->bits / 8)) < 0)
      return -1;
  }
  return 0;
}

static int pass_projection(struct file *f, struct mill_simulation *sim, uint32_t index)
{
  const struct mill_plastic_run *run = sim->plastic[index];
  const struct mill_synapse_code *code;
  char name[NAME_BYTES];
  if (!run)
    return 0;
  code = run->plastic.code;
  const struct {
    void *data;
    uint64_t bytes;
  } arrays[] = {
      {run->pre, (uint64_t)run->sources * code->pre_size},
      {run->k_last, (uint64_t)run->sources * 8},
      {run->u, (uint64_t)run->sources * 8},
      {run->fired, run->sources},
      {run->post, (uint64_t)run->targets * code->post_size},
      {run->post_step, (uint64_t)run->targets * 8},
  };
  mill_text_format(name, sizeof name, "%u %s", index, sim->projection[index].name);
  for (uint32_t c = 0; c < run->plastic.syn_count; c++) {
    if (pass_array(f, name, run->syn[c], sim->projection[index].synapses * code->real_size) < 0)
      return -1;
  }
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
    if (pass_array(f, name, arrays[i].data, arrays[i].bytes) < 0)
      return -1;
  }
  return 0;
}

static int pass_recorder(struct file *f, struct mill_simulation *sim)
{
  struct mill_recorder *r = &sim->recorder;
  size_t bytes;
  void *hash = mill_spike_hash_state(r->hash, &bytes);
  return pass_number(f, "the number of spikes", &r->spikes) < 0 ||
                 pass_array(f, "spikes of populations", r->population_spikes, 8 * (uint64_t)sim->network.population_count) < 0 ||
                 pass_array(f, "hash of spikes", hash, bytes) < 0
             ? -1
             : 0;
}

static int pass_all(struct file *f, struct mill_simulation *sim)
{
  char magic[sizeof MAGIC] = MAGIC;
  uint64_t order = ORDER, step = (uint64_t)sim->step;
  if (pass(f, magic, sizeof magic - 1) < 0)
    return -1;
  if (memcmp(magic, MAGIC, sizeof magic - 1) != 0)
    return mill_fail(f->error, MILL_DATA, "%s: not a checkpoint of this version", f->path);
  if (pass(f, &order, sizeof order) < 0)
    return -1;
  if (order != ORDER)
    return mill_fail(f->error, MILL_DATA, "%s: written on a machine with another byte order", f->path);
  if (pass_config(f, sim) < 0 || pass_number(f, "the step", &step) < 0)
    return -1;
  sim->step = (int64_t)step;
  for (uint32_t p = 0; p < sim->network.population_count; p++) {
    if (pass_population(f, sim, p) < 0)
      return -1;
  }
  for (uint32_t i = 0; i < sim->network.projection_count; i++) {
    if (pass_projection(f, sim, i) < 0)
      return -1;
  }
  for (uint32_t p = 0; p < sim->network.population_count; p++) {
    if (sim->run[p].plastic_in_count && pass_history(f, sim, p) < 0)
      return -1;
  }
  return pass_recorder(f, sim);
}

int mill_checkpoint_save(struct mill_simulation *sim, const char *path, struct mill_error *error)
{
  struct file f = {.path = path, .writing = 1, .error = error};
  char *part = NULL;
  int rc;
  mill_plastic_flush(sim);
  if (mill_output_begin(path, &part, error) < 0)
    return -1;
  f.stream = fopen(part, "w");
  rc = f.stream ? pass_all(&f, sim) : mill_fail(error, MILL_RESOURCES, "%s: %s", path, strerror(errno));
  if (f.stream && fclose(f.stream) != 0 && rc == 0)
    rc = mill_fail(error, MILL_RESOURCES, "%s: cannot write: %s", path, strerror(errno));
  if (rc == 0)
    return mill_output_commit(path, part, error);
  mill_output_forget(part);
  return -1;
}

int mill_checkpoint_load(struct mill_simulation *sim, const char *path, struct mill_error *error)
{
  struct file f = {.path = path, .error = error};
  struct stat status;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc = -1;
  if (fd < 0 || fstat(fd, &status) < 0) {
    mill_fail(error, MILL_DATA, "%s: cannot open the checkpoint: %s", path, strerror(errno));
  } else if (!S_ISREG(status.st_mode)) {
    mill_fail(error, MILL_DATA, "%s: not a regular file", path);
  } else {
    f.size = (uint64_t)status.st_size;
    f.stream = fdopen(fd, "r");
    rc = f.stream ? pass_all(&f, sim) : mill_fail(error, MILL_RESOURCES, "%s: %s", path, strerror(errno));
    if (rc == 0 && fgetc(f.stream) != EOF)
      rc = damaged(&f, "more follows its end");
  }
  if (f.stream)
    fclose(f.stream);
  else if (fd >= 0)
    close(fd);
  return rc;
}
