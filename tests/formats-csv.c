/* The csv format case by case: what it writes, what it reads, with and without being told what a file holds, and every way in which a
   file can be bad. tests/formats-foreign.c has the larger things. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "formats.h"
#include "german.h"
#include "memory.h"

static void test_text(void)
{
  static const struct mill_group two[] = {{"exc", 0, 20}, {"inh b", 20, 5}};
  static const struct mill_event event[] = {{1, 17, 0}, {10, 3, 0}, {12345, 24, 0}};
  struct mill_stream_info info = {.tick_ps = TICK_100US,
                                  .stop = 20000,
                                  .group_count = 2,
                                  .group = two,
                                  .seed = 42,
                                  .version = "0.1",
                                  .config = "[a]\r\nb = 1\r\n\r\nc = 2"};
  struct mill_error error;
  char want[800];
  if (write_stream(in_folder("t.csv"), NULL, &info, event, 3, 0, &error))
    bail("%s", error.text);
  snprintf(want, sizeof want,
           "# spikemill 0.1\n# seed 42\n# tick_ps 100000000\n# start_ms 0\n# stop_ms 2000\n# population exc 20\n"
           "# population \"inh b\" 5\n# config [a]\n# config b = 1\n# config\n# config c = 2\ntime_ms,population,neuron\n"
           "0.1,exc,17\n1,exc,3\n1234.5,\"inh b\",4\n# spikes 3\n# spike_hash %016llx\n# stopped_ms 2000\n# complete no\n",
           (unsigned long long)hash_of_events(&info, event, 3));
  char *got = (char *)get_file(in_folder("t.csv"), NULL);
  is_str(got, want, "the text of a csv file");
  free(got);
  info.config = "[a]\nb = 1\n\nc = 2\n";
  struct mill_stream *s;
  ok(!mill_stream_read(in_folder("t.csv"), NULL, &s, &error) && same_stream(s, &info, event, 3, 0), "and what is read of it");
  mill_stream_free(s);
  spikes_empty();
}

static void test_text_of_recording(void)
{
  static const struct mill_group types[] = {{"10", 0, 1}, {"a b", 1, 1}, {"none", 2, 1}};
  static const struct mill_event event[] = {{-3, 1, 0}, {10, 1, 0}, {10, 0, 0}};
  struct mill_stream_info info = {.tick_ps = 40000000, .group_count = 3, .group = types, .version = "", .config = ""};
  struct mill_error error;
  char want[800];
  for (int tabs = 0; tabs < 2; tabs++) {
    const char *path = in_folder(tabs ? "t.tsv" : "t.csv");
    if (write_stream(path, NULL, &info, event, 3, 1, &error))
      bail("%s", error.text);
    snprintf(want, sizeof want,
             "# spikemill\n# seed 0\n# tick_ps 40000000\n# type 10\n# type \"a b\"\n# type none\ntime_ms,type\n-0.12,\"a b\"\n"
             "0.4,\"a b\"\n0.4,10\n# spikes 3\n# spike_hash %016llx\n# stopped_ms 0\n# complete yes\n",
             (unsigned long long)hash_of_events(&info, event, 3));
    for (char *c = want; tabs && (c = strchr(c, ','));)
      *c = '\t';
    char *got = (char *)get_file(path, NULL);
    is_str(got, want, "the text of a recording%s", tabs ? ", with tabs" : "");
    free(got);
  }
  spikes_empty();
}

/* Files that are fine. names: the groups', between bars; units: of all together; first and last: ticks, in order of time. */
static const struct good {
  const char *what, *columns, *tick, *text;
  int count;
  const char *names;
  int units;
  int64_t tick_ps, first, last;
} good_cases[] = {
#define MS 1000000000
#define S INT64_C(1000000000000)
    {"two columns", 0, 0, "time_ms,neuron\n0.5,3\n1,0\n", 2, "neurons", 4, MS / 10, 5, 10},
    {"seconds, semicolons", 0, 0, "time_s;neuron\n0.000001;3\n4e-05;0\n", 2, "neurons", 4, 1000000, 1, 40},
    {"tabs, another order", 0, 0, "neuron\tpopulation\ttime_ms\n4\tb c\t1.5\n1\ta\t2\n", 2, "b c|a", 7, MS / 10, 15, 20},
    {"CR LF", 0, 0, "time_ms,neuron\r\n1,3\r\n2,0\r\n", 2, "neurons", 4, MS, 1, 2},
    {"CR alone", 0, 0, "time_ms,neuron\r1,3\r2,0\r", 2, "neurons", 4, MS, 1, 2},
    {"no final newline", 0, 0, "time_ms,neuron\n1,3\n2,0", 2, "neurons", 4, MS, 1, 2},
    {"CR at the very end", 0, 0, "time_ms,neuron\r\n1,3\r\n2,0\r", 2, "neurons", 4, MS, 1, 2},
    {"byte-order mark", 0, 0, "\xef\xbb\xbftime_ms,neuron\n1,3\n", 1, "neurons", 4, MS, 1, 1},
    {"comments, blank lines", 0, 0, "# mine\n\n  \ntime_ms,neuron\n\n1,3\n# so\n\t\n2,0\n", 2, "neurons", 4, MS, 1, 2},
    {"quotes and blanks", 0, 0, "\"time_ms\", population, neuron\n \"1\" , \"a \"\"b\"\", c\" ,3\n", 1, "a \"b\", c", 4, MS, 1, 1},
    {"negative, signs, exponents", 0, 0, "time_ms,neuron\n-.5,0\n-0,0\n+1.50,0\n2.E1,0\n30000000000e-9,0\n", 5, "neurons", 1, 1,
     -MS / 2, INT64_C(30) * MS},
    {"zeros below a picosecond", 0, 0, "time_ms,neuron\n0.000000001,0\n0.00000000200000000000,0\n", 2, "neurons", 1, 1, 1, 2},
    {"zero, finer than a picosecond", 0, 0, "time_ms,neuron\n0.000000000000,0\n-0e-99999,0\n", 2, "neurons", 1, 1, 0, 0},
    {"largest time", 0, 0, "time_ms,neuron\n0,0\n9223372036.854775807,0\n", 2, "neurons", 1, 1, 0, INT64_MAX},
    {"smallest time", 0, 0, "time_ms,neuron\n0,0\n-9223372036.854775808,0\n", 2, "neurons", 1, 1, INT64_MIN, 0},
    {"a time of 2^63 - 1 s", 0, 0, "time_s,type\n9223372036854775807,a\n", 1, "a", 1, S, INT64_MAX, INT64_MAX},
    {"largest neuron", 0, 0, "time_ms,neuron\n0,4294967294\n", 1, "neurons", -1, MS, 0, 0},
    {"no spikes", 0, 0, "time_ms,neuron\n", 0, "neurons", 0, MS, 0, 0},
    {"no spikes, no populations", 0, 0, "time_ms,population,neuron\n", 0, "", 0, MS, 0, 0},
    {"no spikes, no types", 0, 0, "type\ttime_s", 0, "", 0, S, 0, 0},
    {"ours without what may lack", 0, 0, "# spikemill\n# population a 4\ntime_ms,neuron\n1,3\n# spikes 1\n# complete yes\n", 1, "a",
     4, 1, MS, MS},
    {"ours with a tick", 0, 0,
     "# spikemill x\n# tick_ps 500\n# population a 4\ntime_s,population,neuron\n1e-9,a,3\n# spikes 1\n# complete no\n", 1, "a", 4,
     500, 2, 2},
    {"ours with the tick that is asked for", "time_s,population,neuron", "0.5 ns",
     "# spikemill x\n# tick_ps 500\n# population a 4\ntime_s,population,neuron\n1e-9,a,3\n# spikes 1\n# complete no\n", 1, "a", 4,
     500, 2, 2},
    {"ours without a tick, and one is asked for", 0, "1 us",
     "# spikemill x\n# start_ms 0\n# stop_ms 2\n# type a\ntime_ms,type\n1.5,a\n# spikes 1\n# complete yes\n", 1, "a", 1, 1000000,
     1500, 1500},
    {"ours, types", 0, 0,
     "# spikemill\n# tick_ps 1000\n# type b\n# type 10\n# type \"a b\"\n# type 9\ntype;time_ms\n9;0\nb;1\n# spikes 2\n# complete "
     "yes\n",
     2, "b|10|a b|9", 4, 1000, 0, 1000000},

    {"types in natural order", 0, 0, "type,time_ms\nb,1\n10,2\na,3\n9,4\n09,5\nA,6\n100,7\n0,8\n-1,9\n1e1,10\n", 10,
     "0|9|10|100|-1|09|1e1|A|a|b", 10, MS, 1, 10},
    {"numbers beyond 64 bits", 0, 0,
     "channel,time_ms\n99999999999999999999999,1\n100000000000000000000000,1\n2,1\n99999999999999999999998,1\n", 4,
     "2|99999999999999999999998|99999999999999999999999|100000000000000000000000", 4, MS, 1, 1},
    {"UTF-8 and quoted names", 0, 0, "type,time_ms\n\"a,b\",1\n\"say \"\"so\"\"\",2\n神経,3\n\" \",4\nx y ,5\n'q',6\n", 6,
     " |'q'|a,b|say \"so\"|x y|神経", 6, MS, 1, 6},
    {"a quoted name is the same without quotes", 0, 0, "type,time_ms\n\"a\",1\na,2\n", 2, "a", 1, MS, 1, 2},
    {"channels between blanks, all kinds", 0, 0, "  Channel  Time_s \n 12   0.5  \n\t\"1 2\" \t1.25 \t\n", 2, "12|1 2", 2, S / 100,
     50, 125},
    {"tenths of a ms", 0, 0, "Unit,Time (ms)\nu1,401.3\nu1,401.75\n", 2, "u1", 1, MS / 100, 40130, 40175},
    {"100 us from seconds", 0, 0, "type,time_s\nA,401.387\nA,401.7055\n", 2, "A", 1, MS / 10, 4013870, 4017055},
    {"whole ms", 0, 0, "type,time_ms\nA,0\nB,3\n", 2, "A|B", 2, MS, 0, 3},
    {"whole seconds, tens as exponents", 0, 0, "type,time_s\nA,1e1\nB,2E+1\n", 2, "A|B", 2, S, 10, 20},
    {"decimals as they are written", 0, 0, "type,time_s\nA,1.000\nB,2.00\n", 2, "A|B", 2, MS, 1000, 2000},
    {"us", 0, 0, "type,timestamps_us\nA,1.5\n", 1, "A", 1, 100000, 15, 15},
    {"ns", 0, 0, "timestamp [ns],node_ids\n1,0\n", 1, "0", 1, 1000, 1, 1},
    {"ps", 0, 0, "t_ps;label\n-7;x\n", 1, "x", 1, 1, -7, -7},
    {"micro sign", 0, 0, "TIME (\xc2\xb5s)\tID\n1\tx\n", 1, "x", 1, 1000000, 1, 1},
    {"Greek mu", 0, 0, "spike times [\xce\xbcs]\tsender\n1\tx\n", 1, "x", 1, 1000000, 1, 1},
    {"spike_time", 0, 0, "Spike-Time_MS,Electrode\n1,x\n", 1, "x", 1, MS, 1, 1},
    {"times of events", 0, 0, "event,times_ms\n1,1\n", 1, "1", 1, MS, 1, 1},
    {"unit_id", 0, 0, "times (s),unit id\n1,x\n", 1, "x", 1, S, 1, 1},
    {"node_id", 0, 0, "t [ms] , node_id\n1,x\n", 1, "x", 1, MS, 1, 1},

    {"columns: no header", "type,time_ms", 0, "L,0\r\nO,7\r\n", 2, "L|O", 2, MS, 0, 7},
    {"columns: a comma and a blank", "time_ms,type", 0, "12, A\n13, 5\n", 2, "5|A", 2, MS, 12, 13},
    {"columns: a tab in quotes", "type,time_ms", 0, "\"a\tb\",1\n", 1, "a\tb", 1, MS, 1, 1},
    {"columns: semicolons and commas in quotes", "type,time_ms", 0, "\"a;b,c\" 1\n\";\" 2\n", 2, ";|a;b,c", 2, MS, 1, 2},
    {"columns: one is skipped", "type,-,time_s", 0, "a;x;1.5\nb;y;2.5\n", 2, "a|b", 2, S / 10, 15, 25},
    {"columns: a header is skipped", "type,time_s", 0, "Channel,Time\nw1,1\n", 1, "w1", 1, S, 1, 1},
    {"columns: a header of unknown names", "time_ms,-,type", 0, "when what who\n1 2 3\n", 1, "3", 1, MS, 1, 1},
    {"columns: a header that agrees", "type,time_ms", 0, "unit,Time (ms)\nx,1\n", 1, "x", 1, MS, 1, 1},
    {"columns: another of two types", "-,type,time_s", 0, "channel,unit,time_s\n1,b,3\n", 1, "b", 1, S, 3, 3},
    {"columns: an id that is an index", "neuron,time_ms", 0, "id,time_ms\n5,3\n", 1, "neurons", 6, MS, 3, 3},
    {"columns: a skipped time", "type,-,time_ms", 0, "type,time_s,time_ms\nx,1,3\n", 1, "x", 1, MS, 3, 3},
    {"columns: population and neuron", "neuron,population,time_ms", 0, "1 exc 3\n0 inh 4\n", 2, "exc|inh", 3, MS, 3, 4},
    {"columns: with the names of others", " Channel , Time [us]", 0, "1,2\n", 1, "1", 1, 1000000, 2, 2},
    {"columns: header only", "type,time_ms", 0, "a,b\n", 0, "", 0, MS, 0, 0},
    {"columns: a name that is no number in a later column", "time_ms,type", 0, "1,time\n", 1, "time", 1, MS, 1, 1},

    {"tick: finer than the file", 0, "0.1 ms", "type,time_ms\nA,1\nB,2\n", 2, "A|B", 2, MS / 10, 10, 20},
    {"tick: noise of floating point", 0, "1 us", "type,time_s\nA,21.440700000000003\nB,21.440799999999997\nC,-0.0000030000000004\n",
     3, "A|B|C", 3, 1000000, -3, 21440800},
    {"tick: many digits", 0, "1 us", "type,time_s\nA,0.1000000000000000055511151231257827021181583404541015625\n", 1, "A", 1,
     1000000, 100000, 100000},
    {"tick: a hundredth beside", 0, "100 ps", "type,time_ps\nA,101\nA,99\nA,201.0\n", 3, "A", 1, 100, 1, 2},
    {"tick: a hundredth beside, on the sides of 0", 0, "100 ps", "type,time_ps\nA,1\nA,-1\n", 2, "A", 1, 100, 0, 0},
    {"tick: a hundredth of a picosecond", 0, "1 ps", "type,time_ps\nA,1.01\nA,2.990\n", 2, "A", 1, 1, 1, 3},
    {"tick: 40us", 0, "40us", "type,time_s\nA,0.06012\n", 1, "A", 1, 40000000, 1503, 1503},
    {"tick: no power of ten", 0, "0.3 ms", "type,time_ms\nA,0.9\n", 1, "A", 1, 300000000, 3, 3},
    {"tick: makes a large time fit", 0, "1 ms", "type,time_s\nA,1e12\nA,1.001\n", 2, "A", 1, MS, 1001, INT64_C(1000000000000000)},
};

/* Files that are bad: what the message must say. */
#define OURS "# spikemill 1\n# tick_ps 1000000\n# population exc 10\n# population inh 2\n"
#define HEAD OURS "time_ms,population,neuron\n"
static const struct bad {
  const char *what, *columns, *tick, *text, *says;
} bad_cases[] = {
    {"empty", 0, 0, "", "the file is empty"},
    {"a byte-order mark alone", 0, 0, "\xef\xbb\xbf", "the file is empty"},
    {"blank lines and comments", 0, 0, "\n# so\n\n", "x.csv:3: the file ends without a line that names the columns"},
    {"blank lines and comments, with columns", "type,time_ms", 0, "\n# so\n", "x.csv:2: the file ends without an event"},
    {"no header", 0, 0, "L,0\nO,7\n",
     "x.csv:1: no line names the columns; say what they hold with --columns, such as --columns type,time_ms (the"},
    {"no header, seconds", 0, 0, "# a\n0.06012 56\n",
     "x.csv:2: no line names the columns; say what they hold with --columns, such as --columns time_s,type (the"},
    {"no header, three columns", 0, 0, "12\tx\t0.5\n", "such as --columns type,-,time_s (the"},
    {"no header, a type that is a known name", 0, 0, "t,5\n",
     "no line names the columns; say what they hold with --columns, such as --columns type,time_ms (the"},
    {"a time without a unit", 0, 0, "Channel,Time\nw1,1\n",
     "x.csv:1: the column \"Time\" names no unit; say it with --columns type,time_s (or time_ms, time_us,"},
    {"a unit that is none", 0, 0, "Time [samples],Channel,x\n",
     "the column \"Time [samples]\" names no unit; say it with --columns time_s,type,- (or time_ms"},
    {"times without a unit", 0, 0, "spike_times;population;neuron\n", "--columns time_s,population,neuron (or"},
    {"unknown column", 0, 0, "time_ms,channel,amplitude\n",
     "x.csv:1: the column \"amplitude\" is unknown; say what is to be read with --columns, such as --columns time_ms,type,-"},
    {"unknown type", 0, 0, "cluster,time_us\n",
     "the column \"cluster\" is unknown; say what is to be read with --columns, such as --columns type,time_us"},
    {"two unknown columns", 0, 0, "cluster;stamp\n",
     "the columns \"cluster\", \"stamp\" are unknown; say what they hold with --columns, such as --columns type,time_s"},
    {"one column per unit", 0, 0, "ch_12a\tch_14a\tch_16a\r1.5\t2.5\t\r",
     "3 names, \"ch_12a\", \"ch_14a\" and so on, and none of a time. This looks like one column per unit"},
    {"one column per unit, line ends lost", 0, 0, "a,b,c,1,2,3,4\n",
     "3 names, \"a\", \"b\" and so on, none of them of a time, and numbers on the same line"},
    {"three texts and a time", 0, 0, "a,b,c,1.5\n",
     "no line names the columns; say what they hold with --columns, such as --columns type,-,-,time_s"},
    {"four unknown columns, one of them empty", 0, 0, "a,,c,d\n", "the columns \"a\", \"\" are unknown"},
    {"no time", 0, 0, "population,neuron\n", "no column holds the time; expected time_s, time_ms"},
    {"no type", 0, 0, "population,time_ms\n", "no column tells the events apart; expected type, channel"},
    {"one column", 0, 0, "time_ms\n1\n", "x.csv:1: one column only, \"time_ms\""},
    {"quotes and nothing", 0, 0, "\"\"\n1\n", "one column only, \"\""},
    {"two times", 0, 0, "time_ms,time_s,neuron\n",
     "the columns \"time_ms\" and \"time_s\" say the same thing twice; choose with --columns, such as --columns time_ms,-,neuron"},
    {"two types", 0, 0, "channel,unit,time_ms\n",
     "the columns \"channel\" and \"unit\" say the same thing twice; choose with --columns, such as --columns type,-,time_ms"},
    {"a type and a neuron", 0, 0, "neuron,type,time_ms\n",
     "the columns \"neuron\" and \"type\" say the same thing twice; choose with --columns, such as --columns -,type,time_ms"},
    {"a type and a population", 0, 0, "type,population,time_ms\n", "the columns \"type\" and \"population\" say the same"},
    {"header with quotes that do not match", 0, 0, "\"type,time_ms\n", "x.csv:1: quotes that do not match"},
    {"a second header", 0, 0, "type,time_ms\nA,1\ntype,time_ms\n", "x.csv:3: time_ms is \"time_ms\"; expected a decimal"},
    {"decimal comma", 0, 0, "time_ms;neuron\n0,5;0\n",
     "x.csv:2: time_ms is \"0,5\", with a decimal comma; a comma separates columns in other files"},
    {"decimal comma without a header", "time_s,type", 0, "1,5;A\n", "x.csv:1: time_s is \"1,5\", with a decimal comma"},
    {"decimal comma between blanks", "time_s,channel", 0, "0,06012 56\n", "x.csv:1: time_s is \"0,06012\", with a decimal comma"},
    {"decimal comma between blanks, later", "time_s,channel", 0, "0 56\n0,06012 56\n",
     "x.csv:2: time_s is \"0,06012\", with a decimal comma"},
    {"decimal commas with tabs", "channel,time_s", 0, "56\t-0,06E1\n", "with a decimal comma"},
    {"empty time", 0, 0, "time_ms,neuron\n,0\n", "x.csv:2: time_ms is \"\"; expected a decimal"},
    {"empty time, with columns", "time_ms,type", 0, ",a\n", "x.csv:1: time_ms is \"\""},
    {"nan at the start, with columns", "type,time_ms", 0, "a,NaN\nb,1\n", "x.csv:1: time_ms is \"NaN\"; expected a decimal"},
    {"infinite at the start, with columns", "type,time_ms", 0, "a,-inf\nb,1\n", "x.csv:1: time_ms is \"-inf\""},
    {"missing at the start, with columns", "type,time_ms", 0, "a,N/A\nb,1\n", "x.csv:1: time_ms is \"N/A\""},
    {"junk after a number at the start, with columns", "type,time_ms", 0, "a,1x\n", "x.csv:1: time_ms is \"1x\""},
    {"junk after a number", 0, 0, "type,time_ms\na,1\na,2 ms\n", "x.csv:3: time_ms is \"2 ms\""},
    {"empty type", 0, 0, "type,time_ms\n,1\n", "x.csv:2: the name of the type is empty"},
    {"empty type in quotes", 0, 0, "type,time_ms\n\"\",1\n", "x.csv:2: the name of the type is empty"},
    {"half a picosecond", 0, 0, "time_ms,neuron\n0.0000000005,0\n",
     "x.csv:2: time_ms is \"0.0000000005\", finer than a picosecond"},
    {"float noise", 0, 0, "time_s,neuron\n1,0\n0.30000000000000004,0\n",
     "x.csv:3: time_s is \"0.30000000000000004\", finer than a picosecond; if its last digits are noise, --tick 1us"},
    {"too late", 0, 0, "time_ms,neuron\n1,0\n9223372036.854775808,0\n0.5,0\n", "x.csv:3: the time is too large in ticks of 1 ps"},
    {"too early", 0, 0, "time_ms,neuron\n-9223372036.854775809,0\n",
     "x.csv:2: the time is too large in ticks of 1 ps, the finest decimal in the file; --tick"},
    {"too late for the tick that is asked for", 0, "1 ps", "type,time_s\nA,9223373\n",
     "x.csv:2: time_s is \"9223373\", which is too large in ticks of 1 ps"},
    {"too few columns", 0, 0, "time_ms,neuron\n1\n", "x.csv:2: 1 column; expected 2 between commas"},
    {"too few, with columns", "type,time_ms,-", 0, "a b\n",
     "x.csv:1: 2 columns; expected 3 between blanks, as --columns says, where -"},
    {"too many columns", 0, 0, "time_ms;neuron\n1;2;3\n", "x.csv:2: 3 columns; expected 2 between semicolons"},
    {"too many, with columns", "type,time_ms", 0, "a\tb\tc\n", "x.csv:1: 3 columns; expected 2 between tabs"},
    {"another delimiter", 0, 0, "time_ms\ttype\n1,a\n", "x.csv:2: 1 column; expected 2 between tabs"},
    {"no whole tick", 0, 0, HEAD "0.0015,exc,0\n", "x.csv:6: time_ms is \"0.0015\", which is no whole number of ticks of 1 us"},
    {"event after the end", 0, 0, HEAD "# spikes 0\n1,exc,0\n# complete yes\n", "x.csv:7: an event after"},
    {"unknown comment", 0, 0, OURS "# sead 1\n", "x.csv:5: the comment \"sead 1\" is unknown; expected seed"},
    {"a comment that begins like one", 0, 0, OURS "# see 1\n", "x.csv:5: the comment \"see 1\" is unknown"},
    {"population without size", 0, 0, OURS "# population x\n", "a name and a size"},
    {"type with a size", 0, 0, "# spikemill\n# type x 3\n", "x.csv:2: \"# type\" needs a name alone"},
    {"type twice", 0, 0, "# spikemill\n# type x\n# type \"x\"\n", "x.csv:3: a second type \"x\""},
    {"types and populations", 0, 0, OURS "# type x\n", "x.csv:5: \"# type\" beside \"# population\""},
    {"populations and types", 0, 0, "# spikemill\n# type x\n# population x 1\n", "x.csv:3: \"# population\" beside \"# type\""},
    {"unknown type of ours", 0, 0, "# spikemill\n# type x\n# type y\ntime_ms,type\n1,z\n",
     "x.csv:5: the type \"z\" is unknown; expected one of x, y"},
    {"types of ours that are not named", 0, 0, "# spikemill\ntime_ms,type\n1,z\n",
     "x.csv:3: the type \"z\" is unknown; expected one of none"},
    {"types, and a line of populations", 0, 0, "# spikemill\n# type x\ntime_ms,population,neuron\n",
     "x.csv:3: the comments tell of types, and this line does not"},
    {"populations, and a line of types", 0, 0, OURS "time_ms,type\n", "x.csv:5: the comments tell of populations"},
    {"ours, columns that are not its own", "type,time_ms", 0, "# spikemill\n# type x\ntime_ms,type\n",
     "x.csv:3: the file is spikemill's own and names its columns here"},
    {"ours, another unit", "time_s,type", 0, "# spikemill\n# type x\ntime_ms,type\n", "x.csv:3: the file is spikemill's own"},
    {"ours, another tick", 0, "1 ms", OURS, "x.csv:2: the file has a tick of 1000000 ps, and --tick asks for 1 ms"},
    {"ours, beside the tick that is asked for", 0, "1 us", "# spikemill\n# type x\ntime_ms,type\n1.000001,x\n",
     "x.csv:4: time_ms is \"1.000001\", which is no whole number of ticks of 1 us"},

    {"columns: another unit than the header's", "type,time_ms", 0, "type,time_s\nA,1\n",
     "x.csv:1: the header calls column 2 \"time_s\", and --columns calls it time_ms"},
    {"columns: another place of the time", "time_ms,type", 0, "type,time_ms\nA,1\n",
     "x.csv:1: the header calls column 1 \"type\", and --columns calls it time_ms"},
    {"columns: the time is a type", "time_ms,-,type", 0, "when,what,Time\n",
     "x.csv:1: the header calls column 3 \"Time\", and --columns calls it type"},
    {"columns: population and neuron exchanged", "time_ms,neuron,population", 0, "time_ms,population,neuron\n",
     "x.csv:1: the header calls column 2 \"population\", and --columns calls it neuron"},
    {"columns: a neuron called population", "time_ms,population,neuron", 0, "time_ms,neuron,population\n",
     "column 2 \"neuron\", and --columns calls it population"},
    {"columns: neuron and population exchanged", "time_ms,-,neuron,population", 0, "time_ms,x,population,neuron\n",
     "column 3 \"population\", and --columns calls it neuron"},
    {"tick: between two", 0, "1 ms", "type,time_ms\nA,1\nA,1.5\n",
     "x.csv:3: time_ms is \"1.5\", more than a hundredth of a tick beside the grid of 1 ms that --tick asks for"},
    {"tick: more than a hundredth after", 0, "100 ps", "type,time_ps\nA,101.0000001\n",
     "x.csv:2: time_ps is \"101.0000001\", more than a hundredth"},
    {"tick: more than a hundredth before", 0, "100 ps", "type,time_ps\nA,98.99\n", "more than a hundredth"},
    {"tick: a tenth of a picosecond", 0, "1 ps", "type,time_ps\nA,1.1\n", "more than a hundredth"},
    {"tick: 1 ps holds no hundredth and a bit", 0, "1 ps", "type,time_ps\nA,1.011\n", "more than a hundredth"},
    {"nan", 0, 0, "time_ms,neuron\n1,0\nnan,0\n", "x.csv:3: time_ms is \"nan\"; expected a decimal"},
    {"infinite", 0, 0, "time_ms,neuron\ninf,0\n", "\"inf\""},
    {"hexadecimal", 0, 0, "time_ms,neuron\n0x10,0\n", "\"0x10\""},
    {"no digits", 0, 0, "time_ms,neuron\n.,0\n", "\".\""},
    {"no exponent", 0, 0, "time_ms,neuron\n1e,0\n", "\"1e\""},
    {"huge exponent", 0, 0, "time_ms,neuron\n1e99999999999,0\n", "too large"},
    {"two points", 0, 0, "time_ms,neuron\n1.2.3,0\n", "\"1.2.3\""},
    {"much too late", 0, 0, "time_ms,neuron\n1e80,0\n", "too large"},
    {"too many digits", 0, 0, "time_ms,neuron\n1234567890123456789012345678901234567890123,0\n", "too large"},
    {"negative neuron", 0, 0, "time_ms,neuron\n1,-1\n", "the neuron is \"-1\""},
    {"fractional neuron", 0, 0, "time_ms,neuron\n1,1.0\n", "\"1.0\""},
    {"huge neuron", 0, 0, "time_ms,neuron\n1,4294967295\n", "4294967294"},
    {"neuron beyond 64 bits", 0, 0, "time_ms,neuron\n1,18446744073709551616\n", "whole number"},
    {"empty population", 0, 0, "time_ms,population,neuron\n1,,0\n", "empty"},
    {"open quotes", 0, 0, "time_ms,population,neuron\n1,\"a,0\n", "quotes"},
    {"text after quotes", 0, 0, "time_ms,population,neuron\n1,\"a\"b,0\n", "quotes"},
    {"bell", 0, 0, "time_ms,population,neuron\n1,a\ab,0\n", "byte 4 of the line is 0x07"},
    {"Latin-1", 0, 0, "time_ms,population,neuron\n1,gr\xf6\xdf,0\n", "0xf6"},
    {"cut UTF-8", 0, 0, "time_ms,population,neuron\n1,0,\xe7\xa5\n", "0xe7"},
    {"surrogate", 0, 0, "time_ms,population,neuron\n1,0,\xed\xa0\x80\n", "0xed"},
    {"long form", 0, 0, "time_ms,population,neuron\n1,0,\xc0\xaf\n", "0xc0"},
    {"too many neurons", 0, 0, "time_ms,population,neuron\n1,a,4294967294\n1,b,0\n1,c,1\n", "4294967295 neurons"},
    {"cut short", 0, 0, HEAD "1,exc,0\n", "cut short"},
    {"end without complete", 0, 0, HEAD "1,exc,0\n# spikes 1\n", "cut short"},
    {"count too low", 0, 0, HEAD "1,exc,0\n2,exc,0\n# spikes 1\n# complete yes\n", "says 1, and there are 2"},
    {"count too high", 0, 0, HEAD "1,exc,0\n# spikes 2\n# complete yes\n", "says 2, and there are 1"},
    {"wrong hash", 0, 0, HEAD "1,exc,0\n# spikes 1\n# spike_hash 0123456789abcdef\n# complete yes\n",
     "recorded was 0123456789abcdef"},
    {"hash too short", 0, 0, HEAD "# spikes 0\n# spike_hash 123\n", "16 hexadecimal"},
    {"hash in capitals", 0, 0, HEAD "# spikes 0\n# spike_hash 0123456789ABCDEF\n", "16 hexadecimal"},
    {"complete maybe", 0, 0, HEAD "# spikes 0\n# complete maybe\n", "\"maybe\""},
    {"unknown population", 0, 0, HEAD "1,ecx,0\n", "\"ecx\" is unknown; expected one of exc, inh"},
    {"neuron out of range", 0, 0, HEAD "1,inh,2\n", "the neuron 2 does not exist; \"inh\" has 2"},
    {"comment of nothing", 0, 0, OURS "#\n", "unknown"},
    {"end at the start", 0, 0, OURS "# spikes 1\n", "before the spikes"},
    {"seed at the end", 0, 0, HEAD "# seed 1\n", "after the spikes"},
    {"two seeds", 0, 0, OURS "# seed 1\n# seed 2\n", "second \"# seed\""},
    {"bad seed", 0, 0, OURS "# seed -1\n", "\"-1\""},
    {"tick of 0", 0, 0, "# spikemill 1\n# tick_ps 0\n", "at least 1"},
    {"tick too long", 0, 0, "# spikemill 1\n# tick_ps 9223372036854775808\n", "tick_ps"},
    {"tick after a time", 0, 0, "# spikemill 1\n# start_ms 1\n# tick_ps 5\n", "before the times"},
    {"start after stop", 0, 0, OURS "# start_ms 2\n# stop_ms 1\ntime_ms,population,neuron\n# spikes 0\n# complete yes\n",
     "after stop"},
    {"at start", 0, 0, OURS "# start_ms 2\n# stop_ms 4\ntime_ms,population,neuron\n2,exc,0\n", "outside"},
    {"after stop", 0, 0, OURS "# start_ms 2\n# stop_ms 4\ntime_ms,population,neuron\n4.001,exc,0\n", "outside"},
    {"population twice", 0, 0, OURS "# population exc 1\n", "second population \"exc\""},
    {"population of two words", 0, 0, OURS "# population x y 3\n", "name and a size"},
    {"population too large", 0, 0, OURS "# population x 4294967296\n", "4294967295"},
    {"populations too large", 0, 0, OURS "# population x 4294967290\ntime_ms,population,neuron\n# spikes 0\n# complete yes\n",
     "neurons in all"},
    {"no population column", 0, 0, OURS "time_ms,neuron\n", "2 populations"},
};

/* What a user may say wrongly. */
static const struct bad wrong_values[] = {
    {"columns: no unit", "type,time", 0, "A,1\n", "--columns type,time: \"time\" names no unit; expected time_s, time_ms"},
    {"columns: unknown", "type,time_ms,amplitude", 0, "A,1\n", "\"amplitude\" is unknown; expected type, time_s"},
    {"columns: two types", "type,channel,time_ms", 0, "A,1\n", "\"channel\" after \"type\""},
    {"columns: two times", "type,time_ms,time_s", 0, "A,1\n", "\"time_s\" after \"time_ms\""},
    {"columns: type and neuron", "type,neuron,time_s", 0, "A,1\n", "\"neuron\" after \"type\""},
    {"columns: no time", "type,-", 0, "A,1\n", "no time; expected time_s"},
    {"columns: no type", "-,time_ms", 0, "A,1\n", "no type; expected type"},
    {"columns: semicolons", "type;time_ms", 0, "A,1\n", "\"type;time_ms\" is unknown"},
    {"columns: quotes that do not match", "\"type,time_ms", 0, "A,1\n", "expected names between commas"},
    {"columns: no UTF-8", "type,time_\xffms", 0, "A,1\n", "no UTF-8"},
    {"tick: no unit", 0, "0.1", "type,time_ms\n", "--tick 0.1: expected a time with its unit, such as \"0.1 ms\""},
    {"tick: another unit", 0, "1 min", "type,time_ms\n", "--tick 1 min: expected"},
    {"tick: nothing but a unit", 0, "ms", "type,time_ms\n", "--tick ms: expected"},
    {"tick: 0", 0, "0 ms", "type,time_ms\n", "expected a time"},
    {"tick: negative", 0, "-1 ms", "type,time_ms\n", "expected a time"},
    {"tick: half a picosecond", 0, "0.5 ps", "type,time_ms\n", "expected a time"},
    {"tick: too long", 0, "1e7 s", "type,time_ms\n", "expected a time"},
    {"tick: two", 0, "1 ms ms", "type,time_ms\n", "expected a time"},
};

static const char *names_of(const struct mill_stream_info *info)
{
  static char text[400];
  text[0] = 0;
  for (uint32_t i = 0; i < info->group_count; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? "|" : "", info->group[i].name);
  return text;
}

static void test_cases(void)
{
  struct mill_error error;
  struct mill_stream *s;
  notes_begin();
  for (size_t i = 0; i < sizeof good_cases / sizeof *good_cases; i++) {
    const struct good *c = &good_cases[i];
    struct mill_stream_options options = {.columns = c->columns, .tick = c->tick};
    put_file(in_folder("x.csv"), c->text, strlen(c->text));
    if (!ok(!mill_stream_read(in_folder("x.csv"), &options, &s, &error), "read: %s", c->what)) {
      diag("%s", error.text);
      continue;
    }
    const struct mill_event *first = s->event, *last = s->event + s->count - 1;
    if (!ok(s->count == (uint64_t)c->count && (uint32_t)mill_stream_units(&s->info) == (uint32_t)c->units &&
                s->info.tick_ps == c->tick_ps && (!c->count || (first->tick == c->first && last->tick == c->last)),
            "and right"))
      diag("%ju events of %ju units, tick %jd ps, from %jd to %jd", (uintmax_t)s->count, (uintmax_t)mill_stream_units(&s->info),
           (intmax_t)s->info.tick_ps, s->count ? (intmax_t)first->tick : 0, s->count ? (intmax_t)last->tick : 0);
    is_str(names_of(&s->info), c->names, "with its names");
    mill_stream_free(s);
  }
  mill_note_set(NULL, NULL);
  for (size_t i = 0; i < sizeof bad_cases / sizeof *bad_cases; i++) {
    const struct bad *c = &bad_cases[i];
    struct mill_stream_options options = {.format = "csv", .columns = c->columns, .tick = c->tick};
    put_file(in_folder("x.csv"), c->text, strlen(c->text));
    refused(c->what, in_folder("x.csv"), &options, MILL_DATA, c->says);
  }
  for (size_t i = 0; i < sizeof wrong_values / sizeof *wrong_values; i++) {
    const struct bad *c = &wrong_values[i];
    struct mill_stream_options options = {.format = "csv", .columns = c->columns, .tick = c->tick};
    put_file(in_folder("x.csv"), c->text, strlen(c->text));
    refused(c->what, in_folder("x.csv"), &options, MILL_USAGE, c->says);
  }
  char line[4200];
  memset(line, '0', sizeof line);
  for (int n = 4096; n < 4099; n++) {
    memcpy(line, "time_ms,neuron\n", 15);
    memcpy(line + 15 + n - 2, ",1\n", 3);
    put_file(in_folder("x.csv"), line, (size_t)(15 + n + 1));
    int failed = mill_stream_read(in_folder("x.csv"), NULL, &s, &error);
    ok(n > 4096 ? failed && strstr(error.text, "x.csv:2: the line has more than 4096") : !failed, "a line of %d bytes", n);
    mill_stream_free(s);
    put_file(in_folder("x.csv"), line, (size_t)(15 + n));
    failed = mill_stream_read(in_folder("x.csv"), NULL, &s, &error);
    ok(n > 4096 ? failed && strstr(error.text, "more than 4096") : !failed, "the last, without an end");
    mill_stream_free(s);
    line[15 + n] = '0';
  }
  put_file(in_folder("x.csv"), "time_ms,neuron\n1,\0001\n", 20);
  ok(mill_stream_read(in_folder("x.csv"), NULL, &s, &error) && strstr(error.text, "0x00"), "a NUL byte: %s", error.text);
  spikes_empty();
}

/* What the user is told when times are put on the grid. */
static void test_notes(void)
{
  static const char noisy[] = "type,time_s\nA,21.440700000000003\nA,22\nA,22.000000000000004\n", *const fine =
                                                                                                     "type,time_s\nA,21.4407\n";
  struct mill_stream_options options = {.tick = "1 us"};
  struct mill_error error;
  struct mill_stream *s;
  notes_begin();
  put_file(in_folder("n.csv"), noisy, strlen(noisy));
  ok(!mill_stream_read(in_folder("n.csv"), &options, &s, &error) && notes == 1 &&
         strstr(last_note, "2 of 3 times lay beside the grid of 1 us"),
     "the user is told once: %s", last_note);
  mill_stream_free(s);
  put_file(in_folder("n.csv"), fine, strlen(fine));
  ok(!mill_stream_read(in_folder("n.csv"), &options, &s, &error) && notes == 1, "but not of times on the grid");
  mill_stream_free(s);
  mill_note_set(NULL, NULL);
  spikes_empty();
}

/* What the format takes for its own. */
static void test_probe(void)
{
  static const struct {
    const char *text;
    int low, high;
  } head[] = {
      {"# spikemill 1\n", 100, 100},
      {"# spikemill", 100, 100},
      {"\xef\xbb\xbf# spikemill\r", 100, 100},
      {"# spikemills\n", 0, 0},
      {"time_ms,population,neuron\n", 90, 90},
      {"# a\r\r \rchannel\ttime (s)\r", 90, 90},
      {"channel time_s", 90, 90},
      {"Channel,Time\n", 1, 89},
      {"amplitude;time_ms;channel\n", 1, 89},
      {"L,0\nO,7\n", 0, 0},
      {"0.06012 56\n", 0, 0},
      {"12 0.5\n", 0, 0},
      {"what is this\n", 0, 0},
      {"time\n", 0, 0},
      {"\"time,type\n", 0, 0},
      {"", 0, 0},
      {"\n\n# a", 0, 0},
      {"\x89SMK\r\n", 0, 0},
  };
  const struct mill_format_ops *ops = format_ops("csv");
  for (size_t i = 0; i < sizeof head / sizeof *head; i++) {
    int score = ops->probe((const unsigned char *)head[i].text, strlen(head[i].text));
    ok(score >= head[i].low && score <= head[i].high, "probe %zu: %d", i, score);
  }
  unsigned char whole[4096];
  memset(whole, 'x', sizeof whole);
  memcpy(whole + sizeof whole - 12, "\ntype,time_s", 12);
  memset(whole, '#', 1);
  is_int(ops->probe(whole, sizeof whole), 0, "a line that the head cuts is no line");
  is_int(ops->probe(whole + 1, sizeof whole - 1), 0, "nor one of another kind before");
}

static void test_unwritable(void)
{
  static char long_name[2000];
  static const struct mill_event one[] = {{1, 0, 0}};
  struct mill_group g[] = {{"a", 0, 2}, {"b", 2, 1}};
  struct mill_stream_info info = {.tick_ps = 1, .group_count = 2, .group = g, .version = "", .config = ""};
  struct mill_error error;
  g[1].name = "a";
  ok(write_stream(in_folder("x.csv"), NULL, &info, one, 1, 1, &error) && strstr(error.text, "two populations"), "%s", error.text);
  g[1].name = "a\nb";
  ok(write_stream(in_folder("x.csv"), NULL, &info, one, 1, 1, &error) && strstr(error.text, "control"), "%s", error.text);
  g[1].name = "gr\xf6";
  ok(write_stream(in_folder("x.csv"), NULL, &info, one, 1, 1, &error) && strstr(error.text, "UTF-8"), "%s", error.text);
  memset(long_name, '"', sizeof long_name - 1);
  g[1].name = long_name;
  ok(write_stream(in_folder("x.csv"), NULL, &info, one, 1, 1, &error) && strstr(error.text, "bytes"), "%s", error.text);
  long_name[1940] = 0;
  round_trip("the longest name", &info, one, 1, 1);
  g[1].name = "b";
  info.config = "a\x01z\n";
  ok(write_stream(in_folder("x.csv"), NULL, &info, one, 1, 1, &error) && strstr(error.text, "control"), "%s", error.text);
  char config[5000];
  memset(config, 'x', sizeof config);
  config[4999] = 0;
  info.config = config;
  ok(write_stream(in_folder("x.csv"), NULL, &info, one, 1, 1, &error) && strstr(error.text, "does not fit"), "%s", error.text);
  strcpy(config + 4096 - 9, "\n");
  round_trip("the longest line of a configuration", &info, one, 1, 1);
  g[0].size = 1;
  g[1].first = 1;
  info.config = "";
  g[1].name = "a";
  ok(write_stream(in_folder("x.csv"), NULL, &info, one, 1, 1, &error) && strstr(error.text, "two types"), "%s", error.text);
  g[1].name = "a\rb";
  ok(write_stream(in_folder("x.csv"), NULL, &info, one, 1, 1, &error) && strstr(error.text, "a type's name"), "%s", error.text);
  memset(long_name, '"', sizeof long_name - 1);
  g[1].name = long_name;
  ok(write_stream(in_folder("x.csv"), NULL, &info, one, 1, 1, &error) && strstr(error.text, "a type's name has"), "%s", error.text);
  long_name[1940] = 0;
  round_trip("the longest name of a type", &info, one, 1, 1);
  is_int(spikes_files(), 0, "nothing is left");
}

int main(void)
{
  plan_later();
  spikes_begin();
  test_text();
  test_text_of_recording();
  test_cases();
  test_notes();
  test_probe();
  test_unwritable();
  if (german_set()) {
    test_text();
    test_cases();
    german_end();
  } else {
    skip(1, "no German locale can be had");
  }
  is_int((intmax_t)mill_memory_held(), 0, "all memory is given back");
  spikes_end();
  return done_testing();
}
