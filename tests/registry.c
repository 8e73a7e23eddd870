/* Plugins, sound and broken in every way that has a sentence of its own, and the search for them. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugin-check.h"
#include "registry.h"
#include "tap.h"

static char folder[] = "/tmp/mill-registry-XXXXXX";
static char plugins[4096];

static const char *at(const char *format, const char *name)
{
  static char path[8][4300];
  static int turn;
  char *p = path[turn++ % 8];
  snprintf(p, sizeof *path, "%s/", strchr(format, '@') ? plugins : folder);
  snprintf(p + strlen(p), sizeof *path - strlen(p), "%s%s", *format == '@' ? format + 1 : format, name);
  return p;
}
#define OURS(name) at("@", name)
#define TEMP(name) at("", name)

static void copy(const char *from, const char *to, long most)
{
  FILE *in = fopen(from, "r"), *out = fopen(to, "w");
  int c;
  if (!in || !out)
    bail("%s cannot be copied to %s", from, to);
  while (most-- && (c = getc(in)) != EOF)
    putc(c, out);
  fclose(in);
  fclose(out);
}

static void put(const char *path, const char *text)
{
  FILE *file = fopen(path, "w");
  if (!file)
    bail("%s cannot be written", path);
  fputs(text, file);
  fclose(file);
}

/* What each broken plugin is told: `text` and both of the numbers. */
static const struct {
  const char *file, *text, *more;
} broken[] = {
  {"synapse-magic.so", "0x12345678", "0x4c4c494d"},
  {"synapse-major.so", "built for plugin ABI 7.6", "this is 0.6"},
  {"synapse-minor.so", "built for plugin ABI 0.96", "this is 0.6"},
  {"synapse-short.so", "shorter than ABI 0.6 requires: 96 bytes", "not 104"},
  {"synapse-long.so", "longer than ABI 0.6 requires: 112 bytes", "not 104"},
  {"synapse-pointers.so", "pointers of 2 bytes", "8"},
  {"synapse-no-kind.so", "kind is number 77", "1 to 7"},
  {"delivery-other-kind.so", "`delivery` (kind 4)", "`synapse` (kind 2)"},
  {"synapse-other-name.so", "`other-name`", "`somebody-else`"},
  {"synapse-flags.so", "0x401", "0x7"},
  {"synapse-no-device.so", "0x4 name no device", "CPU 0x1"},
  {"synapse-no-licence.so", "no licence", ""},
  {"synapse-ops-size.so", "ops table has 4 bytes", "216"},
  {"synapse-no-ops.so", "no ops table", ""},
  {"synapse-parameters.so", "parameter table", "tau"},
  {"synapse-many-parameters.so", "2147483647 parameters", "4096"},
  {"synapse-half-text.so", "source text", ""},
  {"plasticity-no-member.so", "no `applicable`", ""},
  {"stimulus-both.so", "exactly one", "`current`"},
  {"neuron-clash.so", "both called `v`", "parameter 0"},
  {"counter-no-count.so", "no `count`", ""},
  {"synapse-no-symbol.so", "no symbol `spikemill_plugin`", ""},
  {"synapse-function.so", "is a function", ""},
  {"synapse-tiny.so", "has 4 bytes", "16"},
  {"synapse-undefined.so", "undefined symbol: nobody_has_this", ""},
#if defined(__SSE__) || defined(__aarch64__)
  {"synapse-control.so", "floating-point control", "-ffast-math"},
  {"synapse-control.so", "floating-point control", ""}, /* again: it is loaded already, and still refused */
#endif
};

/* Whether flush-to-zero can be set and seen: valgrind, for one, does not keep it. */
static int control_is_kept(void)
{
#ifdef __SSE__
  unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | 0x8000);
  unsigned after = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before);
  return (after & 0x8000) != 0;
#else
  return 1;
#endif
}

static int is_skipped(const char *file)
{
  return !strcmp(file, "synapse-control.so") && !control_is_kept();
}

static int refused(const char *path, const char *text, const char *more)
{
  struct mill_error error = {0, ""};
  const struct mill_plugin *plugin;
  int result = mill_plugin_open(path, 0, &plugin, &error);
  int good = ok(result == -1 && !plugin && error.status == MILL_USAGE && strstr(error.text, path) && strstr(error.text, text) &&
                  strstr(error.text, more) && !strchr(error.text, '\n'),
                "%s: %s", strrchr(path, '/'), text);
  if (!good)
    diag("%s", error.text);
  return good;
}

static void test_broken(void)
{
#ifdef __SSE__
  unsigned before = __builtin_ia32_stmxcsr() & ~0x3fu;
#endif
  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
    if (is_skipped(broken[i].file))
      skip(1, "the floating-point control cannot be set here");
    else
      refused(OURS(broken[i].file), broken[i].text, broken[i].more);
#ifdef __SSE__
  is_int(__builtin_ia32_stmxcsr() & ~0x3fu, before, "the floating-point control is as before");
#endif
}

static void test_files(void)
{
  put(TEMP("synapse-note.so"), "this is a text");
  refused(TEMP("synapse-note.so"), "no ELF file", "");
  put(TEMP("synapse-empty.so"), "");
  refused(TEMP("synapse-empty.so"), "no ELF file", "");
  put(TEMP("synapse-elf.so"), "\177ELF and then something else, which is long enough to be taken for a header of such a file");
  refused(TEMP("synapse-elf.so"), "ELF class", "");
  copy(OURS("synapse-sound.so"), TEMP("synapse-cut.so"), 9000);
  refused(TEMP("synapse-cut.so"), "cut off", "9000");
  copy(OURS("synapse-sound.so"), TEMP("synapse-cut.so"), 100);
  refused(TEMP("synapse-cut.so"), "damaged", "");
  mkdir(TEMP("synapse-dir.so"), 0777);
  refused(TEMP("synapse-dir.so"), "a folder", "");
  mkfifo(TEMP("synapse-pipe.so"), 0666);
  refused(TEMP("synapse-pipe.so"), "no regular file", "");
  refused(TEMP("synapse-gone.so"), "No such file", "");
  copy(OURS("synapse-sound.so"), TEMP("sound.so"), -1);
  refused(TEMP("sound.so"), "KIND-NAME.so", "");
  copy(OURS("synapse-sound.so"), TEMP("zebra-sound.so"), -1);
  refused(TEMP("zebra-sound.so"), "`zebra` is no kind", "");
  copy(OURS("synapse-sound.so"), TEMP("synapse-sound.txt"), -1);
  refused(TEMP("synapse-sound.txt"), "KIND-NAME.so", "");
  copy(OURS("synapse-sound.so"), TEMP("synapse-renamed.so"), -1);
  refused(TEMP("synapse-renamed.so"), "`renamed`", "`sound`");
  copy(OURS("synapse-sound.so"), TEMP("synapse-closed.so"), -1);
  chmod(TEMP("synapse-closed.so"), 0);
  if (access(TEMP("synapse-closed.so"), R_OK))
    refused(TEMP("synapse-closed.so"), "Permission denied", "");
  else
    skip(1, "this user may read every file");
}

static void test_sound(void)
{
  struct mill_error error = {0, ""};
  const struct mill_plugin *p, *again;
  if (!ok(!mill_plugin_open(OURS("synapse-sound.so"), MILL_SYNAPSE, &p, &error), "a sound plugin %s", error.text))
    return;
  is_str(p->name, "sound", "its name");
  is_str(p->version, "1.2", "its version");
  is_str(mill_plugin_path(p), OURS("synapse-sound.so"), "its path");
  ok(!p->source && !p->source_end, "it has no text");
  ok(!mill_plugin_open(OURS("synapse-sound.so"), 0, &again, &error) && again == p, "it is loaded once");
  ok(!mill_plugin_load(MILL_SYNAPSE, OURS("synapse-sound.so"), "/nowhere", &again, &error) && again == p, "by an absolute path");
  ok(!mill_plugin_load(MILL_SYNAPSE, "./synapse-sound.so", plugins, &again, &error) && again == p, "by a path from a folder");
  ok(mill_plugin_open(OURS("synapse-sound.so"), MILL_FORMAT, &again, &error) && strstr(error.text, "synapse plugin (kind 2)") &&
       strstr(error.text, "format plugin (kind 7)"),
     "where another kind is needed: %s", error.text + strlen(plugins));
  ok(!mill_plugin_open(OURS("synapse-older.so"), MILL_SYNAPSE, &p, &error), "one of ABI 0.0 works: %s", error.text);
  ok(p && p->size == offsetof(struct mill_plugin, source), "whose descriptor has no late members");
  ok(!mill_plugin_open(OURS("counter-older.so"), MILL_COUNTER, &p, &error), "a counter of ABI 0.1 works: %s", error.text);
  ok(!mill_plugin_open(OURS("synapse-text.so"), MILL_SYNAPSE, &p, &error), "one with a text %s", error.text);
  ok(p && p->source_end - p->source == 8 && !memcmp(p->source, "the text", 8), "the text is found");
}

/* Folders by way of the environment: `first`, with copies, then the tests' own. */
static void set_path(const char *first)
{
  char path[9000];
  snprintf(path, sizeof path, "%s/%s::/nowhere:%s", folder, first, plugins);
  setenv("SPIKEMILL_PLUGIN_PATH", path, 1);
}

static void test_search(void)
{
  struct mill_error error = {0, ""};
  const struct mill_plugin *p, *q;
  mkdir(TEMP("first"), 0777);
  copy(OURS("synapse-sound.so"), TEMP("first/synapse-sound.so"), -1);
  put(TEMP("first/synapse-text.so"), "shadows the sound one");
  set_path("first");
  ok(!mill_plugin_load(MILL_SYNAPSE, "sound", NULL, &p, &error), "by name: %s", error.text);
  is_str(p ? mill_plugin_path(p) : "", TEMP("first/synapse-sound.so"), "the first folder wins");
  ok(!mill_plugin_load(MILL_SYNAPSE, "older", NULL, &q, &error), "the others are searched too: %s", error.text);
  ok(mill_plugin_load(MILL_SYNAPSE, "text", NULL, &q, &error) && strstr(error.text, "first/synapse-text.so"),
     "a broken one asked for by name is an error");
  ok(mill_plugin_load(MILL_SYNAPSE, "soundd", NULL, &q, &error) && strstr(error.text, "did you mean `sound`?"), "%s", error.text);
  ok(strstr(error.text, "/first,") && strstr(error.text, "/nowhere (does not exist)") && strstr(error.text, plugins),
     "and the folders searched are named");
  ok(mill_plugin_load(MILL_SYNAPSE, "entirely-different", NULL, &q, &error) && strstr(error.text, "there are ") &&
       strstr(error.text, "sound"),
     "without a near name all are listed: %s", error.text);
  ok(mill_plugin_load(MILL_SYNAPSE, "Sound.so", NULL, &q, &error) && strstr(error.text, "[a-z]"), "%s", error.text);
  ok(mill_plugin_load(MILL_SYNAPSE, "", NULL, &q, &error) && error.status == MILL_USAGE, "%s", error.text);
  ok(mill_plugin_load(0, "sound", NULL, &q, &error) && mill_plugin_load(99, "sound", NULL, &q, &error) && error.status == MILL_USAGE,
     "%s", error.text);
  setenv("SPIKEMILL_PLUGIN_PATH", TEMP("first"), 1);
  ok(mill_plugin_load(MILL_FORMAT, "sound", NULL, &q, &error) && strstr(error.text, "there is none"), "none of a kind: %s", error.text);
  setenv("SPIKEMILL_PLUGIN_PATH", "", 1);
  ok(mill_plugin_load(MILL_SYNAPSE, "sound", NULL, &q, &error) && !strstr(error.text, plugins), "an empty path: %s", error.text);
}

static char noted[20000];
static void take_note(const char *sentence, void *self)
{
  snprintf(noted + strlen(noted), sizeof noted - strlen(noted), "%s\n", sentence);
  ++*(int *)self;
}

static void test_list(void)
{
  int notes = 0, broken_synapses = 0;
  char all[1000] = "";
  set_path("first");
  char **names = mill_plugin_list(MILL_SYNAPSE, take_note, &notes);
  for (size_t i = 0; names && names[i]; i++)
    snprintf(all + strlen(all), sizeof all - strlen(all), "%s ", names[i]);
  is_str(all, control_is_kept() ? "beyond no-closed-form older sound unsteady " : "beyond control no-closed-form older sound unsteady ",
         "sound ones are listed, sorted, once");
  ok(!strstr(all, "text") && strstr(noted, "first/synapse-text.so"), "what a broken one hides is not listed");
  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
    if (!strncmp(broken[i].file, "synapse-", 8) && (!i || strcmp(broken[i].file, broken[i - 1].file)) &&
        !is_skipped(broken[i].file)) {
      broken_synapses++;
      ok(strstr(noted, broken[i].file) != NULL, "%s is reported", broken[i].file);
    }
  is_int(notes, broken_synapses + 1, "once each");
  free(names);
  setenv("SPIKEMILL_PLUGIN_PATH", TEMP("empty"), 1);
  names = mill_plugin_list(MILL_COUNTER, NULL, NULL);
  ok(names && !names[0], "none of a kind");
  free(names);
}

static void test_kinds(void)
{
  for (int kind = 1; kind < MILL_KIND_COUNT; kind++)
    is_int(mill_kind_find(mill_kind_name(kind)), kind, "%s", mill_kind_name(kind));
  is_int(mill_kind_find("neurons"), 0, "unknown");
  is_int(mill_kind_find(""), 0, "empty");
}

/* This program again, elsewhere: prints where it looks. */
static int print_folders(void)
{
  char **folders = mill_plugin_folders();
  for (size_t i = 0; folders && folders[i]; i++)
    puts(folders[i]);
  free(folders);
  return 0;
}

static const char *folders_of(const char *program, const char *path, int user)
{
  static char text[20000];
  int ends[2];
  fflush(stdout);
  if (pipe(ends))
    bail("no pipe");
  pid_t child = fork();
  if (child == 0) {
    setenv("SPIKEMILL_PLUGIN_PATH", path, 1);
    dup2(ends[1], 1);
    close(ends[0]);
    if (user && setuid((uid_t)user))
      _exit(99);
    execl(program, program, "--folders", (char *)NULL);
    _exit(98);
  }
  close(ends[1]);
  FILE *file = fdopen(ends[0], "r");
  size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
  text[n] = 0;
  if (file)
    fclose(file);
  int status;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : "";
}

static void test_tree(void)
{
  mkdir(TEMP("tree"), 0777);
  mkdir(TEMP("tree/.libs"), 0777);
  copy("/proc/self/exe", TEMP("tree/program"), -1);
  chmod(TEMP("tree/program"), 0755);
  copy("/proc/self/exe", TEMP("tree/.libs/program"), -1);
  chmod(TEMP("tree/.libs/program"), 0755);
  const char *text = folders_of(TEMP("tree/program"), "/a::/b", 0);
  ok(!strncmp(text, "/a\n/b\n/", 7) && !strstr(text, "tree"), "not a build tree: the path and the installed folder");
  put(TEMP("tree/spikemill-build-tree"), "plugins/.libs\n\n/absolute\nmodels/.libs");
  char want[9000];
  snprintf(want, sizeof want, "/a\n%s/tree/plugins/.libs\n/absolute\n%s/tree/models/.libs\n/", folder, folder);
  text = folders_of(TEMP("tree/program"), "/a", 0);
  ok(!strncmp(text, want, strlen(want)), "the build tree comes after the path");
  text = folders_of(TEMP("tree/.libs/program"), "/a", 0);
  ok(!strncmp(text, want, strlen(want)), "also for a libtool program");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  if (geteuid() == 0 && chmod(folder, 0755) == 0 && chown(TEMP("tree/program"), 65534, (gid_t)-1) == 0 &&
      chmod(TEMP("tree/program"), 04755) == 0) {
    text = folders_of(TEMP("tree/program"), "/a", 1);
    if (*text)
      ok(!strstr(text, "/a\n") && strstr(text, "/absolute\n"), "a program with another user's rights ignores the path");
    else
      skip(1, "another user cannot run it here");
  } else
#endif
    skip(1, "needs root");
}

static void *load_many(void *result)
{
  static const char *const names[] = {"sound", "older", "text", "magic"};
  for (int i = 0; i < 200; i++) {
    const struct mill_plugin *p;
    struct mill_error error;
    int failed = mill_plugin_load(MILL_SYNAPSE, names[i % 4], NULL, &p, &error) != 0;
    *(int *)result += failed != (i % 4 == 3) || (!failed && !*mill_plugin_path(p));
  }
  return NULL;
}

static void test_threads(void)
{
  pthread_t thread[4];
  int wrong[4] = {0};
  setenv("SPIKEMILL_PLUGIN_PATH", plugins, 1);
  for (int i = 0; i < 4; i++)
    pthread_create(&thread[i], NULL, load_many, &wrong[i]);
  for (int i = 0; i < 4; i++)
    pthread_join(thread[i], NULL);
  is_int(wrong[0] + wrong[1] + wrong[2] + wrong[3], 0, "four threads load the same plugins");
}

/* A model carries the very text that it was compiled from, for devices that compile it again. */
static void test_text(const char *name)
{
  const char *top = getenv("top_srcdir");
  const struct mill_plugin *p;
  struct mill_error error;
  char path[4300], text[65536];
  size_t size;
  snprintf(path, sizeof path, "%s/neuron-models/%s.c", top ? top : ".", name);
  FILE *file = fopen(path, "r");
  if (!file || mill_plugin_load(MILL_NEURON, name, NULL, &p, &error))
    bail("no model %s", path);
  size = fread(text, 1, sizeof text, file);
  fclose(file);
  ok(size && size < sizeof text && (size_t)(p->source_end - p->source) == size && !memcmp(p->source, text, size),
     "%s carries its text", name);
}

/* Every plugin of the build tree is sound. */
static void test_own(void)
{
  const char *build = getenv("top_builddir");
  char path[9000];
  int notes = 0, count = 0;
  snprintf(path, sizeof path, "%s/neuron-models/.libs:%s/plugins/.libs", build ? build : ".", build ? build : ".");
  setenv("SPIKEMILL_PLUGIN_PATH", path, 1);
  noted[0] = 0;
  for (int kind = 1; kind < MILL_KIND_COUNT; kind++) {
    char **names = mill_plugin_list(kind, take_note, &notes);
    for (size_t i = 0; names && names[i]; i++) {
      count++;
      if (kind == MILL_NEURON)
        test_text(names[i]);
    }
    free(names);
  }
  ok(!notes, "no plugin of this build is broken %s", noted);
  diag("%d sound plugins", count);
}

int main(int argc, char **argv)
{
  const char *build = getenv("top_builddir");
  if (argc > 1 && !strcmp(argv[1], "--folders"))
    return print_folders();
  plan_later();
  if (!realpath(build ? build : ".", plugins))
    bail("top_builddir does not exist");
  strcat(plugins, "/tests/plugins/.libs");
  if (access(plugins, F_OK))
    bail("%s does not exist: build the plugins of the tests first", plugins);
  if (!mkdtemp(folder))
    bail("no temporary folder");
  test_kinds();
  test_broken();
  test_files();
  test_search(); /* before the plugins are known by another path */
  test_sound();
  test_list();
  test_threads();
  test_tree();
  test_own();
  char command[100];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  ok(system(command) == 0, "the temporary folder is removed");
  return done_testing();
}
