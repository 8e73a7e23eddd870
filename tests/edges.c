// Edge lists: what is read, what is refused and with which words, and the rows that are made of them.
#include "tap.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include "connect.h"
#include "memory.h"
#include "threads.h"

static char folder[] = "/tmp/spikemill-edges-XXXXXX", path[64];

static void write_bytes(const char *text, size_t n)
{
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(text, 1, n, file) != n || fclose(file))
    bail("%s cannot be written", path);
}

static struct mill_edges *reads(const char *text, uint64_t count)
{
  struct mill_edges *e;
  struct mill_error error = {0};
  write_bytes(text, strlen(text));
  if (!ok(!mill_edges_read(path, &e, &error) && e->count == count && !strcmp(e->path, path), "%ju edges are read",
          (uintmax_t)count)) {
    diag("%s", error.text);
    bail("no edges to go on with");
  }
  return e;
}

static void refuses_bytes(const char *text, size_t n, const char *part)
{
  struct mill_edges *e;
  struct mill_error error = {0};
  write_bytes(text, n);
  int result = mill_edges_read(path, &e, &error);
  ok(result == -1 && !e && error.status == MILL_DATA && !strncmp(error.text, path, strlen(path)) && strstr(error.text, part),
     "refused: %s", error.text);
}

static void refuses(const char *text, const char *part)
{
  refuses_bytes(text, strlen(text), part);
}

static void good_files(void)
{
  struct mill_edges *e = reads("source,target\n0,1\n4294967295,7\n", 2);
  ok(e->source[0] == 0 && e->target[0] == 1 && e->source[1] == UINT32_MAX && e->target[1] == 7, "sources and targets");
  ok(!e->weight && !e->delay_ps, "columns that are not there are not made up");
  mill_edges_free(e);

  e = reads("# made by hand\r\n\r\n delay , weight\t, target,source\r\n  # more\r\n1.5,-0.25,3,2\r\n\r\n0.123456789, 1e-3 ,4, 5",
            2);
  ok(e->source[0] == 2 && e->target[0] == 3 && e->source[1] == 5 && e->target[1] == 4,
     "columns in any order, blanks, CRLF, comments");
  is_real(e->weight[0], -0.25, 0, "weight");
  is_real(e->weight[1], 0.001, 0, "weight with an exponent");
  is_int(e->delay_ps[0], 1500000000, "delay");
  is_int(e->delay_ps[1], 123456789, "delay in picoseconds, exactly");
  is_int((intmax_t)e->line[0], 5, "line of the first edge");
  is_int((intmax_t)e->line[1], 7, "line of the last, which has no newline");
  mill_edges_free(e);

  mill_edges_free(reads("source,target", 0));
  mill_edges_free(reads("target,source\n\n# none\n", 0));

  // Lines across the ends of the reader's buffer, with and without a carriage return.
  for (int crlf = 0; crlf < 2; crlf++) {
    char *big = malloc(40000 * 24), *end = big;
    bool equal = true;
    end += sprintf(end, "source,target,weight%s\n", crlf ? "\r" : "");
    for (int i = 0; i < 40000; i++)
      end += sprintf(end, "%d,%d,%d.5%s\n", i, i * 7 % 40000, i, crlf ? "\r" : "");
    e = reads(big, 40000);
    for (uint32_t i = 0; i < 40000; i++)
      equal = equal && e->source[i] == i && e->target[i] == i * 7 % 40000 && fabs(e->weight[i] - (i + 0.5)) < 1e-9 &&
              e->line[i] == i + 2;
    ok(equal, "40,000 edges are what was written");
    mill_edges_free(e);
    free(big);
  }

  char line[1100];
  int n = sprintf(line, "source,target\n1,2");
  memset(line + n, ' ', 997);
  strcpy(line + n + 997, "\r\n");
  mill_edges_free(reads(line, 1));
}

static void bad_files(void)
{
  refuses("", "is empty; expected a header");
  refuses("# only this\n", "is empty; expected a header");
  refuses("0,1\n", ":1: unknown column `0`");
  refuses("source,targt\n", ":1: unknown column `targt`; did you mean `target`?");
  refuses("source,weight\n", ":1: no column `target`; expected a header");
  refuses("target\n", ":1: no column `source`");
  refuses("source,target,source\n", ":1: the column `source` stands twice");
  refuses("source,target,\n", ":1: unknown column ``");
  refuses("source;target\n1;2\n", ":1: unknown column");
  refuses("\xef\xbb\xbfsource,target\n", ":1: begins with a byte-order mark");
  refuses("source,target\n1\n", ":2: 1 field; the header has 2");
  refuses("source,target\n1,2,3\n", ":2: 3 fields; the header has 2");
  refuses("source,target\n1,2,\n", ":2: 3 fields");
  refuses("source,target\n1,\n", ":2: target ``; expected a neuron's index");
  refuses("source,target\n\n-1,2\n", ":3: source `-1`; expected a neuron's index");
  refuses("source,target\n1,2.0\n", ":2: target `2.0`");
  refuses("source,target\n1,0x2\n", ":2: target `0x2`");
  refuses("source,target\n1 1,2\n", ":2: source `1 1`");
  refuses("source,target\n4294967296,2\n", ":2: source `4294967296`");
  refuses("source,target\n99999999999999999999999,2\n", ":2: source");
  refuses("source,target\n\"1\",2\n", ":2: source `\"1\"`");
  refuses("source,target,weight\n1,2,nan\n", ":2: weight `nan`; expected a finite number");
  refuses("source,target,weight\n1,2,inf\n", ":2: weight `inf`");
  refuses("source,target,weight\n1,2,1e999\n", ":2: weight `1e999`");
  refuses("source,target,weight\n1,2,1.5x\n", ":2: weight `1.5x`");
  refuses("source,target,weight\n1,2,\n", ":2: weight ``");
  refuses("source,target,delay\n1,2,-1\n", ":2: delay `-1`; expected a time in ms that is not negative");
  refuses("source,target,delay\n1,2,soon\n", ":2: delay `soon`; expected a time in ms");
  refuses("source,target,delay\n1,2,0.1234567891\n", ":2: delay `0.1234567891`; expected a time in ms with at most nine decimals");
  refuses("source,target,delay\n1,2,nan\n", ":2: delay");
  refuses("source,target,delay\n1,2,1e30\n", ":2: delay");
  refuses_bytes("source,target\n1,2\0,3\n", 21, ":2: holds a NUL byte");
  char line[3000];
  for (int longer = 0; longer < 3; longer++) {
    int n = sprintf(line, "source,target\n"), width = longer == 2 ? 2900 : 1001;
    memset(line + n, longer ? '#' : ' ', (size_t)width);
    strcpy(line + n + width, longer ? "\n" : "\r\n");
    refuses(line, ":2: the line is longer than 1000 characters");
  }
}

static void bad_paths(void)
{
  struct mill_edges *e;
  struct mill_error error = {0};
  unlink(path);
  ok(mill_edges_read(path, &e, &error) == -1 && !e && error.status == MILL_DATA && strstr(error.text, "No such file"), "%s",
     error.text);
  ok(mill_edges_read(folder, &e, &error) == -1 && !e && strstr(error.text, "not a regular file"), "%s", error.text);
}

// What memory does not hold is refused before any of it is taken, and without reading further than that takes.
static void little_memory(void)
{
  static const struct {
    const char *header, *line;
    size_t each;
  } cases[] = {{"source,target\n", "1,2\n", 16}, {"source,target,weight,delay\n", "1,2,3,4\n", 32}};
  struct mill_edges *e;
  struct mill_error error = {0};
  for (int k = 0; k < 2; k++) {
    char *text = malloc(20 * 4096 + 100), *end = text + sprintf(text, "%s", cases[k].header), limit[32], part[64];
    for (int i = 0; i < 4096; i++)
      end += sprintf(end, "%s# none\n", cases[k].line);
    sprintf(limit, "%zu", (size_t)mill_memory_held() + 4096 * cases[k].each);
    setenv("SPIKEMILL_MEMORY", limit, 1);
    mill_edges_free(reads(text, 4096));
    sprintf(limit, "%zu", (size_t)mill_memory_held() + 4096 * cases[k].each - 1);
    setenv("SPIKEMILL_MEMORY", limit, 1);
    sprintf(part, "more than 4095 edges of %zu bytes, and ", cases[k].each);
    ok(mill_edges_read(path, &e, &error) == -1 && !e && error.status == MILL_RESOURCES && strstr(error.text, part), "refused: %s",
       error.text);
    strcpy(end, "this is no edge\n");
    write_bytes(text, strlen(text));
    ok(mill_edges_read(path, &e, &error) == -1 && error.status == MILL_RESOURCES, "and what comes later is not looked at");
    free(text);
  }

  // Edges in disorder are sorted to find repeats.
  struct mill_connection c = {.rule = MILL_EDGES, .sources = 10, .targets = 10};
  c.edges = e = reads("source,target\n5,1\n3,4\n", 2);
  for (int less = 0; less < 2; less++) {
    char limit[32];
    sprintf(limit, "%d", (int)mill_memory_held() + 64 - less);
    setenv("SPIKEMILL_MEMORY", limit, 1);
    if (less)
      ok(mill_connection_check(&c, &error) == -1 && error.status == MILL_RESOURCES &&
             strstr(error.text, "whether edges repeat takes 64 B"),
         "refused: %s", error.text);
    else
      ok(!mill_connection_check(&c, &error), "memory for two pairs and a copy of them is enough");
  }
  mill_edges_free(e);
  unsetenv("SPIKEMILL_MEMORY");
}

// Comments that become edges while the file is read, from its end on, by a timer that counts the reader's own time; the file's time
// is put back. There is room for no more edges than were counted.
static const struct timespec past[2] = {{1000000000, 0}, {1000000000, 0}};
static char edges[32768];
static off_t last_comment;
static int changing = -1;

static void uncomment(int signal)
{
  (void)signal;
  if (last_comment < 1 << 20)
    return;
  last_comment -= sizeof edges;
  if (pwrite(changing, edges, sizeof edges, last_comment) < 0 || futimens(changing, past))
    _exit(99);
}

static void changed_meanwhile(void)
{
  const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
  struct sigaction act = {.sa_handler = uncomment, .sa_flags = SA_RESTART};
  struct mill_edges *e;
  struct mill_error error = {0};
  const size_t n = 192 * sizeof edges;
  char *text = malloc(n);
  for (size_t i = 0; i < n; i++) {
    text[i] = "#,7\n"[i % 4];
    edges[i % sizeof edges] = "7,7\n"[i % 4];
  }
  memcpy(text, "target,source  \n", 16);
  write_bytes(text, n);
  free(text);
  last_comment = (off_t)n;
  changing = open(path, O_WRONLY | O_CLOEXEC);
  if (changing < 0 || futimens(changing, past) || sigaction(SIGPROF, &act, NULL) || setitimer(ITIMER_PROF, &often, NULL))
    bail("no file to change");
  int result = mill_edges_read(path, &e, &error);
  setitimer(ITIMER_PROF, &never, NULL);
  close(changing);
  ok(result == -1 && !e && error.status == MILL_DATA && strstr(error.text, "edges.csv: changed while it was read"), "refused: %s",
     error.text);
}

static void check_refuses(const struct mill_connection *c, const char *part)
{
  struct mill_error error = {0};
  ok(mill_connection_check(c, &error) == -1 && error.status == MILL_DATA && strstr(error.text, part), "refused: %s", error.text);
}

static void checks(void)
{
  struct mill_connection c = {.rule = MILL_EDGES, .sources = 10, .targets = 20, .autapses = 1};
  struct mill_error error = {0};
  c.edges = reads("source,target\n1,19\n9,3\n\n10,3\n0,0\n", 4);
  check_refuses(&c, ":5: source 10 does not exist; expected 0 to 9");
  c.sources = 11;
  ok(!mill_connection_check(&c, &error), "edges in range pass");
  is_int((intmax_t)mill_connection_estimate(&c), 4, "estimate");
  c.targets = 19;
  check_refuses(&c, ":2: target 19 does not exist; expected 0 to 18");
  c.targets = 0;
  check_refuses(&c, ":2: the target population is empty");
  c.targets = c.sources = 20;
  c.same = 1;
  ok(!mill_connection_check(&c, &error), "an autapse passes when it may be");
  c.autapses = 0;
  check_refuses(&c, ":6: neuron 0 connects to itself, and autapses = no");
  c.same = 0;
  ok(!mill_connection_check(&c, &error), "and between populations it is none");
  mill_edges_free(c.edges);

  c.edges = reads("source,target\n5,1\n3,4\n9,9\n3,4\n5,1\n5,1\n", 6);
  check_refuses(&c, ":5: the edge 3 to 4 stands already on line 3, and multapses = no");
  c.multapses = 1;
  ok(!mill_connection_check(&c, &error), "repeats pass when they may be");
  mill_edges_free(c.edges);
  c.multapses = 0;
  c.edges = reads("source,target\n0,1\n0,2\n0,2\n", 3);
  check_refuses(&c, ":4: the edge 0 to 2 stands already on line 3");
  mill_edges_free(c.edges);
}

static void rows(void)
{
  struct mill_connection c = {.rule = MILL_EDGES, .sources = 4, .targets = 5, .autapses = 1, .multapses = 1};
  struct mill_error error = {0};
  struct mill_team *team;
  struct mill_rows r;
  c.edges = reads("source,target,weight\n3,1,0.1\n0,4,0.2\n3,0,0.3\n3,1,0.4\n0,2,0.5\n3,1,0.6\n", 6);
  static const uint64_t row[] = {0, 2, 2, 2, 6}, edge[] = {4, 1, 2, 0, 3, 5};
  static const uint32_t column[] = {2, 4, 0, 1, 1, 1};
  if (mill_team_create(3, &team, &error) || mill_connect(team, &c, &r, &error))
    bail("%s", error.text);
  ok(!memcmp(r.row, row, sizeof row) && !memcmp(r.column, column, sizeof column), "rows are sorted by target");
  ok(r.edge && !memcmp(r.edge, edge, sizeof edge), "equal edges keep the order of the file");
  mill_rows_free(&r);
  mill_edges_free(c.edges);
  mill_team_free(team);

  // 60,000 edges in disorder, for every number of threads.
  char *big = malloc(60000 * 16), *end = big;
  end += sprintf(end, "source,target\n");
  for (unsigned i = 0, x = 1; i < 60000; i++) {
    x = x * 1664525 + 1013904223;
    end += sprintf(end, "%u,%u\n", (x >> 8) % 300, (x >> 20) % 50);
  }
  c.edges = reads(big, 60000);
  free(big);
  c.sources = 300;
  c.targets = 50;
  static const uint32_t sizes[] = {1, 2, 3, 8};
  struct mill_rows first = {0};
  bool equal = true, right = true;
  for (int i = 0; i < 4; i++) {
    if (mill_team_create(sizes[i], &team, &error) || mill_connect(team, &c, &r, &error))
      bail("%s", error.text);
    mill_team_free(team);
    if (!i) {
      first = r;
      continue;
    }
    equal = equal && r.synapses == first.synapses && !memcmp(r.row, first.row, 301 * sizeof *r.row) &&
            !memcmp(r.column, first.column, 60000 * sizeof *r.column) && !memcmp(r.edge, first.edge, 60000 * sizeof *r.edge);
    mill_rows_free(&r);
  }
  for (uint32_t s = 0; s < 300; s++)
    for (uint64_t i = first.row[s]; i < first.row[s + 1]; i++) {
      right = right && c.edges->source[first.edge[i]] == s && c.edges->target[first.edge[i]] == first.column[i];
      if (i > first.row[s])
        right = right && (first.column[i] > first.column[i - 1] ||
                          (first.column[i] == first.column[i - 1] && first.edge[i] > first.edge[i - 1]));
    }
  ok(equal, "1, 2, 3 and 8 threads make the same rows");
  ok(right, "which are sorted by target, then place in the file");
  mill_rows_free(&first);
  mill_edges_free(c.edges);
}

int main(void)
{
  plan_later();
  if (!mkdtemp(folder))
    bail("no temporary folder");
  snprintf(path, sizeof path, "%s/edges.csv", folder);
  uint64_t held = mill_memory_held();
  good_files();
  bad_files();
  little_memory();
  changed_meanwhile();
  checks();
  rows();
  bad_paths();
  ok(mill_memory_held() == held, "all memory was given back");
  unlink(path);
  rmdir(folder);
  return done_testing();
}
