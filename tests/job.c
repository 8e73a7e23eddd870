// Mining jobs: the notations of support and intervals, exact to the last event and the last picosecond, and what a job file may hold.
#include <sys/stat.h>

#include "episodes.h"
#include "job.h"
#include "mine.h"
#include "param.h"
#include "spikes.h"
#include "text.h"

static const struct mill_defines none = {0, NULL};

// ---- support ----

#define HOUR_MS UINT64_C(3600000)
#define MS INT64_C(1000000000)

static const struct {
  const char *text;
  uint64_t duration; // ticks
  int64_t tick_ps;
  uint64_t events, count;
} supports[] = {
    {"1", 0, MS, 0, 1},
    {"100", 10, MS, 5, 100},
    {"1e3", 10, MS, 5, 1000},
    {" 7 ", 10, MS, 5, 7},
    {"9223372036854775807", 10, MS, 5, INT64_MAX},
    {"2/s", 20000, MS, 5, 40},
    {"2 /s", 20000, MS, 5, 40},
    {"2/s", 19998, MS, 5, 40},
    {"2/s", 20001, MS, 5, 41},
    {"0.1/s", 30000, MS, 5, 3}, // 0.1 * 30 is above 3 in double
    {"0.1/s", 30001, MS, 5, 4},
    {"0.1/s", 29999, MS, 5, 3},
    {"0.7/s", 10000, MS, 5, 7}, // so is 0.7 * 10
    {"1.1/s", 10000, MS, 5, 11},
    {"0.000000001/s", 1000, MS, 5, 1},
    {"0.000000001/s", UINT64_C(1000000000000), MS, 5, 1},
    {"0.000000001/s", UINT64_C(1000000000001), MS, 5, 2},
    {"1/s", 0, MS, 5, 1},
    {"1/s", 25000, 40000000, 5, 1}, // a tick of 40 µs
    {"1/s", 25001, 40000000, 5, 2},
    {"3/s", 1, 333333333333, 5, 1},
    {"3/s", 1, 333333333334, 5, 2},
    {"9000000000/s", INT64_MAX, 1, 5, UINT64_C(83010348331692983)}, // 9e9 * 9223372.036854775807
    {"1/s", UINT64_MAX, MS, 5, UINT64_C(18446744073709552)},
    {"1%", 1, MS, 18522, 186},
    {"1%", 1, MS, 18500, 185},
    {"100%", 1, MS, 18522, 18522},
    {"0.1%", 1, MS, 3000, 3},
    {"0.7%", 1, MS, 1000, 7},
    {"33.333333333%", 1, MS, 3, 1},
    {"33.333333333%", 1, MS, UINT64_C(4000000000), UINT64_C(1333333334)},
    {"0.000000001%", 1, MS, 10, 1},
    {"50%", 1, MS, 0, 1},
    {"50%", 1, MS, 3, 2},
};

static const struct {
  const char *text, *says;
} bad_supports[] = {
    {"0", "above 0"},
    {"-1", "above 0"},
    {"0/s", "above 0"},
    {"0.0%", "above 0"},
    {"-2/s", "above 0"},
    {"1e400", "expected a count"},
    {"1e-400", "expected a count"},
    {"9223372036854775808", "below 2^63"},
    {"2.5", "whole number"},
    {"1e10/s", "below 9e9"},
    {"0.0000000001/s", "nine decimals"},
    {"5%%", "expected a count"},
    {"%", "no number"},
    {"/s", "no number"},
    {"5 s", "expected a count"},
    {"5/ms", "expected a count"},
    {"5 Hz", "expected a count"},
    {"100.1%", "100%"},
    {"nan", "expected a count"},
    {"0x10", "expected a count"},
    {"$n", "expected a count"},
};

static void test_support(void)
{
  struct mill_support support;
  struct mill_error error;
  uint64_t count;
  for (size_t i = 0; i < sizeof supports / sizeof *supports; i++) {
    error = (struct mill_error){0};
    count = 0;
    if (!mill_support_parse(supports[i].text, &none, &support, &error))
      mill_support_count(&support, supports[i].duration, supports[i].tick_ps, supports[i].events, &count, &error);
    if (!is_int((intmax_t)count, (intmax_t)supports[i].count, "support %s of %ju ticks of %jd ps, %ju events", supports[i].text,
                (uintmax_t)supports[i].duration, (intmax_t)supports[i].tick_ps, (uintmax_t)supports[i].events))
      diag("%s", error.text);
  }
  for (size_t i = 0; i < sizeof bad_supports / sizeof *bad_supports; i++) {
    error = (struct mill_error){0};
    int bad = mill_support_parse(bad_supports[i].text, &none, &support, &error);
    if (!ok(bad && strstr(error.text, strncmp(bad_supports[i].says, "nine", 4) ? bad_supports[i].says : "9 decimals"),
            "support \"%s\" is refused", bad_supports[i].text))
      diag("%d %s", bad, error.text);
  }
  mill_support_parse("9e9/s", &none, &support, &error);
  ok(mill_support_count(&support, UINT64_MAX, INT64_MAX, 1, &count, &error), "a support beyond 64 bits is refused");
}

// ---- intervals ----

static const struct {
  const char *text;
  uint32_t count;
  int64_t bound[6]; // ps
} intervals[] = {
    {"(0,5] ms", 1, {0, 5 * MS}},
    {"(0,5]ms", 1, {0, 5 * MS}},
    {"( 0 , 5 ] ms", 1, {0, 5 * MS}},
    {" (0,5] (5,10] ms ", 2, {0, 5 * MS, 5 * MS, 10 * MS}},
    {"(5,10] (0,5] ms", 2, {0, 5 * MS, 5 * MS, 10 * MS}}, // in order
    {"(0,5],(5,10] ms", 2, {0, 5 * MS, 5 * MS, 10 * MS}},
    {"(0,5] , (5,10] ms", 2, {0, 5 * MS, 5 * MS, 10 * MS}},
    {"(0,5](5,10]ms", 2, {0, 5 * MS, 5 * MS, 10 * MS}},
    {"(4,6] (0,5] (5,10] ms", 3, {0, 5 * MS, 4 * MS, 6 * MS, 5 * MS, 10 * MS}}, // may overlap
    {"(0,1] us (2,3] ns (4,5] ps", 3, {0, 1000000, 4, 5, 2000, 3000}},
    {"(0,1]us (2,3]ns", 2, {0, 1000000, 2000, 3000}},
    {"(0,5000] us", 1, {0, 5 * MS}},
    {"(0,5000] \xc2\xb5s", 1, {0, 5 * MS}},                           // micro sign
    {"(0,5000]\xce\xbcs (5,10] ms", 2, {0, 5 * MS, 5 * MS, 10 * MS}}, // Greek mu
    {"(0,0.1] s", 1, {0, 100 * MS}},
    {"(0.000000000001,1] s", 1, {1, 1000 * MS}},
    {"(0,9223372036854775807] ps", 1, {0, INT64_MAX}},
    {"(1e-9,1e0] ms", 1, {1, MS}},
    {"(max(1,2), 2*3] ms", 1, {2 * MS, 6 * MS}},
};

static const struct {
  const char *text, *says;
} bad_intervals[] = {
    {"", "expected an interval"},
    {"   ", "expected an interval"},
    {"5 ms", "expected an interval"},
    {"(5,0] ms", "below the high"},
    {"(5,5] ms", "below the high"},
    {"(0,5) ms", "expected ]"},
    {"[0,5] ms", "expected ("},
    {"(0,5]", "no unit"},
    {"(0,5] parsecs", "`parsecs` is no unit"},
    {"(0,5] MS", "`MS` is no unit"},
    {"(0,5] \xc2\xb5", "` is no unit of time here; expected ps, ns, us (or \xc2\xb5s), ms or s"},
    {"(0,5] ms (5,10]", "have a unit"},
    {"(0,5] ms (5,10] ms (10,15]", "have a unit"},
    {"(0,5] (5,10] ms (10,15] ms", "have a unit"},
    {"(-1,5] ms", "0 or more"},
    {"(,5] ms", "bound is missing"},
    {"(0,] ms", "bound is missing"},
    {"(0 5] ms", "comma"},
    {"(0,5,6] ms", "]"},
    {"(0,5", "]"},
    {"(0", "comma"},
    {"(", "comma"},
    {"((0,5] ms", "comma"},
    {"(0,5]] ms", "expected an interval"},
    {"(0,5] ms,", "after the comma"},
    {"(0,5] ms x", "expected an interval"},
    {"(0,5] (0,5] ms", "listed twice"},
    {"(0,1] s (0,1000] ms", "listed twice"},
    {"(0,5x] ms", "5x"},
    {"(0,1e400] ms", "1e400"},
    {"(0,0.1] ps", "whole number of picoseconds"},
    {"(0,9223372036854775808] ps", "whole number of picoseconds"},
    {"(0,1e10] s", "whole number of picoseconds"},
    {"(0,nan] ms", "nan"},
    {"(0,5] ms\x01", "no unit"},
};

static void test_intervals(void)
{
  struct mill_interval *interval;
  struct mill_error error;
  uint32_t count;
  for (size_t i = 0; i < sizeof intervals / sizeof *intervals; i++) {
    error = (struct mill_error){0};
    int good = !mill_intervals_parse(intervals[i].text, &none, &interval, &count, &error) && count == intervals[i].count;
    for (uint32_t k = 0; good && k < count; k++)
      good = interval[k].low == intervals[i].bound[2 * k] && interval[k].high == intervals[i].bound[2 * k + 1];
    if (!ok(good, "intervals \"%s\"", intervals[i].text))
      diag("%s", error.text);
    free(interval);
  }
  for (size_t i = 0; i < sizeof bad_intervals / sizeof *bad_intervals; i++) {
    error = (struct mill_error){0};
    int bad = mill_intervals_parse(bad_intervals[i].text, &none, &interval, &count, &error);
    if (!ok(bad && !interval && strstr(error.text, bad_intervals[i].says), "intervals \"%s\" are refused", bad_intervals[i].text))
      diag("%d %s", bad, error.text);
    free(interval);
  }
}

// Texts made of what such texts are made of: nothing is read that is not sound, and nothing crashes.
static void test_noise(void)
{
  static const char *const piece[] = {
      "(",        ")",   "]",    "[",  ",",  " ", "0", "5",    "10", "2.5", "ms", "us",    "s",         "ps",
      "-",        "1e9", "1e-9", "$n", "/s", "%", "*", "max(", "\t", "e",   ".",  "(0,5]", "(5,10] ms", "9223372036854775807",
      "\xc2\xb5s"};
  uint64_t state = 7;
  uint32_t read = 0, refused = 0, wrong = 0;
  for (int run = 0; run < 100000; run++) {
    char text[400] = "";
    struct mill_interval *interval;
    struct mill_support support;
    struct mill_error error = {0};
    uint32_t count;
    for (uint32_t k = below(&state, 9) + 1; k--;)
      strcat(text, piece[below(&state, sizeof piece / sizeof *piece)]);
    if (mill_intervals_parse(text, &none, &interval, &count, &error)) {
      refused++;
      wrong += interval || count || !error.text[0] || !error.status;
    } else {
      read++;
      wrong += !count;
      for (uint32_t i = 0; i < count; i++)
        wrong += interval[i].low < 0 || interval[i].low >= interval[i].high || (i && interval[i].low < interval[i - 1].low);
    }
    free(interval);
    error = (struct mill_error){0};
    if (mill_support_parse(text, &none, &support, &error)) {
      refused++;
      wrong += !error.text[0] || !error.status;
    } else {
      read++;
      wrong += support.value < 1;
    }
  }
  ok(!wrong && read > 1000 && refused > 1000, "100,000 texts by chance: %u read, %u refused, %u wrong", read, refused, wrong);
}

static void test_ticks(void)
{
  struct mill_interval interval[] = {{0, 5 * MS}, {MS / 2, 6 * MS}};
  struct mill_error error = {0};
  ok(!mill_intervals_to_ticks(interval, 2, MS / 10, &error), "bounds become ticks of 0.1 ms");
  ok(interval[0].low == 0 && interval[0].high == 50 && interval[1].low == 5 && interval[1].high == 60, "the right ones");
  interval[0] = (struct mill_interval){0, 5 * MS};
  interval[1] = (struct mill_interval){MS / 2, 6 * MS};
  ok(mill_intervals_to_ticks(interval, 2, MS, &error), "a bound between ticks is refused");
  ok(strstr(error.text, "bound 0.5 ms") && strstr(error.text, "are 1 ms long") && strstr(error.text, "`tick`"),
     "with the bound, the tick and what to do: %s", error.text);
}

// ---- job files ----

#define GOOD "support = 2/s\nintervals = (0,5] ms\n"

static const struct {
  const char *text; // after "[mining]\n", or the whole when it begins with "!"
  const char *says;
  int status;
} bad_jobs[] = {
    {"intervals = (0,5] ms\n", "j.ini:1: [mining]: `support` is missing", MILL_USAGE},
    {"support = 3\n", "j.ini:1: [mining]: `intervals` is missing", MILL_USAGE},
    {"support = 3\n", "'(0,5] (5,10] ms'", MILL_USAGE},
    {"!" GOOD, "j.ini:1", MILL_USAGE},
    {"![define]\na = 1\n", "no section [mining]", MILL_USAGE},
    {"![simulation]\ndt = 1\n", "is a network", MILL_USAGE},
    {"![mining]\n" GOOD "[define]\na = 1\n[minign]\nx = 1\n", "j.ini:6: [minign]: unknown section; did you mean `mining`?",
     MILL_USAGE},
    {GOOD "suport = 3\n", "j.ini:4: [mining] suport = 3: unknown key `suport`; did you mean `support`?", MILL_USAGE},
    {GOOD "support = 3\n", "j.ini:4", MILL_USAGE},
    {"intervals = (0,5] ms\nsupport = 5%%\n", "j.ini:3: [mining] support = 5%%: ", MILL_USAGE},
    {"support = 1\nintervals = (5,0] ms\n", "j.ini:3: [mining] intervals = (5,0] ms: (5,0]: the low bound", MILL_USAGE},
    {GOOD "max_length = 0\n", "j.ini:4: [mining] max_length = 0: must", MILL_USAGE},
    {GOOD "max_length = 65\n", "j.ini:4: [mining] max_length = 65: must", MILL_USAGE},
    {GOOD "max_length = 2.5\n", "j.ini:4: [mining] max_length = 2.5: ", MILL_USAGE},
    {GOOD "max_candidates = 0\n", "j.ini:4: [mining] max_candidates = 0: must", MILL_USAGE},
    {GOOD "ties = ordre\n", "did you mean `order`?", MILL_USAGE},
    {GOOD "repeats = maybe\n", "j.ini:4: [mining] repeats = maybe: must be yes or no", MILL_USAGE},
    {GOOD "memory = 1X\n", "j.ini:4: [mining] memory = 1X: expected a number of bytes", MILL_USAGE},
    {GOOD "memory = -1\n", "expected a number of bytes", MILL_USAGE},
    {GOOD "threads = 5000\n", "j.ini:4: [mining] threads = 5000: must", MILL_USAGE},
    {GOOD "threads = -1\n", "j.ini:4: [mining] threads = -1: must", MILL_USAGE},
    {GOOD "backend = gpu\n", "j.ini:4: [mining] backend = gpu: must be one of auto | cpu | cuda", MILL_USAGE},
    {GOOD "counter = seriel\n", "j.ini:4: [mining] counter = seriel: ", MILL_USAGE},
    {GOOD "counter = seriel\n", "did you mean `serial`?", MILL_USAGE},
    {GOOD "reduce = close\n", "j.ini:4: [mining] reduce = close: must be one of none | closed | maximal", MILL_USAGE},
    {GOOD "spikes = j.ini\ngraph = g.svg\n",
     "j.ini:5: [mining] graph = g.svg: the name of the file ends in .csv, or in .dot or .gv", MILL_USAGE},
    {GOOD "spikes = j.ini\noccurrences = o.dot\n", "j.ini:5: [mining] occurrences = o.dot: the name of the file ends in .csv",
     MILL_USAGE},
    {GOOD "spikes = j.ini\noccurrences = x/.csv\n", "j.ini:5: [mining] occurrences = x/.csv: the name of the file ends in .csv",
     MILL_USAGE},
    {GOOD, "`spikes` is missing", MILL_USAGE},
    {"support = $n\nintervals = (0,5] ms\n", "j.ini:2: [mining] support = $n: ", MILL_USAGE},
};

static const char *write_job(const char *text)
{
  char whole[2000];
  snprintf(whole, sizeof whole, "%s%s", *text == '!' ? "" : "[mining]\n", text + (*text == '!'));
  put_file(in_folder("j.ini"), whole, strlen(whole));
  return in_folder("j.ini");
}

static void test_bad_jobs(void)
{
  struct mill_job *job = NULL;
  struct mill_error error;
  for (size_t i = 0; i < sizeof bad_jobs / sizeof *bad_jobs; i++) {
    error = (struct mill_error){0};
    int bad = mill_job_read(write_job(bad_jobs[i].text), NULL, 0, &job, &error);
    if (!ok(bad && !job && error.status == bad_jobs[i].status && strstr(error.text, bad_jobs[i].says), "refused: %s",
            bad_jobs[i].says))
      diag("%d, status %d: %s", bad, error.status, error.text);
    mill_job_free(job);
    job = NULL;
  }
}

static void test_good_job(void)
{
  static const char *const sets[] = {"mining.max_length=3", "mining.ties=strict"};
  struct mill_job *job = NULL;
  struct mill_error error = {0};
  char *want, text[2000];
  put_file(in_folder("s.csv"), "type,time_ms\nA,1\n", 17);
  const char *path =
      write_job("![define]\nw = 2.5\n[mining]\nrepeats = yes\nspikes = s.csv\nsupport = $w * 2/s\nintervals = (0, $w] ms\n"
                "memory = 1.5M\ncounter = serial\ngraph = /tmp/g.gv\ntruth = t.ini\nreduce = closed\noccurrences = o.csv\n");
  if (!ok(!mill_job_read(path, sets, 2, &job, &error), "a job with [define] and --set"))
    bail("%s", error.text);
  is_str(job->spikes, in_folder("s.csv"), "spikes lie beside the job");
  ok(job->support.kind == MILL_SUPPORT_RATE && job->support.value == INT64_C(5000000000), "an expression as support");
  ok(job->interval_count == 1 && job->interval[0].high == 2500000000, "an expression as a bound");
  ok(job->repeats == 1 && job->ties == 1 && job->max_length == 3 && job->memory == 1572864 && job->max_candidates == 100000000,
     "every key");
  ok(job->reduce == MILL_REDUCE_CLOSED, "the reduction");
  is_str(job->occurrences, in_folder("o.csv"), "files lie beside the job, too");
  is_str(job->truth, in_folder("t.ini"), "and the truth");
  is_str(job->graph, "/tmp/g.gv", "but not those with a whole path");
  is_str(job->counter.plugin->name, "serial", "the counter");
  want = "[define]\nw = 2.5\n\n[mining]\nspikes = s.csv\ncounter = serial\nsupport = $w * 2/s\nintervals = (0, $w] ms\nmax_length "
         "= 3\n"
         "ties = strict\nrepeats = yes\nmax_candidates = 1e8\nmemory = 1.5M\nbackend = auto\nthreads = 0\nreduce = "
         "closed\noccurrences = o.csv\ngraph = "
         "/tmp/g.gv\ntruth = t.ini\nsignificance = none\n";
  is_str(job->config, want, "its text has every value, in the order of the table");
  mill_job_free(job);
  static const char *const options[] = {"mining.intervals=(0,5] ms", "mining.support=2/s"};
  snprintf(text, sizeof text, "%s", in_folder("s.csv"));
  if (!ok(!mill_job_read(text, options, 2, &job, &error), "a job made of options"))
    bail("%s", error.text);
  is_str(job->spikes, text, "its spikes");
  ok(job->reduce == MILL_REDUCE_NONE && !job->occurrences && !job->graph && !job->truth, "nothing more is asked for");
  ok(job->max_length == 64 && job->ties == 0 && job->repeats == 0 && job->memory == UINT64_C(1) << 30 && job->threads == 0,
     "defaults");
  is_str(job->counter.plugin->name, "latest-start", "default counter");
  mill_job_free(job);
  ok(mill_job_read(text, options, 1, &job, &error) && strstr(error.text, "--support is missing"), "an option is missing: %s",
     error.text);
  static const char *const twice[] = {"mining.intervals=(0,5] ms", "mining.support=2/s", "mining.spikes=x.smk"};
  ok(mill_job_read(text, twice, 3, &job, &error) && strstr(error.text, "given already"), "spikes twice: %s", error.text);
  static const char *const other[] = {"mining.intervals=(0,5] ms", "mining.support=2/s", "mining.suport=1"};
  ok(mill_job_read(text, other, 3, &job, &error) && strstr(error.text, "did you mean `support`?"), "an unknown key: %s",
     error.text);
  static const char *const section[] = {"mining.intervals=(0,5] ms", "mining.support=2/s", "simulation.dt=1"};
  ok(mill_job_read(text, section, 3, &job, &error) && strstr(error.text, "unknown section"), "a section of networks: %s",
     error.text);
  ok(mill_job_read("a\nb.csv", options, 2, &job, &error) && error.status == MILL_USAGE, "a file name with a line end: %s",
     error.text);
  ok(mill_job_read("", options, 2, &job, &error), "no file name: %s", error.text);
}

static void test_table(void)
{
  struct mill_param_table table = mill_job_table();
  struct mill_error error = {0};
  ok(!mill_param_check_table(table.specs, table.count, 4096, &error), "the table of keys is sound %s", error.text);
}

int main(void)
{
  plan_later();
  spikes_begin();
  test_support();
  test_intervals();
  test_noise();
  test_ticks();
  test_bad_jobs();
  test_good_job();
  test_table();
  spikes_end();
  return done_testing();
}
