// Truth files and scores: what is read, what is refused, and what counts as found.
#include <spikemill/mining.h>
#include "memory.h"
#include "spikes.h"
#include "truth.h"

#define HEAD "[generate]\nkind = sym26\nunits_of_old = 3\n[stream]\nunits = 4\nchains = 1\n"

static const struct mill_group groups[] = {{"A", 0, 1}, {"B", 1, 1}, {"C", 2, 1}, {"D", 3, 1}, {"neurons", 4, 3}};
static const struct mill_stream_info info = {.tick_ps = 1000000000, .group_count = 5, .group = groups};
static char *names[] = {"A", "B", "C", "neurons:1"}; // D, neurons:0 and neurons:2 are silent
static const struct mill_truth_types types = {4, names, &info};

static int read_truth(const char *text, struct mill_truth **truth, struct mill_error *error)
{
  *error = (struct mill_error){0};
  put_file(in_folder("t.ini"), text, strlen(text));
  return mill_truth_read(in_folder("t.ini"), &types, truth, error);
}

static const struct {
  const char *text, *says;
} bad[] = {
    {"", "no truth: there is neither"},
    {"[generate]\nkind = sym26\n", "no truth: there is neither"},
    {"[chain.1]\ndelay_ms = 5\n", "t.ini:1: [chain.1]"},
    {"[chain.1]\nunits = A B\n", "t.ini:1: [chain.1]"},
    {"[chain.1]\nunits = A\ndelay_ms = 5\n", "t.ini:2: [chain.1] units = A: expected two types or more"},
    {"[chain.1]\nunits = A X\ndelay_ms = 5\n", "t.ini:2: [chain.1] units = A X: the recording has no `X`"},
    {"[chain.1]\nunits = A neuron:1\ndelay_ms = 5\n", "no `neuron:1`; did you mean `neurons:1`?"},
    {"[chain.1]\nunits = A neurons:3\ndelay_ms = 5\n", "no `neurons:3`"},
    {"[chain.1]\nunits = A neurons:02\ndelay_ms = 5\n", "no `neurons:02`"},
    {"[chain.1]\nunits = A neurons:-1\ndelay_ms = 5\n", "no `neurons:-1`"},
    {"[chain.1]\nunits = A B C\ndelay_ms = 5 5 5\n", "t.ini:3: [chain.1] delay_ms = 5 5 5: 3 delays; expected one, or 2"},
    {"[chain.1]\nunits = A B\ndelay_ms = 0\n", "t.ini:3: [chain.1] delay_ms = 0: `0`: expected a time in ms above 0"},
    {"[chain.1]\nunits = A B C\ndelay_ms = 5 -5\n", "`-5`: expected"},
    {"[chain.1]\nunits = A B\ndelay_ms = five\n", "`five`: expected"},
    {"[chain.1]\nunits = A B\ndelay_ms = 0.0000000001\n", "at most nine decimals"},
    {"[chain.1]\nunits = A B\ndelays_ms = 5\ndelay_ms = 5\n",
     "t.ini:3: [chain.1] delays_ms = 5: unknown key `delays_ms`; did you mean"},
    {"[chain.1]\nunits = A B\ndelay_ms = 5\n[chain.1]\nunits = A B\ndelay_ms = 5\n", "t.ini:4"},
    {"[chains.1]\nunits = A B\ndelay_ms = 5\n", "t.ini:1: [chains.1]: unknown section; did you mean `chain.1`?"},
    {HEAD "[population.exc]\nsize = 3\n", "unknown section; a truth file has generate, stream, chain.1"},
    {"units = A B\n", "t.ini:1"},
};

static void test_bad(void)
{
  struct mill_truth *truth;
  struct mill_error error;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    if (!ok(read_truth(bad[i].text, &truth, &error) && !truth && error.status == MILL_DATA && strstr(error.text, bad[i].says),
            "refused: %s", bad[i].says))
      diag("status %d: %s", error.status, error.text);
  ok(mill_truth_read(in_folder("none.ini"), &types, &truth, &error) && error.status == MILL_DATA && strstr(error.text, "none.ini"),
     "no such file: %s", error.text);
}

static void test_good(void)
{
  struct mill_truth *t;
  struct mill_error error;
  if (!ok(!read_truth(HEAD "[chain.1]\nunits = C A  neurons:1\ndelay_ms = 5\nprobability = 0.8\ninterval = (4,6] ms\n"
                           "[chain.more]\nunits = C A C D neurons:0\ndelay_ms = 5 0.5 7 8\n",
                      &t, &error),
          "a truth of two chains"))
    bail("%s", error.text);
  ok(t->chains == 2 && t->chain[0].length == 3 && t->chain[1].length == 5, "their lengths");
  ok(t->links == 5, "five links: one is in both chains");
  static const struct mill_link want[] = {{0, 2, INT64_C(500000000), 0},
                                          {0, 3, INT64_C(5000000000), 0},
                                          {2, 0, INT64_C(5000000000), 0},
                                          {2, MILL_NO_TYPE, INT64_C(7000000000), 0},
                                          {MILL_NO_TYPE, MILL_NO_TYPE, INT64_C(8000000000), 0}};
  for (size_t i = 0; i < 5 && i < t->links; i++)
    ok(t->link[i].source == want[i].source && t->link[i].target == want[i].target && t->link[i].delay_ps == want[i].delay_ps,
       "link %zu", i);
  mill_truth_free(t);
  ok(!read_truth(HEAD, &t, &error) && t->chains == 0 && t->links == 0, "a truth without chains: %s", error.text);
  mill_truth_free(t);
}

// ---- Scores ----

// A B C D every 50 ms, 5 ms apart, but C 7 ms after B; E 5 ms after D every other time.
static const char *write_recording(void)
{
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  fputs("type,time_ms\n", out);
  for (int i = 0; i < 20; i++) {
    const int t = 50 * i;
    fprintf(out, "A,%d\nB,%d\nC,%d\nD,%d\n", t, t + 5, t + 12, t + 17);
    if (i % 2)
      fprintf(out, "E,%d\n", t + 22);
  }
  fclose(out);
  put_file(in_folder("r.csv"), text, size);
  free(text);
  return in_folder("r.csv");
}

static const struct {
  const char *truth, *intervals, *length;
  struct mill_mining_score want;
} scores[] = {
    // A B, C D, D E are found at (4,6]; B C is 7 ms apart.
    {"[chain.1]\nunits = A B\ndelay_ms = 5\n", "(4,6] ms", "64", {1, 1, 3, 2, 1 / 3.0, 1, 1, 1}},
    {"[chain.1]\nunits = A B C D E\ndelay_ms = 5 7 5 5\n", "(4,6] ms", "64", {4, 3, 3, 0, 1, 0.75, 1, 0}},
    {"[chain.1]\nunits = A B C D E\ndelay_ms = 5 7 5 5\n", "(4,6] (6,8] ms", "64", {4, 4, 4, 0, 1, 1, 1, 1}},
    {"[chain.1]\nunits = A B C D E\ndelay_ms = 5 7 5 5\n", "(4,6] (6,8] ms", "4", {4, 4, 4, 0, 1, 1, 1, 0}},
    {"[chain.1]\nunits = A B C D E\ndelay_ms = 5 7 5 5\n", "(4,6] (6,8] ms", "1", {4, 0, 0, 0, (double)NAN, 0, 1, 0}},
    // The high bound is included, the low one is not; a pair that is found at another lag than planted is a false one.
    {"[chain.1]\nunits = A B\ndelay_ms = 5\n", "(0,5] ms", "2", {1, 1, 3, 2, 1 / 3.0, 1, 1, 1}},
    {"[chain.1]\nunits = A B\ndelay_ms = 4\n", "(4,6] ms", "2", {1, 0, 3, 3, 0, 0, 1, 0}},
    {"[chain.1]\nunits = A B\ndelay_ms = 4.000000001\n", "(4,6] ms", "2", {1, 1, 3, 2, 1 / 3.0, 1, 1, 1}},
    // Several intervals of a pair are one pair; two delays of it are two links.
    {"[chain.1]\nunits = A B\ndelay_ms = 5\n", "(0,5] (4,6] (0,6] ms", "2", {1, 1, 3, 2, 1 / 3.0, 1, 1, 1}},
    {"[chain.1]\nunits = A B\ndelay_ms = 5\n[chain.2]\nunits = A B\ndelay_ms = 9\n",
     "(4,6] ms",
     "2",
     {2, 1, 3, 2, 1 / 3.0, 0.5, 2, 1}},
    {"[stream]\nchains = 0\n", "(4,6] ms", "2", {0, 0, 3, 3, 0, (double)NAN, 0, 0}},
};

static int same_number(double a, double b)
{
  return isnan(a) ? isnan(b) : fabs(a - b) < 1e-12;
}

static void test_scores(void)
{
  const char *path = write_recording(), *truth = in_folder("score.ini");
  char sets[4][700];
  const char *set[4] = {sets[0], sets[1], sets[2], sets[3]};
  for (size_t i = 0; i < sizeof scores / sizeof *scores; i++) {
    struct mill_mining *m;
    struct mill_mining_score s;
    struct mill_error error;
    const struct mill_mining_score *want = &scores[i].want;
    put_file(truth, scores[i].truth, strlen(scores[i].truth));
    snprintf(sets[0], sizeof sets[0], "mining.truth=%s", truth);
    snprintf(sets[1], sizeof sets[1], "mining.intervals=%s", scores[i].intervals);
    snprintf(sets[2], sizeof sets[2], "mining.max_length=%s", scores[i].length);
    snprintf(sets[3], sizeof sets[3], "mining.support=10");
    if (mill_mining_open(path, set, 4, &m, &error) || mill_mining_run(m, NULL, NULL, &error))
      bail("%s", error.text);
    for (int twice = 0; twice < 2; twice++)
      if (!ok(!mill_mining_score(m, &s) && s.links == want->links && s.links_found == want->links_found && s.pairs == want->pairs &&
                  s.pairs_false == want->pairs_false && s.chains == want->chains && s.chains_found == want->chains_found &&
                  same_number(s.precision, want->precision) && same_number(s.recall, want->recall),
              "score %zu", i))
        diag("links %ju of %ju, pairs %ju of which %ju false, chains %u of %u, precision %g, recall %g", (uintmax_t)s.links_found,
             (uintmax_t)s.links, (uintmax_t)s.pairs, (uintmax_t)s.pairs_false, s.chains_found, s.chains, s.precision, s.recall);
    mill_mining_free(m);
  }
  struct mill_mining *m;
  struct mill_mining_score s;
  struct mill_error error;
  if (mill_mining_open(path, set + 1, 3, &m, &error))
    bail("%s", error.text);
  ok(mill_mining_score(m, &s), "without a truth there is no score");
  mill_mining_free(m);
}

int main(void)
{
  plan_later();
  spikes_begin();
  test_bad();
  test_good();
  test_scores();
  spikes_end();
  is_int((intmax_t)mill_memory_held(), 0, "no memory is left behind");
  return done_testing();
}
