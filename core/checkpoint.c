/* Checkpoints. A file is a head, the network's configuration, the hashes of its parts, a few numbers, and every array of the state with its name and size, each
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

#include "fingerprint.h"
#include "ini.h"
#include "memory.h"
#include "output.h"
#include "simulation.h"
#include "text.h"

#define MAGIC "MILLCHECKPOINT2\n"
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

/* ---- The network that must agree ---------------------------------------------------------------------------------------- */

static const char *value_in(const struct mill_ini *ini, const char *section, const char *key)
{
  const struct mill_ini_section *s = mill_ini_section_find(ini, section);
  const struct mill_ini_entry *e = s ? mill_ini_entry_find(s, key) : NULL;
  return e ? e->value : NULL;
}

/* Writes the first entry of a section that the two have otherwise, 0 when there is none. `there` is the file's network. */
static int tell_entry(const struct mill_ini *there, const struct mill_ini *here, const char *section, char *text, size_t size)
{
  const struct mill_ini *const both[] = {there, here};
  for (int i = 0; i < 2; i++) {
    const struct mill_ini_section *s = mill_ini_section_find(both[i], section);
    for (size_t e = 0; s && e < s->count; e++) {
      const char *key = s->entry[e].key, *a = value_in(there, section, key), *b = value_in(here, section, key);
      if ((a && b && strcmp(a, b) == 0) || strcmp(key, "duration") == 0)
        continue;
      mill_text_format(text, size, "[%s] %s is %s%s%s there and %s%s%s here", section, key, a ? "`" : "", a ? a : "not set",
                       a ? "`" : "", b ? "`" : "", b ? b : "not set", b ? "`" : "");
      return 1;
    }
  }
  return 0;
}

/* Says how a part differs: by its section's entries, by those of [define], else by what they stand for. */
static int refuse_part(const struct file *f, const char *there_text, const struct mill_ini *here, const char *section)
{
  struct mill_ini *there = NULL;
  struct mill_error error;
  char text[512];
  if (mill_ini_parse(f->path, there_text, strlen(there_text), NULL, 0, &there, &error) < 0)
    return damaged(f, "its configuration");
  if (!tell_entry(there, here, section, text, sizeof text) && !tell_entry(there, here, "define", text, sizeof text))
    mill_text_format(text, sizeof text, "[%s] reads the same, but its files or plugins are not what they were", section);
  mill_ini_free(there);
  return mill_fail(f->error, MILL_DATA, "%s: of another network: %s", f->path, text);
}

static int pass_parts(struct file *f, struct mill_simulation *sim, const char *there)
{
  struct mill_part *part = NULL, found;
  uint32_t count = 0;
  uint64_t n;
  int rc = mill_fingerprint(sim, &part, &count, f->error);
  n = count;
  if (rc == 0)
    rc = pass_number(f, "the number of parts", &n);
  for (uint32_t i = 0; rc == 0 && i < count && i < n; i++) {
    found = part[i];
    rc = pass(f, &found, sizeof found);
    found.name[sizeof found.name - 1] = 0;
    if (rc == 0 && strcmp(found.name, part[i].name) != 0)
      rc = mill_fail(f->error, MILL_DATA, "%s: of another network: it has [%s] where this one has [%s]", f->path, found.name,
                     part[i].name);
    else if (rc == 0 && found.hash != part[i].hash)
      rc = refuse_part(f, there, sim->file->ini, part[i].name);
  }
  if (rc == 0 && n != count)
    rc = mill_fail(f->error, MILL_DATA, "%s: of another network: it has %llu populations, projections and stimuli, and this one %u",
                   f->path, (unsigned long long)n - 1, count - 1);
  free(part);
  return rc;
}

/* The configuration, which says how networks differ, and the parts, which say whether they do. */
static int pass_network(struct file *f, struct mill_simulation *sim)
{
  uint64_t bytes = strlen(sim->config);
  char *text;
  int rc;
  if (pass_number(f, "the size of the configuration", &bytes) < 0)
    return -1;
  if (f->writing)
    return pass(f, sim->config, bytes) < 0 ? -1 : pass_parts(f, sim, sim->config);
  if (bytes > f->size)
    return damaged(f, "the size of the configuration");
  text = calloc(bytes + 1, 1);
  if (!text)
    return mill_fail(f->error, MILL_RESOURCES, "out of memory");
  rc = pass(f, text, bytes) < 0 ? -1 : pass_parts(f, sim, text);
  free(text);
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
  if (!f->writing && f->size < sizeof magic - 1)
    return mill_fail(f->error, MILL_DATA, "%s: not a checkpoint", f->path);
  if (pass(f, magic, sizeof magic - 1) < 0)
    return -1;
  if (memcmp(magic, MAGIC, sizeof magic - 1) != 0)
    return mill_fail(f->error, MILL_DATA, "%s: not a checkpoint of this version", f->path);
  if (pass(f, &order, sizeof order) < 0)
    return -1;
  if (order != ORDER)
    return mill_fail(f->error, MILL_DATA, "%s: written on a machine with another byte order", f->path);
  if (pass_network(f, sim) < 0 || pass_number(f, "the step", &step) < 0)
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
  if (mill_build_rows(sim, error) < 0)
    return -1;
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
  if (mill_build_rows(sim, error) < 0) {
    rc = -1;
  } else if (fd < 0 || fstat(fd, &status) < 0) {
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
