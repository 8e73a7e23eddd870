/* The shipped stimuli, loaded as the core loads them: counts against the documented draws, windows, delays, and refusals. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>

#include <spikemill/device.h>
#include <spikemill/stimulus.h>
#include "param.h"
#include "tap.h"

static int blocks, starve;
static char noted[300];

__attribute__((format(printf, 3, 4))) static int host_fail(struct mill_error *e, int status, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(e->text, sizeof e->text, format, arguments);
  va_end(arguments);
  e->status = status;
  return -1;
}

static void *host_allocate(const char *name, uint64_t count, size_t size)
{
  void *memory = starve || !name ? NULL : calloc(count, size);
  blocks += memory != NULL;
  return memory;
}

static void host_release(void *memory)
{
  blocks -= memory != NULL;
  free(memory);
}

__attribute__((format(printf, 1, 2))) static void host_note(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(noted, sizeof noted, format, arguments);
  va_end(arguments);
}

static const struct mill_host host = {
  sizeof host, MILL_ABI_MAJOR << 16 | MILL_ABI_MINOR, host_fail, host_allocate, host_release, host_note, NULL, NULL
};

static struct mill_stimulus_target target = {0.1, 100000000, 0, 0x123456789abcdef0u, 1000, "exc", ""};

/* A stimulus that has been given its parameters. */
struct loaded {
  const struct mill_plugin *plugin;
  const struct mill_stimulus_ops *ops;
  void *block, *self;
  struct mill_error error;
};

static const struct mill_plugin *load(const char *name)
{
  const char *folder = getenv("SPIKEMILL_TEST_PLUGINS"), *top = getenv("top_builddir");
  char path[4096];
  struct mill_error error = {0, ""};
  const struct mill_plugin *plugin = NULL;
  if (folder && *folder)
    snprintf(path, sizeof path, "%s/stimulus-%s.so", folder, name);
  else
    snprintf(path, sizeof path, "%s/plugins/.libs/stimulus-%s.so", top && *top ? top : ".", name);
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL), *symbol = handle ? dlsym(handle, "spikemill_plugin") : NULL;
  if (!symbol)
    bail("%s", dlerror());
  memcpy(&plugin, &symbol, sizeof plugin);
  ok(plugin->magic == MILL_PLUGIN_MAGIC && plugin->kind == MILL_STIMULUS && plugin->ops_size == sizeof(struct mill_stimulus_ops) &&
       strcmp(plugin->name, name) == 0 && plugin->flags == (MILL_CPU | MILL_CUDA | MILL_EXACT),
     "%s: its descriptor", name);
  ok(mill_param_check_table(plugin->params, plugin->param_count, plugin->params_size, &error) == 0, "%s: its parameter table %s",
     name, error.text);
  return plugin;
}

static void unload(struct loaded *s)
{
  if (s->ops && s->self)
    s->ops->release(&host, s->self);
  if (s->block)
    mill_param_free(s->plugin->params, s->plugin->param_count, s->block);
  free(s->block);
  s->block = s->self = NULL;
}

/* Defaults, then "key=value key=value". Returns what prepare returned. */
static int setup(struct loaded *s, const struct mill_plugin *plugin, const char *text)
{
  static const struct mill_defines none = {0, NULL};
  char copy[400], *rest = copy, *word;
  memset(s, 0, sizeof *s);
  s->plugin = plugin;
  s->ops = (const struct mill_stimulus_ops *)plugin->ops;
  s->block = calloc(1, plugin->params_size);
  if (!s->block)
    bail("no memory");
  for (uint32_t i = 0; i < plugin->param_count; i++)
    if (plugin->params[i].deflt && mill_param_value(&plugin->params[i], plugin->params[i].deflt, &none, s->block, &s->error) < 0)
      bail("%s", s->error.text);
  snprintf(copy, sizeof copy, "%s", text);
  while ((word = strsep(&rest, " ")) != NULL) {
    char *value = strchr(word, '=');
    uint32_t i = 0;
    *value++ = '\0';
    while (i < plugin->param_count && strcmp(plugin->params[i].key, word) != 0)
      i++;
    if (i == plugin->param_count || mill_param_value(&plugin->params[i], value, &none, s->block, &s->error) < 0)
      bail("%s=%s: %s", word, value, s->error.text);
  }
  noted[0] = '\0';
  return s->ops->prepare(&host, s->block, &target, &s->self, &s->error);
}

static void refuse(const struct mill_plugin *plugin, const char *text, const char *start, const char *part)
{
  struct loaded s;
  int rc = setup(&s, plugin, text);
  ok(rc < 0 && s.error.status == MILL_USAGE && strncmp(s.error.text, start, strlen(start)) == 0 && strstr(s.error.text, part),
     "%s: %s", text, s.error.text);
  unload(&s);
}

static void test_memory(const struct mill_plugin *plugin, const char *text)
{
  struct loaded s;
  starve = 1;
  int rc = setup(&s, plugin, text);
  starve = 0;
  ok(rc < 0 && s.error.status == MILL_RESOURCES, "%s without memory: %s", plugin->name, s.error.text);
  unload(&s);
}

static int events_at(const struct loaded *s, int64_t step, uint32_t first, uint32_t count, uint32_t *events)
{
  struct mill_stimulus_batch batch = {step, first, count};
  memset(events, 0xff, MILL_BATCH * sizeof *events);
  return s->ops->events(s->self, &batch, events);
}

static int blank(const uint32_t *events, uint32_t from)
{
  for (uint32_t i = from; i < MILL_BATCH; i++)
    if (events[i] != UINT32_MAX)
      return 0;
  return 1;
}

static void test_poisson(void)
{
  static const char *const rates[] = {"rate=0.5", "rate=20", "rate=8000", "rate=300000", "rate=5e6"};
  static const uint32_t counts[] = {MILL_BATCH, 1, 2, 15, 16, 17, 63, 1000};
  const struct mill_plugin *plugin = load("poisson");
  static uint32_t events[MILL_BATCH], part[MILL_BATCH];
  struct mill_poisson table;
  struct loaded s;
  for (size_t r = 0; r < sizeof rates / sizeof rates[0]; r++) {
    double rate = strtod(rates[r] + 5, NULL);
    int bad = 0, busy = 0, empty = 0;
    is_int(setup(&s, plugin, rates[r]), 0, "poisson, %s", rates[r]);
    if (mill_poisson_table(rate * target.dt / 1000, &table) < 0)
      bail("no table for %s", rates[r]);
    is_int(s.ops->largest(s.self), mill_poisson_largest(&table), "its largest count");
    for (int64_t step = 0; step < 40; step++) {
      uint32_t count = counts[step % 8], first = (uint32_t)(step % 5) * 64, any = 0;
      int64_t at = step < 20 ? step : ((int64_t)1 << 40) + step;
      int rc = events_at(&s, at, first, count, events);
      for (uint32_t i = 0; i < count; i++) {
        uint32_t want = mill_poisson_draw(&table, target.key, first + i, at);
        any |= want;
        bad += rc && events[i] != want;
      }
      bad += rc != (any != 0) || !blank(events, rc ? count : MILL_BATCH);
      busy += rc;
      empty += !rc;
    }
    is_int(bad, 0, "the documented draws (%d batches with events, %d without)", busy, empty);
    unload(&s);
  }
  setup(&s, plugin, "rate=3000");
  int bad = 0;
  double sum = 0;
  for (int64_t step = 0; step < 500; step++) {
    events_at(&s, step, 0, MILL_BATCH, events);
    for (uint32_t first = 0; first < MILL_BATCH; first += 64) {
      int rc = events_at(&s, step, first, 64, part);
      for (uint32_t i = 0; i < 64; i++)
        bad += events[first + i] != (rc ? part[i] : 0), sum += events[first + i];
    }
  }
  is_int(bad, 0, "counts do not depend on how neurons are batched");
  is_real(sum / (500 * MILL_BATCH), 0.3, 4 * sqrt(0.3 / (500 * MILL_BATCH)), "and have the mean rate·dt");
  unload(&s);

  setup(&s, plugin, "rate=1e6 start=0.3 stop=0.5");
  ok(!events_at(&s, 2, 0, 64, events) && events_at(&s, 3, 0, 64, events) && events_at(&s, 4, 0, 64, events) &&
       !events_at(&s, 5, 0, 64, events) && !events_at(&s, -1, 0, 64, events),
     "start ≤ t < stop");
  unload(&s);
  setup(&s, plugin, "rate=1e6 start=2.9999 stop=3.0009");
  ok(!events_at(&s, 29, 0, 64, events) && !events_at(&s, 30, 0, 64, events), "within a hundredth of a step of the grid, and empty");
  unload(&s);
  setup(&s, plugin, "rate=0");
  ok(s.ops->largest(s.self) == 0 && !events_at(&s, 5, 0, 64, events) && blank(events, 0), "rate 0 gives nothing");
  unload(&s);
  setup(&s, plugin, "rate=1e6");
  ok(events_at(&s, (int64_t)1 << 61, 0, 64, events), "never ends by default");
  unload(&s);
  refuse(plugin, "rate=20 start=0.25", "start: ", "0.2 and 0.3");
  refuse(plugin, "rate=20 stop=1.002", "stop: ", "1 and 1.1");
  refuse(plugin, "rate=20 stop=-0.5", "stop: ", "-0.5");
  refuse(plugin, "rate=20 start=5 stop=4", "stop: ", "before");
  target.dt = 1, target.dt_ps = 1000000000;
  refuse(plugin, "rate=1e9", "rate: ", "262144");
  target.dt = 0.1, target.dt_ps = 100000000;
  test_memory(plugin, "rate=1");
}

static void test_dc(void)
{
  const struct mill_plugin *plugin = load("dc");
  struct loaded s;
  double value = 7;
  is_int(setup(&s, plugin, "amplitude=-2.5"), 0, "dc");
  ok(s.ops->current(s.self, 0, &value) == 1 && value == -2.5 && s.ops->current(s.self, (int64_t)1 << 61, &value) == 1,
     "always on by default");
  unload(&s);
  setup(&s, plugin, "amplitude=3 start=1 stop=2");
  value = 7;
  ok(s.ops->current(s.self, 9, &value) == 0 && s.ops->current(s.self, 20, &value) == 0 && value == 7, "off outside start … stop");
  ok(s.ops->current(s.self, 10, &value) == 1 && s.ops->current(s.self, 19, &value) == 1 && value == 3, "on inside");
  ok(s.ops->events == NULL, "gives a current, not events");
  unload(&s);
  refuse(plugin, "amplitude=1 start=0.15", "start: ", "0.1 and 0.2");
  refuse(plugin, "amplitude=1 stop=-0.5", "stop: ", "-0.5");
  refuse(plugin, "amplitude=1 start=2 stop=1", "stop: ", "before");
  test_memory(plugin, "amplitude=1");
}

static void test_spike_file(void)
{
  static const int64_t step[] = {1, 1, 1, 1, 3, 3, 3, 5, 5, 90};
  static const uint32_t neuron[] = {0, 63, 64, 999, 7, 7, 7, 64, 64, 2};
  static const struct mill_spike_table table = {10, step, neuron}, none = {0, NULL, NULL};
  const struct mill_plugin *plugin = load("spike-file");
  static uint32_t events[MILL_BATCH];
  struct loaded s;
  is_int(setup(&s, plugin, "file=a.csv"), 0, "spike-file");
  is_str(s.ops->file_key, "file", "its file key");
  s.ops->events_from(s.self, &table);
  is_int(s.ops->largest(s.self), 3, "the largest count is that of a repeated spike");
  ok(!events_at(&s, 0, 0, 1000, events) && blank(events, 0), "a spike stamped 1 is of step 0, not yet part of its input");
  ok(events_at(&s, 1, 0, 1000, events) && events[0] == 1 && events[63] == 1 && events[64] == 1 && events[999] == 1 &&
       events[1] == 0 && blank(events, 1000),
     "but of that of step 1");
  ok(events_at(&s, 1, 64, 64, events) && events[0] == 1 && events[1] == 0 && blank(events, 64), "a batch sees its own neurons");
  ok(!events_at(&s, 1, 128, 64, events), "and none of the others");
  ok(events_at(&s, 3, 0, 64, events) && events[7] == 3, "spikes of one neuron and step add up");
  ok(!events_at(&s, 5, 0, 64, events) && events_at(&s, 5, 64, 64, events) && events[0] == 2, "the right step and batch");
  ok(events_at(&s, 90, 0, 64, events) && events[2] == 1 && !events_at(&s, 91, 0, 64, events) && !events_at(&s, 2, 0, 64, events),
     "the last event, and steps without any");
  s.ops->events_from(s.self, &none);
  ok(s.ops->largest(s.self) == 0 && !events_at(&s, 1, 0, 64, events), "an empty file gives nothing");
  unload(&s);

  setup(&s, plugin, "file=a.csv delay=1.5");
  s.ops->events_from(s.self, &table);
  ok(events_at(&s, 17, 0, 64, events) && events[7] == 3 && !events_at(&s, 16, 0, 64, events), "a delay of 15 steps");
  is_str(noted, "", "needs no rounding");
  unload(&s);
  setup(&s, plugin, "file=a.csv delay=0.05");
  s.ops->events_from(s.self, &table);
  ok(events_at(&s, 3, 0, 64, events) && events[7] == 3, "half a step is rounded up to one");
  ok(strstr(noted, "0.05 ms rounded to 1 step, 0.1 ms") != NULL, "and that is reported: %s", noted);
  unload(&s);
  setup(&s, plugin, "file=a.csv delay=0.24");
  s.ops->events_from(s.self, &table);
  ok(events_at(&s, 4, 0, 64, events) && events[7] == 3, "2.4 steps are rounded to two");
  unload(&s);
  refuse(plugin, "file=a.csv delay=0.04", "delay: ", "0 steps");
  refuse(plugin, "file=a.csv delay=0", "delay: ", "0 steps");
  refuse(plugin, "file=a.csv delay=-0.5", "delay: ", "-0.5");
  test_memory(plugin, "file=a.csv");
}

int main(void)
{
  plan_later();
  test_poisson();
  test_dc();
  test_spike_file();
  is_int(blocks, 0, "all memory was given back");
  return done_testing();
}
