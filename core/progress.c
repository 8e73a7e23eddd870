/* Progress, interruption and JSON for the commands. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "command.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cJSON.h>
#include "output.h"
#include "simulation.h"
#include "registry.h"
#include "text.h"

static volatile sig_atomic_t interrupted;

/* The second signal, whichever it is, leaves at once and takes the unfinished files along. */
static void on_signal(int signal_number)
{
  (void)signal_number;
  if (interrupted++) {
    mill_output_unlink_all();
    _exit(MILL_INTERRUPTED);
  }
}

void mill_interrupt_catch(void)
{
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction action, before;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(signals[i], &action, NULL);
  }
  mill_interrupt_set(mill_interrupted);
}

int mill_interrupted(void)
{
  return interrupted;
}

void mill_progress_begin(struct mill_progress *p, int quiet)
{
  p->quiet = quiet;
  p->terminal = isatty(STDERR_FILENO);
  p->begun = p->shown = mill_seconds();
  p->level = 0;
}

/* Whether it is time to show something. */
static int due(struct mill_progress *p, double now)
{
  if (p->quiet || now - p->shown < (p->terminal ? 0.1 : 5))
    return 0;
  p->shown = now;
  return 1;
}

static void draw(const struct mill_progress *p, double part, const char *line)
{
  char bar[41];
  for (int i = 0; i < 40; i++)
    bar[i] = i < (int)(part * 40) ? '#' : '.';
  bar[40] = 0;
  if (p->terminal)
    fprintf(stderr, "\r[%s] %s\033[K", bar, line);
  else
    fprintf(stderr, "%s\n", line);
}

/* How long it will take, once that is known. */
static const char *left(char *text, size_t size, double part, double spent)
{
  *text = '\0';
  if (part > 0)
    mill_text_format(text, size, ", %.0f s left", spent * (1 - part) / part);
  return text;
}

void mill_progress_show(struct mill_progress *p, const struct mill_simulation_report *r)
{
  double now = mill_seconds(), spent = now - p->begun;
  double done = (double)(r->step - r->first), all = (double)r->duration, part = all > 0 ? done / all : 1;
  double biological = done * r->dt / 1000;
  char line[256], rest[64];
  if (!due(p, now))
    return;
  mill_text_format(line, sizeof line, "%.0f of %.0f ms, %.2f Hz, %.3g times real time%s", done * r->dt, all * r->dt,
                   biological > 0 && r->neurons ? (double)r->spikes / biological / (double)r->neurons : 0,
                   biological > 0 ? r->wall_s / biological : 0, left(rest, sizeof rest, part, spent));
  draw(p, part, line);
}

void mill_progress_mining(struct mill_progress *p, const struct mill_mining_progress *m)
{
  double now = mill_seconds(), part = m->candidates ? (double)m->done / (double)m->candidates : 1, spent;
  char line[256], rest[64];
  if (p->level != m->level) {
    p->level = m->level;
    p->level_begun = now;
  }
  if (!due(p, now))
    return;
  spent = now - p->level_begun;
  const double rate = spent > 0 ? (double)m->done / spent : 0;
  left(rest, sizeof rest, part, spent);
  if (m->testing)
    mill_text_format(line, sizeof line, "%s %llu of %llu, %.3g a second%s", m->testing, (unsigned long long)m->done,
                     (unsigned long long)m->candidates, rate, rest);
  else
    mill_text_format(line, sizeof line, "level %u: %llu of %llu candidates, %llu frequent, %.3g a second%s", m->level,
                     (unsigned long long)m->done, (unsigned long long)m->candidates, (unsigned long long)m->frequent, rate, rest);
  draw(p, part, line);
}

void mill_progress_end(struct mill_progress *p)
{
  if (!p->quiet && p->terminal && p->shown > p->begun)
    fputs("\r\033[K", stderr);
}

int mill_advance_to(struct mill_simulation *simulation, int64_t step, struct mill_progress *progress, struct mill_error *error)
{
  struct mill_simulation_report r;
  int64_t chunk = 64;
  mill_simulation_report(simulation, &r);
  step = step < r.first + r.duration ? step : r.first + r.duration;
  while (r.step < step && !interrupted) {
    int64_t steps = step - r.step < chunk ? step - r.step : chunk;
    double before = r.wall_s;
    if (mill_simulation_advance(simulation, steps, error) < 0)
      return -1;
    mill_simulation_report(simulation, &r);
    if (r.wall_s - before < 0.05 && chunk < INT64_C(1) << 40)
      chunk *= 2;
    else if (r.wall_s - before > 0.2 && chunk > 1)
      chunk /= 2;
    if (progress)
      mill_progress_show(progress, &r);
  }
  return 0;
}

void mill_json_int(cJSON *object, const char *key, uint64_t value)
{
  char text[32];
  mill_text_format(text, sizeof text, "%llu", (unsigned long long)value);
  cJSON_AddRawToObject(object, key, text);
}

void mill_json_hash(cJSON *object, const char *key, uint64_t value)
{
  char text[32];
  mill_text_format(text, sizeof text, "%016llx", (unsigned long long)value);
  cJSON_AddStringToObject(object, key, text);
}

int mill_json_print(cJSON *object, struct mill_error *error)
{
  char *text = cJSON_Print(object);
  int rc = 0;
  if (!text || puts(text) < 0 || fflush(stdout) != 0)
    rc = text ? mill_output_refused(NULL, error) : mill_fail(error, MILL_RESOURCES, "out of memory");
  free(text);
  cJSON_Delete(object);
  return rc;
}

const char *mill_processor_name(char *buffer, size_t size)
{
  FILE *in = fopen("/proc/cpuinfo", "r");
  char line[256];
  mill_text_format(buffer, size, "cpu");
  while (in && fgets(line, sizeof line, in)) {
    if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
      line[strcspn(line, "\n")] = 0;
      mill_text_format(buffer, size, "%s", strchr(line, ':') + 2);
      break;
    }
  }
  if (in)
    fclose(in);
  return buffer;
}
