/* Reading a mining job. A spike file with options is a job as well: a section [mining] that the options make, so that both ways have one
   table, one set of messages and one text for output files. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ini-scan.h"
#include "job.h"
#include "memory.h"
#include "param.h"
#include "registry.h"
#include "stream.h"
#include "text.h"

struct job_values {
  char *spikes, *columns, *tick, *counter, *support, *intervals, *window, *step, *memory;
  char *occurrences, *graph, *truth;
  int64_t max_length, max_candidates, threads;
  int32_t ties, repeats, backend, reduce;
};
#define AT(member) offsetof(struct job_values, member)
static const struct mill_param_spec job_specs[] = {
    {"spikes", "", NULL, NULL, "spike file, or the folder of a run", 0, 0, AT(spikes), MILL_TEXT, 0},
    {"columns", "", NULL, NULL, "columns of a text file without a header, as type,time_ms", 0, 0, AT(columns), MILL_TEXT, 0},
    {"tick", "", NULL, NULL, "grid of the times of a text file, as 0.1 ms", 0, 0, AT(tick), MILL_TEXT, 0},
    {"counter", "", "latest-start", NULL, "how episodes are counted", 0, 0, AT(counter), MILL_TEXT, 0},
    {"support", "", NULL, NULL, "least count of a frequent episode: 100, 2/s or 0.5%", 0, 0, AT(support), MILL_TEXT, 0},
    {"intervals", "", NULL, NULL, "gaps between the nodes of an episode, as (0,5] (5,10] ms", 0, 0, AT(intervals), MILL_TEXT, 0},
    {"window", "s", NULL, NULL, "length of the windows that are mined one by one (not given: the whole is)", 0, 0, AT(window),
     MILL_TEXT, 0},
    {"step", "s", NULL, NULL, "from the start of a window to that of the next (not given: window)", 0, 0, AT(step), MILL_TEXT, 0},
    {"max_length", "nodes", "64", NULL, "longest episode", 1, MILL_LENGTH_MAX, AT(max_length), MILL_INT, 0},
    {"ties", "", "order", "order|strict", "whether events of one time follow each other", 0, 0, AT(ties), MILL_CHOICE, 0},
    {"repeats", "", "no", NULL, "whether a type may occur more than once in an episode", 0, 0, AT(repeats), MILL_BOOL, 0},
    {"max_candidates", "", "1e8", NULL, "most candidates of a level", 1, 9e18, AT(max_candidates), MILL_INT, 0},
    {"memory", "", "1G", NULL, "memory for episodes and for what the counter keeps: bytes, or with K, M, G, T", 0, 0, AT(memory),
     MILL_TEXT, 0},
    {"backend", "", "auto", "auto|cpu|cuda", "where to count", 0, 0, AT(backend), MILL_CHOICE, 0},
    {"threads", "", "0", NULL, "worker threads; 0: one a processor", 0, 4096, AT(threads), MILL_INT, 0},
    {"reduce", "", "none", "none|closed|maximal", "which frequent episodes are listed", 0, 0, AT(reduce), MILL_CHOICE, 0},
    {"occurrences", "", NULL, NULL, "file for the times of the occurrences: .csv", 0, 0, AT(occurrences), MILL_TEXT, 0},
    {"graph", "", NULL, NULL, "file for the links between types: .csv, .dot or .gv", 0, 0, AT(graph), MILL_TEXT, 0},
    {"truth", "", NULL, NULL, "what was planted, to be compared: FILE.truth.ini", 0, 0, AT(truth), MILL_TEXT, 0},
};
#undef AT
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

struct mill_param_table mill_job_table(void)
{
  return (struct mill_param_table){job_specs, COUNT(job_specs)};
}

static int is_job_file(const char *path)
{
  struct stat about;
  size_t n = strlen(path);
  return n > 4 && strcmp(path + n - 4, ".ini") == 0 && !(stat(path, &about) == 0 && S_ISDIR(about.st_mode));
}

static int check_sections(const struct mill_ini *ini, struct mill_error *error)
{
  static const char *const known[] = {"define", "mining"};
  int network = 0;
  for (size_t i = 0; i < ini->count; i++)
    network |= strncmp(ini->section[i].name, "population.", 11) == 0 || strcmp(ini->section[i].name, "simulation") == 0;
  if (network && !mill_ini_section_find(ini, "mining"))
    return mill_fail(
        error, MILL_USAGE,
        "%s: is a network, not a mining job: there is no section [mining]. Run it first (spikemill run), then mine the "
        "folder that it wrote",
        ini->path);
  for (size_t i = 0; i < ini->count; i++) {
    const struct mill_place place = {ini, &ini->section[i]};
    const char *name = ini->section[i].name, *near;
    if (strcmp(name, "define") == 0 || strcmp(name, "mining") == 0)
      continue;
    near = mill_text_nearest(name, known, COUNT(known));
    return mill_place_fail(error, &place, NULL, "unknown section; %s%s%s",
                           near ? "did you mean `" : "a mining job has define and mining", near ? near : "", near ? "`?" : "");
  }
  return 0;
}

/* The job's INI: the file's, or the overrides alone with the spike file added. */
static int open_ini(struct mill_job *job, const char *path, const char *const *overrides, size_t override_count,
                    struct mill_error *error)
{
  struct mill_ini_section *section;
  struct mill_ini_entry *entry;
  if (is_job_file(path)) {
    if (mill_ini_read(path, overrides, override_count, &job->ini, error) < 0 || check_sections(job->ini, error) < 0)
      return -1;
    if (!mill_ini_section_find(job->ini, "mining"))
      return mill_fail(error, MILL_USAGE, "%s: there is no section [mining]", path);
    return 0;
  }
  if (mill_ini_parse(path, "", 0, overrides, override_count, &job->ini, error) < 0 || check_sections(job->ini, error) < 0)
    return -1;
  section = mill_ini_section_find(job->ini, "mining");
  if (!section && !(section = mill_ini_section_add(job->ini, "mining", 0)))
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  entry = mill_ini_entry_find(section, "spikes");
  if (entry)
    return mill_ini_fail(error, job->ini, section, entry, "the spikes are given already: %s", path);
  if (mill_ini_line_check(path, strlen(path), error) < 0)
    return mill_fail_within(error, "the name of the spike file");
  if (!mill_ini_entry_add(section, "spikes", path, 0))
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  return 0;
}

static int missing(const struct mill_job *job, const char *key, const char *what, struct mill_error *error)
{
  if (job->place.section->line == 0)
    return mill_fail(error, MILL_USAGE, "--%s is missing: %s", key, what);
  return mill_place_fail(error, &job->place, NULL, "`%s` is missing: %s", key, what);
}

/* All keys of the section: the job's, those of significance, the counter's. */
enum { TABLES = 3 };
static void list_tables(const struct mill_job *job, struct mill_param_table *table)
{
  const struct mill_plugin *plugin = job->counter.plugin;
  table[0] = mill_job_table();
  table[1] = mill_significance_table();
  table[2] = (struct mill_param_table){plugin->params, plugin->param_count};
}

static int check_unused(const struct mill_job *job, const struct mill_given *given, struct mill_error *error)
{
  struct mill_param_table tables[TABLES];
  list_tables(job, tables);
  if (mill_choice_others(given, MILL_COUNTER, &job->counter, error) < 0)
    return -1;
  return mill_param_check_unused(job->ini, job->place.section, tables, TABLES, error);
}

/* The keys with a notation of their own. */
static int read_notations(struct mill_job *job, const struct job_values *v, struct mill_error *error)
{
  struct mill_error inner = {0};
  if (!v->support)
    return missing(job, "support",
                   "the least count of a frequent episode, as 100, 2/s (a second of recording) or 0.5% (of all events)", error);
  if (!v->intervals)
    return missing(job, "intervals", "the gaps between the nodes of an episode, as '(0,5] (5,10] ms'", error);
  if (mill_support_parse(v->support, &job->defines, &job->support, &inner) < 0)
    return mill_place_fail(error, &job->place, "support", "%s", inner.text);
  if (mill_intervals_parse(v->intervals, &job->defines, &job->interval, &job->interval_count, &inner) < 0)
    return mill_place_fail(error, &job->place, "intervals", "%s", inner.text);
  if (mill_memory_bytes(v->memory, &job->memory) < 0)
    return mill_place_fail(error, &job->place, "memory", "expected a number of bytes, with K, M, G or T for powers of 1024");
  return 0;
}

/* Seconds above 0, exactly; *ps stays when there is no text. */
static int read_seconds(const struct mill_job *job, const char *key, const char *text, int64_t *ps, struct mill_error *error)
{
  struct mill_error inner = {0};
  char buffer[32];
  const char *number;
  if (!text)
    return 0;
  if (mill_job_number(text, &job->defines, buffer, &number, &inner) < 0)
    return mill_place_fail(error, &job->place, key, "%s", inner.text);
  if (mill_text_scaled(number, 12, ps) < 0 || *ps <= 0)
    return mill_place_fail(error, &job->place, key, "expected seconds, above 0 and a whole number of picoseconds");
  return 0;
}

static int read_windows(struct mill_job *job, const struct job_values *v, struct mill_error *error)
{
  if (v->step && !v->window)
    return mill_place_fail(error, &job->place, "step", "is the time between windows, and there is no `window`");
  if (read_seconds(job, "window", v->window, &job->window, error) < 0)
    return -1;
  job->step = job->window;
  return read_seconds(job, "step", v->step, &job->step, error);
}

/* Spikes from elsewhere: the job says nothing of a file. */
static int refuse_spikes(struct mill_job *job, const struct job_values *v, const char *source, struct mill_error *error)
{
  const struct {
    const char *key, *value;
  } of_file[] = {{"spikes", v->spikes}, {"columns", v->columns}, {"tick", v->tick}};
  for (size_t i = 0; i < COUNT(of_file); i++)
    if (of_file[i].value)
      return mill_place_fail(error, &job->place, of_file[i].key, "is of a spike file, and the spikes are those of %s: leave it out",
                             source);
  job->spikes = strdup(source);
  return job->spikes ? 0 : mill_fail(error, MILL_RESOURCES, "out of memory");
}

/* The spike file, seen from the working directory. */
static int find_spikes(struct mill_job *job, const char *spikes, struct mill_error *error)
{
  char *path;
  int rc;
  if (!spikes)
    return missing(job, "spikes", "the spike file, or the folder of a run", error);
  path = mill_job_path(job, spikes);
  if (!path)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  rc = mill_stream_find(path, &job->spikes, error);
  free(path);
  return rc;
}

/* The place of a key in the tables. */
static size_t rank_of(const struct mill_job *job, const char *key)
{
  struct mill_param_table table[TABLES];
  size_t rank = 0;
  list_tables(job, table);
  for (size_t t = 0; t < TABLES; t++)
    for (size_t i = 0; i < table[t].count; i++, rank++)
      if (strcmp(table[t].specs[i].key, key) == 0)
        return rank;
  return SIZE_MAX;
}

/* The keys in order of the tables, so that one job has one text whether a file or options say it. */
static void order_entries(const struct mill_job *job)
{
  struct mill_ini_section *section = job->place.section;
  for (size_t i = 1; i < section->count; i++) {
    const struct mill_ini_entry entry = section->entry[i];
    size_t at = i;
    for (; at && rank_of(job, section->entry[at - 1].key) > rank_of(job, entry.key); at--)
      section->entry[at] = section->entry[at - 1];
    section->entry[at] = entry;
  }
}

/* Those that have an effect. */
static int add_defaults(struct mill_job *job, const struct mill_param_table *table)
{
  for (size_t i = 0; i < table->count; i++) {
    const struct mill_param_spec *spec = &table->specs[i];
    if (spec->deflt && mill_significance_heeds(&job->significance, spec->key) &&
        !mill_ini_entry_find(job->place.section, spec->key) && !mill_ini_entry_add(job->place.section, spec->key, spec->deflt, 0))
      return -1;
  }
  return 0;
}

static int make_config(struct mill_job *job, struct mill_error *error)
{
  struct mill_param_table tables[TABLES];
  list_tables(job, tables);
  for (size_t t = 0; t < TABLES; t++)
    if (add_defaults(job, &tables[t]) < 0)
      return mill_fail(error, MILL_RESOURCES, "out of memory");
  order_entries(job);
  job->config = mill_ini_text(job->ini);
  return job->config ? 0 : mill_fail(error, MILL_RESOURCES, "out of memory");
}

static int read_section(struct mill_job *job, const char *source, struct mill_error *error)
{
  const struct mill_given given = {&job->place, &job->defines, job->folder};
  struct job_values v = {0};
  struct mill_job_names names;
  int rc = -1;
  if (mill_param_parse(job_specs, COUNT(job_specs), job->ini, job->place.section, &job->defines, &v, error) < 0 ||
      mill_significance_read(&job->place, &job->defines, &job->significance, error) < 0 ||
      mill_choice_load(&given, "counter", MILL_COUNTER, v.counter, &job->counter, error) < 0 ||
      check_unused(job, &given, error) < 0 || read_notations(job, &v, error) < 0 || read_windows(job, &v, error) < 0 ||
      (source ? refuse_spikes(job, &v, source, error) : find_spikes(job, v.spikes, error)) < 0)
    goto done;
  names = (struct mill_job_names){v.occurrences, v.graph, v.truth};
  if (mill_job_files(job, &names, error) < 0)
    goto done;
  job->columns = v.columns;
  job->tick = v.tick;
  job->support_text = v.support;
  job->intervals_text = v.intervals;
  v.columns = v.tick = v.support = v.intervals = NULL;
  job->max_length = (uint32_t)v.max_length;
  job->ties = v.ties;
  job->backend = v.backend;
  job->repeats = v.repeats;
  job->max_candidates = (uint64_t)v.max_candidates;
  job->threads = (uint32_t)v.threads;
  job->reduce = v.reduce;
  rc = make_config(job, error);
done:
  mill_param_free(job_specs, COUNT(job_specs), &v);
  return rc;
}

static int read_job(const char *path, const char *const *overrides, size_t override_count, const char *source,
                    struct mill_job **out, struct mill_error *error)
{
  struct mill_job *job = calloc(1, sizeof *job);
  const char *slash = is_job_file(path) ? strrchr(path, '/') : NULL;
  *out = NULL;
  if (!job)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  job->folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("");
  if (!job->folder) {
    mill_fail(error, MILL_RESOURCES, "out of memory");
    goto failed;
  }
  if (open_ini(job, path, overrides, override_count, error) < 0 || mill_defines_read(job->ini, &job->defines, error) < 0)
    goto failed;
  job->place = (struct mill_place){job->ini, mill_ini_section_find(job->ini, "mining")};
  if (read_section(job, source, error) < 0)
    goto failed;
  *out = job;
  return 0;
failed:
  mill_job_free(job);
  return -1;
}

int mill_job_read(const char *path, const char *const *overrides, size_t override_count, struct mill_job **job,
                  struct mill_error *error)
{
  return read_job(path, overrides, override_count, NULL, job, error);
}

int mill_job_read_live(const char *path, const char *const *overrides, size_t override_count, const char *source,
                       struct mill_job **job, struct mill_error *error)
{
  *job = NULL;
  if (!is_job_file(path))
    return mill_fail(error, MILL_USAGE, "%s: expected a mining job, a file whose name ends in .ini", path);
  return read_job(path, overrides, override_count, source, job, error);
}

void mill_job_free(struct mill_job *job)
{
  if (!job)
    return;
  mill_choice_free(&job->counter);
  mill_defines_free(&job->defines);
  mill_ini_free(job->ini);
  free(job->folder);
  free(job->spikes);
  free(job->columns);
  free(job->tick);
  free(job->support_text);
  free(job->intervals_text);
  free(job->interval);
  free(job->occurrences);
  free(job->graph);
  free(job->truth);
  free(job->config);
  free(job);
}
