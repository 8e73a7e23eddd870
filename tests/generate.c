/* Synthetic streams: exact repetition, limits, errors, and the two files. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <sys/stat.h>

#include <spikemill/spikemill.h>
#include "german.h"
#include "ini.h"
#include "made.h"
#include "memory.h"
#include "param.h"
#include "spikes.h"

/* ---- Repetition */

static void test_same(void)
{
  struct made *a = make("sym26", ""), *b = make("sym26", "");
  ok(a->hash == b->hash && a->hash == UINT64_C(0x9c6e6af009d6f8c7), "sym26: the same events everywhere, %016" PRIx64, a->hash);
  made_free(b);
  b = make("sym26", "seed=2");
  int same = 0;
  for (uint32_t u = 0; u < 26; u++)
    same += same_train(a, b, u) || a->train[u][0] == b->train[u][0];
  is_int(same, 0, "another seed changes every unit, from its first event on");
  made_free(b);
  b = make("sym26", "duration=20000");
  ok(b->count > 10000 && !memcmp(a->event, b->event, b->count * sizeof *b->event) && a->event[b->count].tick > 20000000,
     "a shorter stream is the beginning of a longer one");
  made_free(b);
  b = make("sym26", "neurons=3000 duration=20000");
  struct made *c = make("sym26", "duration=20000");
  same = 0;
  for (uint32_t u = 0; u < 26; u++)
    same += same_train(b, c, u);
  is_int(same, 26, "more units, so shorter windows: the events of the first ones stay");
  made_free(b);
  made_free(c);
  b = make("sym26", "tick=1 duration=60000");
  c = make("sym26", "chains=none");
  ok(a->hash != b->hash && a->hash != c->hash, "tick and chains matter");
  ok(same_train(a, c, 0) && same_train(a, c, 4) && !same_train(a, c, 1) && same_train(a, c, 25),
     "chains change their targets only");
  made_free(a);
  made_free(b);
  made_free(c);
  a = make("poisson", "refractory=1");
  ok(a->hash == UINT64_C(0x45dcbc2cba87aed5), "poisson: the same events everywhere, %016" PRIx64, a->hash);
  made_free(a);
  /* The first number of a unit is the place of time 0 there, and its first gap here. */
  a = make("poisson", "refractory=0");
  b = make("sym26", "refractory=0 chains=none");
  same = 0;
  for (uint32_t u = 0; u < 26; u++)
    same += llabs(a->train[u][0] - (b->train[u][1] - b->train[u][0])) <= 1;
  is_int(same, 0, "the kinds share no random numbers");
  made_free(b);
  b = make("poisson", "refractory=1 neurons=5000 duration=6000");
  c = make("poisson", "refractory=1 duration=6000");
  same = 0;
  for (uint32_t u = 0; u < 26; u++)
    same += same_train(b, c, u);
  is_int(same, 26, "poisson: windows don't matter either");
  made_free(a);
  made_free(b);
  made_free(c);
}

/* ---- Limits */

static void test_edges(void)
{
  static const struct {
    const char *kind, *options;
    uint64_t least, most;
  } edges[] = {
      {"sym26", "rate=0", 0, 0},
      {"sym26", "duration=0", 0, 0},
      {"sym26", "neurons=1 chains=none duration=10000", 130, 270},
      {"sym26", "neurons=11 duration=1000", 200, 800},
      {"sym26", "neurons=2 chains=2 delay=100000 duration=99000", 3400, 4300},
      {"sym26", "rate=1e-300", 0, 0},
      {"sym26", "duration=4e9 rate=1e-6 chains=none neurons=10", 10, 80},
      {"sym26", "duration=0.000000004 dt=0.000000001 tick=0.000000001 refractory=0 delay=0.000000001", 0, 0},
      {"sym26", "dt=0.000000001 tick=0.000000001 refractory=0 delay=0.000000001 duration=100 rate=20", 40, 200},
      {"sym26", "rate=4605 neurons=2 chains=none duration=1000 refractory=0", 8700, 9700},
      {"sym26", "neurons=100000 rate=5 duration=1000 chains=100,_100", 490000, 530000},
      {"sym26", "refractory=100000 duration=200000 chains=2", 26, 52},
      {"poisson", "rate=0", 0, 0},
      {"poisson", "duration=0", 0, 0},
      {"poisson", "neurons=1 rate=1000 tick=1 duration=10000", 9500, 10500},
      {"poisson", "rate=999 refractory=1 neurons=1 duration=10000", 9985, 9995},
      {"poisson", "duration=4e9 rate=1e-6 neurons=10 tick=0.000000001", 10, 80},
      {"bursts", "rate=0 bursts=0", 0, 0},
      {"bursts", "duration=0", 0, 0},
      {"bursts", "rate=0 inside=0 own=1", 0, 0},
      {"bursts", "rate=0 share=0", 0, 0},
      {"bursts", "duration=4e9 rate=1e-6 bursts=0 tick=0.000000001 neurons=10", 10, 80},
      {"bursts", "rate=0 length=1 bursts=999 own=999 share=1 inside=1000 tick=1 neurons=1 duration=10000", 9500, 10500},
      {"drift", "rate=0", 0, 0},
      {"drift", "duration=0", 0, 0},
      {"drift", "duration=4e9 rate=1e-6 neurons=10 tick=0.000000001 period=4e9 depth=0", 10, 80},
      {"drift", "neurons=1 rate=500 depth=1 tick=1 period=1 duration=10000", 4600, 5400},
      {"planted", "background=0 rate=0", 0, 0},
      {"planted", "duration=0", 0, 0},
      {"planted", "background=0 miss=1", 0, 0},
      {"planted", "background=0 duration=15", 0, 0},
      {"planted", "background=0 episodes=A-1->B jitter=0 tick=1 rate=499 duration=10000", 9900, 10000},
      {"planted", "background=0 duration=4e9 rate=1e-5 tick=0.000000001", 80, 260},
  };
  for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
    struct made *m = make(edges[i].kind, edges[i].options);
    ok(!m->bad && m->count >= edges[i].least && m->count <= edges[i].most, "%s %s: %" PRIu64 " events", edges[i].kind,
       edges[i].options, m->count);
    made_free(m);
  }
}

static int count_only(const struct mill_event *events, size_t n, int64_t done, void *self, struct mill_error *error)
{
  (void)events;
  (void)done;
  (void)error;
  *(uint64_t *)self += n;
  return 0;
}

/* Most memory ever held after making the stream, and its events. */
static uint64_t peak_of(const char *kind, const char *options, uint64_t *events)
{
  const struct mill_generator *g;
  struct mill_error error;
  void *params;
  *events = 0;
  if (read_params(kind, options, &g, &params, &error) || g->make(params, count_only, events, &error))
    bail("%s", error.text);
  mill_generator_free(g, params);
  return mill_memory_peak();
}

/* The first test: the peak is that of the process. A stream in memory takes 16 bytes an event. */
static void test_memory(void)
{
  const int is_long = getenv("SPIKEMILL_LONG") != NULL;
  uint64_t events, peak = peak_of("sym26", is_long ? "rate=100 duration=20000000" : "rate=100 duration=1500000", &events);
  ok(events > 5000000 && peak < 8 << 20, "sym26: %" PRIu64 " events, %" PRIu64 " bytes", events, peak);
  peak = peak_of("poisson", is_long ? "neurons=1000 rate=1000 duration=200000" : "neurons=1000 rate=1000 duration=5000", &events);
  ok(events > 4900000 && peak < 8 << 20, "poisson: %" PRIu64 " events, %" PRIu64 " bytes", events, peak);
}

static void test_errors(void)
{
  static const struct {
    const char *kind, *options, *says;
  } errors[] = {
      {"sym26", "neurons=0", "--neurons 0: must lie in 1 … 1000000"},
      {"sym26", "neurons=1000001", "must lie in"},
      {"sym26", "neurons=2.5", "--neurons 2.5: "},
      {"sym26", "neurons=10", "--chains 4, 7: the chains need 11 units, and there are 10 (--neurons)"},
      {"sym26", "chains=27", "the chains need 27 units"},
      {"sym26", "chains=1", "--chains 1: expected the length of a chain, 2 to 100, or none"},
      {"sym26", "chains=4,,7", "--chains : expected the length"},
      {"sym26", "chains=4,none", "--chains none: expected the length"},
      {"sym26", "chains=101 neurons=200", "2 to 100"},
      {"sym26", "chains=4;7", "expected the length"},
      {"sym26", "chains=", "there is no value"},
      {"sym26", "rate=-1", "--rate -1: must lie in 0 … 1000000 Hz"},
      {"sym26", "rate=nan", "--rate nan"},
      {"sym26", "rate=20_Hz", "without its unit"},
      {"sym26", "rate=4606",
       "--rate 4606: expected less than the highest rate, 4605.170185988091 Hz with steps of 1 ms (--dt, --certainty)"},
      {"sym26", "probability=1.1", "--probability 1.1: must lie in 0 … 1"},
      {"sym26", "probability=1", "--probability 1: expected at most 0.98741"},
      {"sym26", "probability=0.99", "--certainty raises"},
      {"sym26", "certainty=1", "--certainty 1: must lie in"},
      {"sym26", "certainty=0", "--certainty 0: must lie in"},
      {"sym26", "dt=0", "--dt 0: expected ms, from 0.001 to 1000"},
      {"sym26", "tick=2", "--dt 1: expected ms, from 2 to 1000"},
      {"sym26", "tick=0.3", "--dt 1: expected a whole number of ticks, which are 0.3 ms long (--tick)"},
      {"sym26", "tick=0", "--tick 0: expected ms, from 0.000000001 to 1000"},
      {"sym26", "tick=1e-10", "--tick 1e-10: a time in ms has at most nine decimals"},
      {"sym26", "delay=0", "--delay 0: expected ms, from 1 to 100000"},
      {"sym26", "delay=5.5", "--delay 5.5: expected a whole number of steps of 1 ms (--dt)"},
      {"sym26", "delay=5ms", "--delay 5ms: "},
      {"sym26", "duration=1.5", "--duration 1.5: expected a whole number of steps of 1 ms (--dt)"},
      {"sym26", "duration=-1", "--duration -1: expected ms, from 0 to 4000000000"},
      {"sym26", "duration=5e9", "from 0 to 4000000000"},
      {"sym26", "refractory=0.0005", "--refractory 0.0005: expected a whole number of ticks"},
      {"sym26", "seed=-1", "--seed -1: must be"},
      {"sym26", "seed=x", "--seed x"},
      {"poisson", "rate=-1", "--rate -1: expected 0 Hz or more"},
      {"poisson", "rate=5,,6", "--rate "},
      {"poisson", "rate=5,x", "--rate x: "},
      {"poisson", "rate=1000001", "--rate 1000001: expected at most one event a tick of 0.001 ms"},
      {"poisson", "rate=200 refractory=5", "--rate 200: intervals of 5 ms on average must be longer than the refractory period"},
      {"poisson", "tick=0.007", "--duration 60000: expected a whole number"},
      {"poisson", "refractory=0.0001", "--refractory 0.0001: expected a whole number"},
      {"bursts", "length=0", "--length 0: expected ms, from 0.001 to 100000"},
      {"bursts", "length=0.0005", "--length 0.0005: expected ms"},
      {"bursts", "length=0.0015", "--length 0.0015: expected a whole number of ticks"},
      {"bursts", "bursts=5", "--bursts 5: intervals of 200 ms on average must be longer than a burst (--length)"},
      {"bursts", "own=6", "--own 6: intervals of"},
      {"bursts", "own=-1", "--own -1: must lie in"},
      {"bursts", "share=1.1", "--share 1.1: must lie in 0 … 1"},
      {"bursts", "inside=2000 tick=1", "--inside 2000: expected at most one event a tick of 1 ms"},
      {"bursts", "rate=2000 tick=1", "--rate 2000: expected at most one event"},
      {"drift", "rate=-1", "--rate -1: expected 0 to 1000000 Hz"},
      {"drift", "rate=5,x", "--rate x: "},
      {"drift", "depth=1.5", "--depth 1.5: expected 0 to 1"},
      {"drift", "depth=0.5,-0.1", "--depth -0.1: expected 0 to 1"},
      {"drift", "period=0", "--period 0: expected ms above 0, a whole number of ticks of 0.001 ms"},
      {"drift", "period=1.0005", "--period 1.0005: expected ms above 0"},
      {"drift", "period=5e9", "at most 4000000000"},
      {"drift", "period=1s", "--period 1s: "},
      {"drift", "rate=10,600 depth=0.5,0.9 tick=1", "--rate 600 with --depth 0.9: expected at most one event a tick of 1 ms"},
      {"planted", "episodes=A", "--episodes A: an episode has two nodes or more"},
      {"planted", "episodes=A-5->", "--episodes A-5->: `` is no unit: there are A to Z"},
      {"planted", "episodes=A-5->B,", "--episodes : `` is no unit"},
      {"planted", "episodes=A-5->AB", "`AB` is no unit: there are A to Z (--neurons)"},
      {"planted", "episodes=A-5->D neurons=3", "`D` is no unit: there are A to C"},
      {"planted", "episodes=A-5->B neurons=30", "`A` is no unit: there are 1 to 30"},
      {"planted", "episodes=1-5->31 neurons=30", "`31` is no unit"},
      {"planted", "episodes=A_5_B", "expected -LAG-> at `5 B`"},
      {"planted", "episodes=A-5-B", "expected -LAG-> at `-5-B`"},
      {"planted", "episodes=A->B", "the lag ``: "},
      {"planted", "episodes=A-x->B", "the lag `x`: "},
      {"planted", "episodes=A-0->B", "the lag `0`: expected ms above 0"},
      {"planted", "episodes=A-5.0005->B", "the lag `5.0005`: expected ms above 0, a whole number of ticks of 0.001 ms"},
      {"planted", "episodes=A-2->B jitter=3", "the lag `2` is shorter than the jitter, 3 ms (--jitter)"},
      {"planted", "jitter=-1", "--jitter -1: expected ms"},
      {"planted", "jitter=0.0005", "--jitter 0.0005: expected a whole number of ticks"},
      {"planted", "rate=60", "--rate 60: intervals of 16.666666666666668 ms on average must be longer than an occurrence can last"},
      {"planted", "rate=-1", "--rate -1: expected 0 Hz or more"},
      {"planted", "rate=1,,2", "--rate "},
      {"planted", "miss=2", "--miss 2: must lie in 0 … 1"},
      {"planted", "background=1001 tick=1", "--background 1001: expected at most one event"},
      {"poison", "", "did you mean `poisson`?"},
      {"xyz", "", "there are sym26, poisson"},
  };
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    const struct mill_generator *g;
    struct mill_generated made;
    struct mill_error error = {0};
    void *params;
    int result = read_params(errors[i].kind, errors[i].options, &g, &params, &error);
    if (!result)
      result = g->describe(params, &made, &error);
    ok(result == -1 && error.status == MILL_USAGE && strstr(error.text, errors[i].says), "%s %s: %s", errors[i].kind,
       errors[i].options, error.text);
    if (g)
      mill_generator_free(g, params);
  }
}

/* ---- Files */

/* After the first call nothing more is wanted. */
static int stop_soon(const struct mill_generate_report *report, void *self)
{
  ++*(int *)self;
  return report->done == 0;
}

static int generate(const char *kind, const char *options, const char *path, const char *format,
                    int (*going)(const struct mill_generate_report *report, void *self), void *self,
                    struct mill_generate_report *report, struct mill_error *error)
{
  const struct mill_generator *g;
  void *params;
  if (read_params(kind, options, &g, &params, error))
    bail("%s", error->text);
  int result = mill_generate(g, params, path, format, going, self, report, error);
  mill_generator_free(g, params);
  return result;
}

static const char *value_of(const struct mill_ini *ini, const char *section, const char *key)
{
  struct mill_ini_section *s = mill_ini_section_find(ini, section);
  struct mill_ini_entry *e = s ? mill_ini_entry_find(s, key) : NULL;
  return e ? e->value : NULL;
}

static void check_stream(const char *path, const struct mill_generate_report *report)
{
  struct mill_stream *s;
  struct mill_error error;
  struct mill_ini *config;
  if (mill_stream_read(path, NULL, &s, &error))
    bail("%s", error.text);
  struct made *m = make("sym26", "seed=8 duration=3000");
  ok(s->count == report->events && s->count == m->count && s->end.spike_hash == report->spike_hash && m->hash == report->spike_hash,
     "%s: the events that are made", path);
  ok(s->info.tick_ps == 1000000 && s->info.start == 0 && s->info.stop == 3000000 && s->info.seed == 8 && s->end.complete,
     "its tick, bounds and seed");
  ok(s->info.group_count == 26 && !strcmp(s->info.group[0].name, "A") && !strcmp(s->info.group[25].name, "Z"), "its units, A to Z");
  if (mill_ini_parse(path, s->info.config, strlen(s->info.config), NULL, 0, &config, &error))
    bail("%s", error.text);
  is_str(s->info.version, mill_version(), "its version");
  is_str(value_of(config, "generate", "chains"), "4, 7", "its configuration has every parameter");
  mill_ini_free(config);
  made_free(m);
  mill_stream_free(s);
}

static void test_files(void)
{
  static const char *const sections[] = {"generate", "stream", "chain.1", "chain.2"};
  struct mill_generate_report report;
  struct mill_error error = {0};
  struct mill_ini *truth;
  char hash[32], events[32];
  int calls = 0;
  ok(!generate("sym26", "seed=8 duration=3000", in_folder("a.smk"), NULL, NULL, NULL, &report, &error), "a stream and its truth");
  is_int(spikes_files(), 2, "are two files");
  check_stream(in_folder("a.smk"), &report);
  if (mill_ini_read(in_folder("a.smk.truth.ini"), NULL, 0, &truth, &error))
    bail("%s", error.text);
  int same = truth->count == 4;
  for (size_t i = 0; i < 4; i++)
    same &= !strcmp(truth->section[i].name, sections[i]);
  ok(same && report.chains == 2, "the truth has the sections [generate], [stream], [chain.1], [chain.2]");
  snprintf(hash, sizeof hash, "%016" PRIx64, report.spike_hash);
  snprintf(events, sizeof events, "%" PRIu64, report.events);
  is_str(value_of(truth, "stream", "spike_hash"), hash, "the stream's hash");
  is_str(value_of(truth, "stream", "events"), events, "its events");
  is_str(value_of(truth, "stream", "chains"), "2", "the number of chains");
  is_str(value_of(truth, "generate", "seed"), "8", "the seed");
  is_str(value_of(truth, "chain.1", "units"), "A B C D", "the short chain");
  is_str(value_of(truth, "chain.2", "units"), "E F G H I J K", "the long chain");
  is_str(value_of(truth, "chain.2", "delay_ms"), "5", "its delay");
  is_str(value_of(truth, "chain.2", "probability"), "0.8", "its probability");
  is_str(value_of(truth, "chain.2", "interval"), "(4,6] ms", "and where lags lie");
  mill_ini_free(truth);
  ok(!generate("sym26", "seed=8 duration=3000", in_folder("b.dat"), "csv", NULL, NULL, &report, &error), "a format by name");
  check_stream(in_folder("b.dat"), &report);
  spikes_empty();

  /* All that can be planted still fits into an INI file. */
  char options[1024] = "neurons=100000 duration=10 rate=1 chains=";
  for (int i = 0; i < 100; i++)
    strcat(options, i ? ",100" : "100");
  ok(!generate("sym26", options, in_folder("c.smk"), NULL, NULL, NULL, &report, &error), "100 chains of 100 of 10^5 units");
  ok(!mill_ini_read(in_folder("c.smk.truth.ini"), NULL, 0, &truth, &error) && truth->count == 102, "are read back: %s", error.text);
  const char *units = value_of(truth, "chain.100", "units");
  ok(units && !strncmp(units, "9901 9902 ", 10) && !strcmp(units + strlen(units) - 6, " 10000"), "the last of them, by number");
  mill_ini_free(truth);
  spikes_empty();
  ok(!generate("poisson", "duration=1000", in_folder("d.csv"), NULL, NULL, NULL, &report, &error) &&
         !mill_ini_read(in_folder("d.csv.truth.ini"), NULL, 0, &truth, &error),
     "poisson has a truth");
  is_str(value_of(truth, "stream", "chains"), "0", "that nothing is planted");
  ok(!generate("planted", "duration=1000 episodes=A-5->B-5->C,C-3->D-4->E jitter=2 miss=0.1", in_folder("p.csv"), NULL, NULL, NULL,
               &report, &error) &&
         report.chains == 2,
     "planted episodes");
  is_int(spikes_files(), 5, "a table is a third file");
  mill_ini_free(truth);
  if (mill_ini_read(in_folder("p.csv.truth.ini"), NULL, 0, &truth, &error))
    bail("%s", error.text);
  is_str(value_of(truth, "chain.1", "units"), "A B C", "units as those of sym26");
  is_str(value_of(truth, "chain.1", "delay_ms"), "5", "a delay");
  is_str(value_of(truth, "chain.1", "interval"), "(3,7] ms", "an interval");
  is_str(value_of(truth, "chain.1", "probability"), "0.9", "a probability");
  is_str(value_of(truth, "chain.2", "delay_ms"), "3 4", "or one for each link");
  is_str(value_of(truth, "chain.2", "interval"), "(1,5] (2,6] ms", "or one for each link");
  mill_ini_free(truth);
  spikes_empty();
  char deep[900] = "duration=10 jitter=0 rate=0 tick=0.000000001 episodes=A";
  for (int i = 1; i < 24; i++)
    snprintf(deep + strlen(deep), sizeof deep - strlen(deep), "-%d.123456789->B", 10000 + i);
  ok(!generate("planted", deep, in_folder("q.csv"), NULL, NULL, NULL, &report, &error) &&
         !mill_ini_read(in_folder("q.csv.truth.ini"), NULL, 0, &truth, &error),
     "the longest lines are read back: %s", error.text);
  mill_ini_free(truth);
  strcat(deep, "-1->C");
  ok(generate("planted", deep, in_folder("r.csv"), NULL, NULL, NULL, &report, &error) && strstr(error.text, "at most 24 nodes"),
     "an episode that is too long: %s", error.text);
  spikes_empty();
  ok(!generate("poisson", "rate=0 neurons=1", in_folder("e.csv"), NULL, NULL, NULL, &report, &error) && report.events == 0,
     "a silent unit");
  spikes_empty();

  ok(generate("sym26", "duration=600000", in_folder("f.smk"), NULL, stop_soon, &calls, &report, &error) &&
         error.status == MILL_INTERRUPTED && calls == 1,
     "interrupted: %s", error.text);
  is_int(spikes_files(), 0, "nothing is left");
  ok(generate("sym26", "chains=5,5", in_folder("f.h5"), NULL, NULL, NULL, &report, &error) && error.status == MILL_USAGE,
     "an unknown extension: %s", error.text);
  ok(generate("sym26", "neurons=3", in_folder("f.smk"), NULL, NULL, NULL, &report, &error) && error.status == MILL_USAGE,
     "parameters that don't agree");
  mkdir(in_folder("f.smk.truth.ini"), 0777);
  ok(generate("sym26", "", in_folder("f.smk"), NULL, NULL, NULL, &report, &error) && strstr(error.text, "f.smk.truth.ini"),
     "a truth that cannot be written: %s", error.text);
  rmdir(in_folder("f.smk.truth.ini"));
  is_int(spikes_files(), 0, "nothing is left of these either");
}

/* Numbers go through text both ways. */
static void test_locale(void)
{
  struct mill_generate_report here, there;
  struct mill_error error;
  const char *const options = "duration=1000.5 dt=0.5 delay=2.5 probability=0.75";
  int result = generate("sym26", options, in_folder("a.csv"), NULL, NULL, NULL, &here, &error);
  if (german_set()) {
    result |= generate("sym26", options, in_folder("b.csv"), NULL, NULL, NULL, &there, &error);
    ok(!result && here.events > 200 && same_file(in_folder("a.csv"), in_folder("b.csv")) &&
           same_file(in_folder("a.csv.truth.ini"), in_folder("b.csv.truth.ini")),
       "a locale with a decimal comma changes nothing");
  } else {
    skip(1, "the locale de_DE.UTF-8 cannot be had");
  }
  german_end();
}

static void test_tables(void)
{
  static const char *const taken[] = {"output", "to", "quiet", "json", "help"};
  struct mill_error error = {0};
  for (size_t k = 0; mill_generators[k]; k++) {
    const struct mill_generator *g = mill_generators[k];
    int clash = 0;
    ok(!mill_param_check_table(g->params, g->param_count, g->params_size, &error), "%s: a sound table: %s", g->name, error.text);
    for (size_t i = 0; i < g->param_count; i++)
      for (size_t j = 0; j < sizeof taken / sizeof *taken; j++)
        clash += !strcmp(g->params[i].key, taken[j]);
    is_int(clash, 0, "%s: no parameter has the name of an option", g->name);
  }
}

int main(void)
{
  plan_later();
  test_memory();
  test_tables();
  test_same();
  test_edges();
  test_errors();
  spikes_begin();
  test_files();
  test_locale();
  spikes_end();
  return done_testing();
}
