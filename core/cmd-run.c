/* spikemill run: simulate a network file and say what came out. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "command.h"

#include <stdlib.h>
#include <string.h>

#include <cJSON.h>
#include "memory.h"
#include "output.h"
#include "run-mine.h"
#include "simulation.h"
#include "text.h"
#include "value.h"

#define HASHED 100000000u /* synapses whose weights are brought from a GPU only to be hashed */

struct request {
  struct mill_request common;
  const char *folder, *mine, *checkpoint, *every, *resume;
  int64_t threads;
};
static const struct mill_row rows[] = {
    MILL_ROW_TEXT("output", 'o', "DIR", "output folder (default: ./NAME-out)", struct request, folder),
    MILL_ROWS_NETWORK,
    MILL_ROW_TEXT("mine", 0, "JOB.ini", "mine the spikes as they come, by a job that names none, into mining.csv of the folder",
                  struct request, mine),
    MILL_ROW_TEXT("checkpoint", 0, "FILE", "write the whole state at the end, or when interrupted", struct request, checkpoint),
    MILL_ROW_TEXT("every", 0, "MS", "write the checkpoint that often too, in simulated time", struct request, every),
    MILL_ROW_TEXT("resume", 0, "FILE", "go on from a checkpoint, under any strategy; files hold what follows it", struct request,
                  resume),
    MILL_ROW_INT("threads", "N", "worker threads (default: one a processor)", struct request, threads, 1, 4096),
    MILL_ROWS_COMMON("no progress, no summary"),
};
#define COUNT (sizeof rows / sizeof *rows)
MILL_ROWS_FIT(rows);

/* "./NAME-out" for "…/NAME.ini". */
static char *default_folder(const char *path)
{
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
  size_t n = dot && dot > name ? (size_t)(dot - name) : strlen(name);
  char *folder = malloc(n + 8);
  if (folder)
    mill_text_format(folder, n + 8, "%.*s-out", (int)n, name);
  return folder;
}

static double rate_hz(uint64_t spikes, uint32_t neurons, double biological_s)
{
  return neurons && biological_s > 0 ? (double)spikes / neurons / biological_s : 0;
}

static int print_json(const struct request *q, struct mill_simulation *sim, const struct mill_live *live, struct mill_error *error)
{
  struct mill_simulation_report r;
  struct mill_population_report p;
  cJSON *object = cJSON_CreateObject(), *list;
  char device[96];
  double biological_s, simulated_s;
  const char *file;
  mill_simulation_report(sim, &r);
  biological_s = (double)(r.step - r.first) * r.dt / 1000;
  simulated_s = (double)(r.step - r.begun) * r.dt / 1000;
  cJSON_AddStringToObject(object, "version", mill_version());
  cJSON_AddStringToObject(object, "config", q->common.path);
  mill_json_int(object, "seed", r.seed);
  cJSON_AddStringToObject(object, "backend", r.backend);
  cJSON_AddStringToObject(object, "device", r.device ? r.device : mill_processor_name(device, sizeof device));
  cJSON_AddStringToObject(object, "delivery", r.delivery);
  cJSON_AddStringToObject(object, "plasticity", r.plasticity);
  mill_json_int(object, "threads", r.threads);
  cJSON_AddStringToObject(object, "precision", r.precision ? "double" : "single");
  cJSON_AddBoolToObject(object, "complete", r.step - r.first >= r.duration);
  cJSON_AddNumberToObject(object, "biological_s", biological_s);
  cJSON_AddNumberToObject(object, "wall_s", r.wall_s);
  if (simulated_s > 0)
    cJSON_AddNumberToObject(object, "real_time_factor", r.wall_s / simulated_s);
  else
    cJSON_AddNullToObject(object, "real_time_factor");
  cJSON_AddNumberToObject(object, "setup_s", r.setup_s);
  if (r.device)
    cJSON_AddNumberToObject(object, "connect_s", r.connect_s);
  mill_json_int(object, "spikes", r.spikes);
  mill_json_hash(object, "spike_hash", r.spike_hash);
  if (r.rows_on_device && r.synapses > HASHED)
    cJSON_AddNullToObject(object, "weight_hash");
  else
    mill_json_hash(object, "weight_hash", mill_simulation_weight_hash(sim));
  list = cJSON_AddArrayToObject(object, "populations");
  for (uint32_t i = 0; mill_simulation_population(sim, i, &p) == 0; i++) {
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "name", p.name);
    mill_json_int(item, "size", p.size);
    cJSON_AddNumberToObject(item, "rate_hz", rate_hz(p.spikes, p.size, biological_s));
    cJSON_AddItemToArray(list, item);
  }
  mill_json_int(object, "synapses", r.synapses);
  cJSON_AddNumberToObject(object, "synaptic_events_per_s", r.wall_s > 0 ? (double)r.synaptic_events / r.wall_s : 0);
  mill_json_int(object, "memory_bytes", r.memory_bytes);
  list = cJSON_AddArrayToObject(object, "files");
  for (uint32_t i = 0; (file = mill_simulation_file(sim, i)); i++)
    cJSON_AddItemToArray(list, cJSON_CreateString(file));
  if (q->checkpoint)
    cJSON_AddItemToArray(list, cJSON_CreateString(q->checkpoint));
  if (mill_live_file(live))
    cJSON_AddItemToArray(list, cJSON_CreateString(mill_live_file(live)));
  if (live->mining)
    cJSON_AddRawToObject(object, "mining", live->size ? live->text : "null");
  return mill_json_print(object, error);
}

static void print_summary(const struct request *q, const struct mill_simulation *sim, const struct mill_live *live)
{
  struct mill_simulation_report r;
  struct mill_population_report p;
  char memory[32];
  double biological_s;
  const char *file;
  mill_simulation_report(sim, &r);
  biological_s = (double)(r.step - r.first) * r.dt / 1000;
  if (r.begun > r.first)
    printf("went on from %.6g ms; ", (double)(r.begun - r.first) * r.dt);
  printf("%.6g ms simulated in %.3g s (set-up %.3g s): real-time factor %.3g\n", (double)(r.step - r.begun) * r.dt, r.wall_s,
         r.setup_s, r.step > r.begun ? r.wall_s * 1000 / ((double)(r.step - r.begun) * r.dt) : 0);
  if (r.connect_s > 0)
    printf("%llu synapses made on %s in %.3g s; ", (unsigned long long)r.synapses, r.device, r.connect_s);
  printf("%u neurons, %llu synapses, %s; on %s%s%s%s: %s delivery, %s plasticity, %u thread%s, %s precision\n", r.neurons,
         (unsigned long long)r.synapses, mill_memory_text(memory, r.memory_bytes), r.backend, r.device ? " (" : "",
         r.device ? r.device : "", r.device ? ")" : "", r.delivery, r.plasticity, r.threads, r.threads == 1 ? "" : "s",
         r.precision ? "double" : "single");
  printf("%llu spikes, %.4g synaptic events a second, spike hash %016llx\n", (unsigned long long)r.spikes,
         r.wall_s > 0 ? (double)r.synaptic_events / r.wall_s : 0, (unsigned long long)r.spike_hash);
  for (uint32_t i = 0; mill_simulation_population(sim, i, &p) == 0; i++)
    printf("  %-16s %8u neurons  %8.3f Hz  (%s)\n", p.name, p.size, rate_hz(p.spikes, p.size, biological_s), p.model);
  for (uint32_t i = 0; (file = mill_simulation_file(sim, i)); i++)
    printf("wrote %s\n", file);
  if (q->checkpoint)
    printf("wrote %s\n", q->checkpoint);
  if (mill_live_file(live))
    printf("wrote %s\n", mill_live_file(live));
}

/* Steps between checkpoints; INT64_MAX: only one at the end. */
static int checkpoint_steps(const struct request *q, double dt, int64_t *steps, struct mill_error *error)
{
  int64_t ps;
  *steps = INT64_MAX;
  if (!q->every)
    return 0;
  if (!q->checkpoint)
    return mill_fail(error, MILL_USAGE, "--every says how often --checkpoint FILE is written, which is missing");
  if (mill_text_ps(q->every, &ps) < 0 || ps <= 0 || mill_grid_steps(ps, (int64_t)(dt * 1e9 + 0.5), steps) < 0 || *steps < 1)
    return mill_fail(error, MILL_USAGE, "--every: expected a time in ms, a whole number of steps of %g ms, found `%s`", dt,
                     q->every);
  return 0;
}

/* Before anything runs: that the checkpoint can be written, and takes the place of nothing that the run reads or writes. */
static int check_checkpoint(const struct request *q, const struct mill_simulation *sim, const struct mill_live *live,
                            struct mill_error *error)
{
  char *part;
  if (!q->checkpoint)
    return 0;
  if (live->path && mill_output_is(q->checkpoint, live->path))
    return mill_fail(error, MILL_USAGE, "--checkpoint: %s: is a file that the run writes: expected another name", q->checkpoint);
  if (mill_output_spares(q->checkpoint, q->common.path, error) < 0 || mill_output_spares(q->checkpoint, q->mine, error) < 0 ||
      mill_record_spares(sim, q->checkpoint, error) < 0 || mill_output_begin(q->checkpoint, &part, error) < 0)
    return mill_fail_within(error, "--checkpoint");
  mill_output_forget(part);
  return 0;
}

/* To the end, with checkpoints on the way and there, and stops where there is a window to be mined. */
static int advance(const struct request *q, struct mill_simulation *sim, struct mill_live *live, int64_t every,
                   struct mill_progress *progress, struct mill_error *error)
{
  struct mill_simulation_report r;
  int done;
  mill_simulation_report(sim, &r);
  do {
    const int64_t save = every == INT64_MAX ? INT64_MAX : r.first + ((r.step - r.first) / every + 1) * every;
    const int64_t mine = mill_live_next(live);
    if (mill_advance_to(sim, mine < save ? mine : save, progress, error) < 0)
      return -1;
    mill_simulation_report(sim, &r);
    mill_live_mine(live, r.step, progress);
    done = r.step - r.first >= r.duration || mill_interrupted();
    if (q->checkpoint && (done || r.step == save) && mill_simulation_save(sim, q->checkpoint, error) < 0)
      return -1;
  } while (!done);
  return 0;
}

/* Runs and puts the files in place, also when a checkpoint could not be written. */
static int run(const struct request *q, struct mill_simulation *sim, struct mill_live *live, struct mill_error *error)
{
  struct mill_simulation_report r;
  struct mill_progress progress;
  int64_t every;
  mill_simulation_report(sim, &r);
  if (checkpoint_steps(q, r.dt, &every, error) < 0 || check_checkpoint(q, sim, live, error) < 0)
    return -1;
  mill_progress_begin(&progress, q->common.quiet || q->common.json);
  const int rc = advance(q, sim, live, every, &progress, error);
  mill_progress_end(&progress);
  mill_simulation_report(sim, &r);
  return mill_simulation_finish(sim, r.step - r.first >= r.duration, rc < 0 ? NULL : error) < 0 ? -1 : rc;
}

/* After the run: the end of its mining, and what there is to say. */
static int finish(const struct request *q, struct mill_simulation *sim, struct mill_live *live, struct mill_error *error)
{
  struct mill_simulation_report r;
  mill_simulation_report(sim, &r);
  int rc = live->mining ? mill_live_finish(live, r.step, error) : 0;
  if (q->common.json && print_json(q, sim, live, rc < 0 ? NULL : error) < 0)
    rc = -1;
  if (!q->common.json && !q->common.quiet)
    print_summary(q, sim, live);
  if (rc == 0 && r.step - r.first < r.duration)
    rc = mill_fail(error, MILL_INTERRUPTED, "interrupted after %.6g of %.6g ms; the files hold what was recorded and say so%s%s",
                   (double)(r.step - r.first) * r.dt, (double)r.duration * r.dt, q->checkpoint ? "; to go on: --resume " : "",
                   q->checkpoint ? q->checkpoint : "");
  return rc;
}

static int simulate(const struct request *q, struct mill_error *error)
{
  char *folder = q->folder ? strdup(q->folder) : default_folder(q->common.path);
  const struct mill_options how = {(const char *const *)q->common.overrides.text, q->common.overrides.count, (uint32_t)q->threads,
                                   folder, q->resume};
  struct mill_simulation *sim = NULL;
  struct mill_live live = {.json = q->common.json, .quiet = q->common.quiet};
  int rc = -1;
  if (!folder)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  mill_interrupt_catch();
  if (mill_simulation_open(q->common.path, &how, &sim, error) == 0 &&
      (!q->mine || mill_live_open(&live, q->mine, &how, q->common.path, sim, error) == 0) && run(q, sim, &live, error) == 0)
    rc = finish(q, sim, &live, error);
  mill_live_free(&live);
  mill_simulation_free(sim);
  free(folder);
  return rc;
}

int mill_cmd_run(int argc, char **argv)
{
  static const struct mill_request_words words = {"network file", "run NET.ini"};
  struct request q = {0};
  struct mill_error error = {0};
  int rc = mill_request_parse(&q.common, rows, COUNT, argc, argv, &words, &error);
  if (rc == 0 && q.common.help)
    mill_request_usage(stdout, "run NET.ini [option]…", "Simulates a network and writes its spikes.", rows, COUNT);
  else if (rc == 0 && q.folder && !*q.folder)
    rc = mill_fail(&error, MILL_USAGE, "--output: an empty folder name");
  else if (rc == 0)
    rc = simulate(&q, &error);
  mill_overrides_free(&q.common.overrides);
  return rc < 0 ? mill_report_error(&error) : MILL_OK;
}
