/* Spikes on their way from a simulation into a mining. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "run-mine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/gpu.h"
#include "mine-report.h"
#include "mining-private.h"
#include "output.h"
#include "simulation.h"
#include "text.h"

#define FILE_NAME "mining.csv"

/* The first error is kept. */
static void stop(struct mill_live *live, const struct mill_error *error)
{
  if (!live->stopped)
    live->error = *error;
  live->stopped = 1;
}

static void take(const struct mill_event *events, size_t n, void *self)
{
  struct mill_live *live = self;
  struct mill_error error;
  if (!live->stopped && mill_mining_push(live->mining, events, n, &error) < 0)
    stop(live, &error);
}

/* ---- Opening ---- */

/* What a GPU simulates and counts does not go there again. */
static int keep_on_device(struct mill_live *live, struct mill_simulation *sim, struct mill_error *error)
{
  struct mill_spike_log *log;
  if (!mill_mining_on_gpu(live->mining))
    return 0;
  log = mill_gpu_keep_spikes(sim, error);
  if (log)
    mill_mining_take_log(live->mining, log);
  return log ? 0 : -1;
}

static int open_mining(struct mill_live *live, const char *job, const char *source, struct mill_simulation *sim,
                       struct mill_error *error)
{
  const struct mill_netfile *file = sim->file;
  live->group = calloc(file->population_count + 1u, sizeof *live->group);
  if (!live->group)
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  for (uint32_t p = 0; p < file->population_count; p++)
    live->group[p] = (struct mill_group){sim->population[p].name, sim->population[p].first, sim->population[p].size};
  const struct mill_stream_info info = {.tick_ps = file->dt_ps,
                                        .start = sim->begun,
                                        .stop = file->t0 + file->duration,
                                        .group_count = file->population_count,
                                        .group = live->group,
                                        .seed = file->seed,
                                        .version = mill_version(),
                                        .config = sim->config};
  if (mill_mining_open_live(job, NULL, 0, source, &info, &live->mining, error) < 0)
    return -1;
  return sim->gpu ? keep_on_device(live, sim, error) : 0;
}

static int open_places(struct mill_live *live, const char *job, const struct mill_options *how, const struct mill_simulation *sim,
                       struct mill_error *error)
{
  struct mill_mining_report report;
  FILE *file, *shown = live->json ? open_memstream(&live->text, &live->size) : live->quiet ? NULL : stdout;
  live->series[MILL_LIVE_SHOWN] =
      (struct mill_series){.out = shown, .format = live->json ? MILL_SERIES_JSON : MILL_SERIES_TABLE, .most = MILL_MINE_SHOWN};
  if (asprintf(&live->path, "%s/" FILE_NAME, how->folder) < 0)
    live->path = NULL;
  if (!live->path || (live->json && !shown))
    return mill_fail(error, MILL_RESOURCES, "out of memory");
  mill_mining_report(live->mining, &report);
  if (mill_output_spares(live->path, job, error) < 0 || mill_output_spares(live->path, report.truth, error) < 0 ||
      mill_output_spares(live->path, how->resume, error) < 0 || mill_record_spares(sim, live->path, error) < 0)
    return mill_fail_within(error, "--mine");
  if (mill_output_begin(live->path, &live->part, error) < 0)
    return -1;
  file = fopen(live->part, "we");
  live->series[MILL_LIVE_FILED] = (struct mill_series){.out = file, .format = MILL_SERIES_CSV, .most = UINT64_MAX};
  return file ? 0 : mill_fail(error, MILL_RESOURCES, "%s: %s", live->path, mill_text_errno(errno));
}

int mill_live_open(struct mill_live *live, const char *job, const struct mill_options *how, const char *source,
                   struct mill_simulation *sim, struct mill_error *error)
{
  if (open_mining(live, job, source, sim, error) < 0 || open_places(live, job, how, sim, error) < 0)
    return -1;
  mill_simulation_listen(sim, take, live);
  return 0;
}

/* ---- Mining ---- */

int64_t mill_live_next(const struct mill_live *live)
{
  if (!live->mining || live->stopped || live->window >= mill_mining_windows(live->mining))
    return INT64_MAX;
  return mill_mining_window_stop(live->mining, live->window);
}

void mill_live_mine(struct mill_live *live, int64_t step, struct mill_progress *progress)
{
  struct mill_error error = {0};
  for (; mill_live_next(live) <= step; live->window++) {
    mill_progress_end(progress);
    if (mill_series_mine(live->series, MILL_LIVE_PLACES, live->mining, live->window, live->quiet || live->json, &error) < 0)
      stop(live, &error);
  }
}

static int mine_whole(struct mill_live *live, int64_t step, struct mill_error *error)
{
  if (mill_mining_seal(live->mining, step, error) < 0)
    return -1;
  return mill_series_run(live->series, MILL_LIVE_PLACES, live->mining, live->quiet || live->json, error);
}

/* ---- The end ---- */

int mill_live_finish(struct mill_live *live, int64_t step, struct mill_error *error)
{
  const uint64_t windows = mill_mining_windows(live->mining);
  int rc = 0;
  if (!live->stopped && !windows && !mill_interrupted() && mine_whole(live, step, &live->error) < 0)
    live->stopped = 1;
  if (live->stopped) {
    *error = live->error;
    rc = -1;
  }
  for (int i = 0; i < MILL_LIVE_PLACES; i++)
    if (mill_series_end(&live->series[i], live->mining, rc == 0 && live->window == windows, rc < 0 ? NULL : error) < 0)
      rc = -1;
  rc = mill_series_commit(&live->series[MILL_LIVE_FILED], live->path, live->part, rc, error);
  live->part = NULL;
  if (live->json && (fclose(live->series[MILL_LIVE_SHOWN].out) != 0))
    rc = mill_fail(rc < 0 ? NULL : error, MILL_RESOURCES, "out of memory");
  live->series[MILL_LIVE_SHOWN].out = NULL;
  return rc;
}

const char *mill_live_file(const struct mill_live *live)
{
  return live->series[MILL_LIVE_FILED].written ? live->path : NULL;
}

void mill_live_free(struct mill_live *live)
{
  for (int i = 0; i < MILL_LIVE_PLACES; i++)
    if (live->series[i].out && live->series[i].out != stdout)
      fclose(live->series[i].out);
  mill_output_forget(live->part);
  mill_mining_free(live->mining);
  free(live->group);
  free(live->path);
  free(live->text);
}
