// Programs compiled and kept on disk. A compiler that copies texts stands in for NVRTC (tests/fakes/nvrtc.c): so the cache is tested everywhere, and
// an image shows what it was made of.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tap.h"
#include "cuda/program.h"
#include "registry.h"

#define OPTIONS "--std=c++17\n--fmad=false\n--prec-div=true\n--prec-sqrt=true\n--ftz=false\n--device-as-default-execution-space\n"

static char fakes[4096], top[] = "/tmp/nvrtc-cache-XXXXXX", cache[100];
static char noted[1000];
static int notes;
static struct mill_compiler *volatile compiler_in_use; // where valgrind finds it when a child process ends

static void note(const char *line, void *self)
{
  (void)self;
  notes++;
  snprintf(noted, sizeof noted, "%s", line);
}

static struct mill_compiler *open_compiler(void)
{
  struct mill_compiler *compiler;
  struct mill_error error = {0};
  if (mill_compiler_open(&compiler, &error))
    bail("%s", error.text);
  return compiler;
}

static const struct mill_program_text headers[] = {{"a.h", "text of a\n"}, {"b.h", "text of b\n"}};
static const char *const flags[] = {"-DX=1", "-DY=2"};
static const struct mill_program_source plain = {{"main.cu", "the main text"}, 2, headers, 2, flags, 9, 0};
static const char plain_image[] = "main.cu\nthe main text\na.h\ntext of a\n\nb.h\ntext of b\n\n--gpu-architecture=sm_90\n-DX=1\n-DY=2\n" OPTIONS;

static bool is_image(const struct mill_program_image *image, const char *want)
{
  return image->bytes && image->size == strlen(want) && memcmp(image->bytes, want, image->size) == 0;
}

// Compiles, and says what that took: 1 compiled, 0 from the disk, -1 neither (both are a failure of the call, or the wrong count).
static int compiled(struct mill_compiler *compiler, const struct mill_program_source *source, const char *want)
{
  struct mill_program_image image;
  struct mill_error error = {0};
  const uint64_t before = mill_program_compilations();
  if (mill_program_compile(compiler, source, &image, &error)) {
    diag("%s", error.text);
    return -1;
  }
  const int count = (int)(mill_program_compilations() - before);
  const bool good = (!want || is_image(&image, want)) && image.cached == !count && image.seconds >= 0;
  if (want && !is_image(&image, want))
    diag("image: %.*s", (int)image.size, image.bytes);
  free(image.bytes);
  return good ? count : -1;
}

// The only file in a folder; its path. How many files there are, temporary ones included.
static int files_in(const char *folder, char path[4400])
{
  DIR *directory = opendir(folder);
  int count = 0;
  for (struct dirent *entry; directory && (entry = readdir(directory));)
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
      snprintf(path, 4400, "%s/%s", folder, entry->d_name);
      count++;
    }
  if (directory)
    closedir(directory);
  return count;
}

static void remove_tree(const char *path)
{
  struct stat st;
  char inner[4400];
  if (lstat(path, &st))
    return;
  if (S_ISDIR(st.st_mode)) {
    (void)chmod(path, 0700);
    while (files_in(path, inner))
      remove_tree(inner);
    (void)rmdir(path);
  } else
    (void)unlink(path);
}

static int permissions(const char *path)
{
  struct stat st;
  return stat(path, &st) ? -1 : (int)(st.st_mode & 07777);
}

static size_t read_bytes(const char *path, char *bytes, size_t room)
{
  FILE *file = fopen(path, "rb");
  size_t n = file ? fread(bytes, 1, room, file) : 0;
  if (file)
    fclose(file);
  return n;
}

static void write_bytes(const char *path, const char *bytes, size_t n)
{
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(bytes, 1, n, file) != n || fclose(file))
    bail("cannot write %s", path);
}

static void hits(struct mill_compiler *compiler)
{
  char path[4400];
  is_int(compiled(compiler, &plain, plain_image), 1, "a program is compiled, with the options that results depend on");
  is_int(compiled(compiler, &plain, plain_image), 0, "and comes from the disk the next time");
  is_int(compiled(NULL, &plain, plain_image), 0, "so it does for a compiler opened on the way");
  is_int(files_in(cache, path), 1, "one file");
  is_int(permissions(cache), 0700, "in a folder for the user alone");
  char above[100];
  snprintf(above, sizeof above, "%s/deep", top);
  is_int(permissions(above), 0700, "and so is the folder above it, which was missing too");
}

// Each differs from the plain one in one thing; all must have images of their own.
static void keys(struct mill_compiler *compiler)
{
  static const struct mill_program_text other_name[] = {{"c.h", "text of a\n"}, {"b.h", "text of b\n"}};
  static const struct mill_program_text other_text[] = {{"a.h", "text of a\n"}, {"b.h", "text of c\n"}};
  static const struct mill_program_text swapped[] = {{"b.h", "text of b\n"}, {"a.h", "text of a\n"}};
  static const struct mill_program_text shifted[] = {{"a.ht", "ext of a\n"}, {"b.h", "text of b\n"}};
  static const char *const other_flags[] = {"-DX=1", "-DY=3"}, *const joined[] = {"-DX=1-DY=2", ""};
  static const struct {
    const char *what;
    struct mill_program_source source;
  } others[] = {
    {"main text", {{"main.cu", "the main texts"}, 2, headers, 2, flags, 9, 0}},
    {"main name", {{"main2.cu", "the main text"}, 2, headers, 2, flags, 9, 0}},
    {"header's name", {{"main.cu", "the main text"}, 2, other_name, 2, flags, 9, 0}},
    {"header's text", {{"main.cu", "the main text"}, 2, other_text, 2, flags, 9, 0}},
    {"order of headers", {{"main.cu", "the main text"}, 2, swapped, 2, flags, 9, 0}},
    {"end of a name", {{"main.cu", "the main text"}, 2, shifted, 2, flags, 9, 0}},
    {"number of headers", {{"main.cu", "the main text"}, 1, headers, 2, flags, 9, 0}},
    {"option", {{"main.cu", "the main text"}, 2, headers, 2, other_flags, 9, 0}},
    {"end of an option", {{"main.cu", "the main text"}, 2, headers, 2, joined, 9, 0}},
    {"number of options", {{"main.cu", "the main text"}, 2, headers, 1, flags, 9, 0}},
    {"architecture", {{"main.cu", "the main text"}, 2, headers, 2, flags, 8, 0}},
    {"architecture's minor number", {{"main.cu", "the main text"}, 2, headers, 2, flags, 9, 1}},
  };
  char path[4400];
  const int count = (int)(sizeof others / sizeof *others);
  for (int i = 0; i < count; i++)
    is_int(compiled(compiler, &others[i].source, NULL), 1, "another %s is another program", others[i].what);
  is_int(files_in(cache, path), count + 1, "each has a file");
  for (int i = 0; i < count; i++)
    is_int(compiled(compiler, &others[i].source, NULL), 0, "%s: kept", others[i].what);
  is_int(compiled(compiler, &plain, plain_image), 0, "the plain one is still there");

  static const char *const versions[] = {"12.0", "12.4"};
  for (int i = 0; i < 2; i++) {
    setenv("FAKE_NVRTC_VERSION", versions[i], 1);
    struct mill_compiler *older = open_compiler();
    unsetenv("FAKE_NVRTC_VERSION");
    ok(older->major == 12 && older->minor == 4 * i, "another version of NVRTC");
    is_int(compiled(older, &plain, plain_image), 1, "compiles its own");
    is_int(compiled(older, &plain, plain_image), 0, "and keeps it");
    is_int(compiled(compiler, &plain, plain_image), 0, "beside the other's");
    mill_compiler_close(older);
  }
}

// Compiled anew, and whole from then on.
static void recovers(struct mill_compiler *compiler, const char *what)
{
  is_int(compiled(compiler, &plain, plain_image), 1, "%s: compiled again", what);
  is_int(compiled(compiler, &plain, plain_image), 0, "%s: and replaced", what);
}

static void damage(struct mill_compiler *compiler)
{
  static char sound[20000], bytes[20001];
  char path[4400], aside[4400];
  struct stat st;
  remove_tree(cache);
  is_int(compiled(compiler, &plain, plain_image), 1, "a fresh cache");
  is_int(files_in(cache, path), 1, "with one file");
  const size_t n = read_bytes(path, sound, sizeof sound);
  ok(n > strlen(plain_image) && n < sizeof sound, "%zu bytes of an entry", n);

  write_bytes(path, "", 0);
  recovers(compiler, "an empty entry");
  write_bytes(path, "something else\n", 15);
  snprintf(aside, sizeof aside, "%s/linked", top);
  if (link(path, aside))
    bail("link: %s", strerror(errno));
  recovers(compiler, "a foreign file");
  is_int((intmax_t)read_bytes(aside, bytes, sizeof bytes), 15, "its place is taken, the file itself is as it was");
  memcpy(bytes, sound, n);
  bytes[n] = 0;
  write_bytes(path, bytes, n + 1);
  recovers(compiler, "a byte too many");

  // Every length and every byte: what is read is the image, or nothing.
  int wrong = 0;
  for (size_t length = 0; length < n; length++) {
    write_bytes(path, sound, length);
    wrong += compiled(compiler, &plain, plain_image) != 1;
  }
  is_int(wrong, 0, "cut at any length: compiled again");
  for (size_t i = 0; i < n; i++) {
    memcpy(bytes, sound, n);
    bytes[i] = (char)(bytes[i] ^ (1 << i % 8));
    write_bytes(path, bytes, n);
    wrong += compiled(compiler, &plain, plain_image) != 1;
  }
  is_int(wrong, 0, "any byte with a bit flipped: compiled again");
  is_int((intmax_t)read_bytes(path, bytes, sizeof bytes), (intmax_t)n, "the entry is whole again");
  ok(memcmp(bytes, sound, n) == 0, "and the same");

  // An entry of another key under this one's name.
  struct mill_program_source other = plain;
  other.main.text = "the main tixt";
  char all[2][4400];
  is_int(compiled(compiler, &other, NULL), 1, "another program");
  snprintf(all[0], sizeof all[0], "%s", path);
  (void)unlink(path);
  is_int(files_in(cache, all[1]), 1, "its entry alone");
  if (rename(all[1], all[0]))
    bail("rename: %s", strerror(errno));
  recovers(compiler, "another program's entry");

  snprintf(aside, sizeof aside, "%s/aside", top);
  if (rename(path, aside) || symlink(aside, path))
    bail("symlink: %s", strerror(errno));
  recovers(compiler, "a link to a sound entry");
  ok(lstat(path, &st) == 0 && S_ISREG(st.st_mode) && lstat(aside, &st) == 0, "the link's place is taken, what it led to stays");
  (void)unlink(path);
  if (mkfifo(path, 0600))
    bail("mkfifo: %s", strerror(errno));
  alarm(20);
  recovers(compiler, "a pipe");
  alarm(0);

  notes = 0;
  (void)unlink(path);
  if (mkdir(path, 0700))
    bail("mkdir: %s", strerror(errno));
  is_int(compiled(compiler, &plain, plain_image), 1, "a folder in an entry's place");
  is_int(compiled(compiler, &plain, plain_image), 1, "is not replaced");
  is_int(notes, 1, "which is told once");
  ok(strncmp(noted, "programs for the GPU are compiled anew in every run: ", 53) == 0 && strstr(noted, cache), "with the folder: %s", noted);
  is_int(files_in(cache, path), 1, "and no temporary file is left");
}

// The note comes once in a process, so that each of these has one of its own. Returns the child's status: the number of its failures.
static int child(void (*work)(struct mill_compiler *), struct mill_compiler *compiler)
{
  int status;
  fflush(stdout);
  pid_t id = fork();
  if (id < 0)
    bail("fork: %s", strerror(errno));
  if (!id) {
    notes = 0;
    work(compiler);
    _exit(0);
  }
  if (waitpid(id, &status, 0) != id || !WIFEXITED(status))
    return -1;
  return WEXITSTATUS(status);
}

static void expect(bool good, const char *what)
{
  if (!good) {
    diag("in a child: %s; %d notes, %s", what, notes, noted);
    _exit(1);
  }
}

static void unwritable(struct mill_compiler *compiler)
{
  char path[4400];
  expect(compiled(compiler, &plain, plain_image) == 1 && compiled(compiler, &plain, plain_image) == 1, "compiled every time");
  expect(notes == 1 && strstr(noted, getenv("SPIKEMILL_CACHE")), "one note with the folder");
  expect(files_in(getenv("SPIKEMILL_CACHE"), path) <= 0, "nothing written");
}

static void read_only(struct mill_compiler *compiler)
{
  struct mill_program_source other = plain;
  other.main.text = "not there yet";
  if (geteuid() == 0) // who may write anywhere
    expect(setuid(65534) == 0, "become another user");
  expect(compiled(compiler, &plain, plain_image) == 0 && notes == 0, "what is there is used");
  expect(compiled(compiler, &other, NULL) == 1 && compiled(compiler, &other, NULL) == 1 && notes == 1, "what is not is compiled");
}

static void unnamed(struct mill_compiler *compiler)
{
  expect(compiled(compiler, &plain, plain_image) == 1 && compiled(compiler, &plain, plain_image) == 1, "compiled every time");
  expect(notes == 1 && strstr(noted, "none of SPIKEMILL_CACHE, XDG_CACHE_HOME and HOME names a folder"), "one note");
}

static void unwanted(struct mill_compiler *compiler)
{
  expect(compiled(compiler, &plain, plain_image) == 1 && compiled(compiler, &plain, plain_image) == 1, "compiled every time");
  expect(notes == 0, "no note");
}

// Compiled once and kept in the folder that PLACE names, below `top`.
static void kept(struct mill_compiler *compiler)
{
  char path[4400];
  expect(compiled(compiler, &plain, plain_image) == 1 && compiled(compiler, &plain, plain_image) == 0, "compiled once");
  expect(files_in(getenv("PLACE"), path) == 1 && notes == 0, "kept there");
}

static void places(struct mill_compiler *compiler)
{
  char path[4400];
  snprintf(path, sizeof path, "%s/a-file", top);
  write_bytes(path, "x", 1);
  setenv("SPIKEMILL_CACHE", path, 1);
  is_int(child(unwritable, compiler), 0, "a file in the folder's place");
  snprintf(path, sizeof path, "%s/a-file/below", top);
  setenv("SPIKEMILL_CACHE", path, 1);
  is_int(child(unwritable, compiler), 0, "a file above the folder");
  setenv("SPIKEMILL_CACHE", "/proc/self/nothing", 1);
  is_int(child(unwritable, compiler), 0, "a folder that cannot be made");

  setenv("SPIKEMILL_CACHE", cache, 1);
  remove_tree(cache);
  is_int(compiled(compiler, &plain, plain_image), 1, "a cache");
  is_int(files_in(cache, path), 1, "with an entry that others may read");
  (void)chmod(path, 0644);
  (void)chmod(cache, 0555);
  (void)chmod(top, 0755);
  *strrchr(strcpy(path, cache), '/') = 0;
  (void)chmod(path, 0755);
  is_int(child(read_only, compiler), 0, "a folder that is read-only");
  (void)chmod(cache, 0700);

  unsetenv("SPIKEMILL_CACHE");
  unsetenv("HOME");
  unsetenv("XDG_CACHE_HOME");
  is_int(child(unnamed, compiler), 0, "no HOME");
  setenv("HOME", "", 1);
  is_int(child(unnamed, compiler), 0, "an empty HOME");
  setenv("HOME", "relative", 1);
  setenv("XDG_CACHE_HOME", "relative", 1);
  is_int(child(unnamed, compiler), 0, "relative ones");
  snprintf(path, sizeof path, "%s/home", top);
  setenv("HOME", path, 1);
  strcat(path, "/.cache/spikemill");
  setenv("PLACE", path, 1);
  is_int(child(kept, compiler), 0, "HOME");
  snprintf(path, sizeof path, "%s/xdg", top);
  setenv("XDG_CACHE_HOME", path, 1);
  strcat(path, "/spikemill");
  setenv("PLACE", path, 1);
  is_int(child(kept, compiler), 0, "XDG_CACHE_HOME");
  setenv("SPIKEMILL_CACHE", "", 1);
  is_int(child(unwanted, compiler), 0, "SPIKEMILL_CACHE empty");
  snprintf(path, sizeof path, "%s/own/", top);
  setenv("SPIKEMILL_CACHE", path, 1);
  setenv("PLACE", path, 1);
  is_int(child(kept, compiler), 0, "SPIKEMILL_CACHE");
  setenv("SPIKEMILL_CACHE", cache, 1);
}

// Processes that write the same few entries, remove them and read them, all at once. The images are large, so that writing takes its time.
enum { WRITERS = 4, ROUNDS = 60, PROGRAMS = 3, LARGE = 300000 };
static char large[PROGRAMS][LARGE + 1], large_image[LARGE + 1000];

static void writer(struct mill_compiler *compiler, int number)
{
  struct mill_program_source source = plain;
  char path[4400];
  source.header_count = source.option_count = 0;
  for (int i = 0; i < ROUNDS; i++) {
    const int program = (i + number) % PROGRAMS;
    source.main.text = large[program];
    snprintf(large_image, sizeof large_image, "main.cu\n%s\n--gpu-architecture=sm_90\n" OPTIONS, large[program]);
    expect(compiled(compiler, &source, large_image) >= 0, "an image is whole");
    if (i % 5 == number && files_in(cache, path) > 0 && !strstr(path, "/.part-"))
      (void)unlink(path);
  }
  _exit(notes ? 2 : 0);
}

static void writers(struct mill_compiler *compiler)
{
  pid_t id[WRITERS];
  char path[4400];
  int bad = 0, left = 0;
  remove_tree(cache);
  for (int i = 0; i < PROGRAMS; i++)
    memset(large[i], 'a' + i, LARGE);
  fflush(stdout);
  for (int i = 0; i < WRITERS; i++) {
    id[i] = fork();
    if (id[i] < 0)
      bail("fork: %s", strerror(errno));
    if (!id[i])
      writer(compiler, i);
  }
  for (int i = 0; i < WRITERS; i++) {
    int status;
    bad += waitpid(id[i], &status, 0) != id[i] || status != 0;
  }
  is_int(bad, 0, "%d processes at once, each with whole images", WRITERS);
  left = files_in(cache, path);
  ok(left > 0 && left <= PROGRAMS && !strstr(path, ".part"), "entries are left (%d), and no temporary files", left);
}

static void fails(struct mill_compiler *compiler)
{
  static const struct {
    const char *text;
    int status;
    const char *want;
  } failures[] = {
    {"FAIL 6 neuron-foo.c(12): error: expected a \";\"\n   int y\n        ^\n\n1 error detected in the compilation of \"main.cu\".\n",
     MILL_USAGE,
     "the program for the GPU cannot be compiled by NVRTC 13.0 for sm_90: errors in the texts:\n  neuron-foo.c(12): error: expected a \";\""},
    {"FAIL 6 a.h(1): warning #177-D: variable \"x\" is unused, error: no\n\nmy/b.h(2): error #20: gone\n  int error: x;\n\n2 errors detected\n",
     MILL_USAGE, ": errors in the texts:\n  my/b.h(2): error #20: gone"},
    {"FAIL 6 a(1): error: 1\nb(2): catastrophic error: 2\nptxas error   : 3\n d: error: no\na(4): error: 4\na(5): error: 5\n"
     "a(6): error: 6\na(7): error: 7",
     MILL_USAGE,
     "texts:\n  a(1): error: 1\n  b(2): catastrophic error: 2\n  ptxas error   : 3\n  a(4): error: 4\n  a(5): error: 5\n  and 2 more errors"},
    {"FAIL 6 a(1): error: 1\na(2): error: 2\na(3): error: 3\na(4): error: 4\na(5): error: 5\na(6): error: 6", MILL_USAGE,
     "\n  and 1 more error"},
    {"FAIL 6 \nsomething else went wrong\nmore", MILL_USAGE, "errors in the texts:\n  something else went wrong"},
    {"FAIL 5 nvrtc: error: invalid value for --gpu-architecture (-arch)\n", MILL_RESOURCES,
     "by NVRTC 13.0 for sm_90: an option is not known:\n  nvrtc: error: invalid value for --gpu-architecture (-arch)"},
    {"FAIL 7", MILL_RESOURCES, "libnvrtc-builtins could not be used: nothing more is known"},
    {"FAIL 1", MILL_RESOURCES, "sm_90: out of memory: nothing more is known"},
    {"FAIL 99", MILL_RESOURCES, "sm_90: an error without a name: nothing more is known"},
    {"EMPTY", MILL_RESOURCES, "sm_90: an internal error: nothing more is known"},
  };
  struct mill_program_source source = plain;
  struct mill_program_image image;
  char path[4400];
  remove_tree(cache);
  for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
    struct mill_error error = {0};
    source.main.text = failures[i].text;
    memset(&image, 1, sizeof image);
    const int result = mill_program_compile(compiler, &source, &image, &error);
    const size_t n = strlen(error.text), m = strlen(failures[i].want);
    if (!ok(result < 0 && error.status == failures[i].status && !image.bytes && n >= m && strcmp(error.text + n - m, failures[i].want) == 0,
            "failure %zu", i + 1))
      diag("%d, status %d: %s", result, error.status, error.text);
  }
  // A line without an end in sight is cut between characters, and what follows is counted all the same.
  static char longest[2000] = "FAIL 6 a(1): error: ";
  struct mill_error error = {0};
  while (strlen(longest) < 1900)
    strcat(longest, "\xc3\xa4");
  strcat(longest, "\na(2): error: 2");
  source.main.text = longest;
  ok(mill_program_compile(compiler, &source, &image, &error) < 0 && strstr(error.text, "\xc3\xa4\xe2\x80\xa6\n  a(2): error: 2"),
     "a long line is cut");
  is_int(files_in(cache, path), 0, "failures are not kept");
}

static void opens(void)
{
  static const struct {
    const char *library, *version, *text;
  } refusals[] = {
    {"/nowhere/libnvrtc.so.13", NULL, "NVRTC, the compiler for the GPU, cannot be opened (SPIKEMILL_NVRTC): /nowhere/libnvrtc.so.13: "},
    {"nothing.so", NULL, "%s: has no function nvrtcVersion: not NVRTC"},
    {"nvrtc-old.so", NULL, "%s: has no function nvrtcGetCUBIN: NVRTC 13.0 is too old"},
    {"libnvrtc.so.13", "x", "%s: does not tell its version"},
  };
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    struct mill_compiler *compiler = (struct mill_compiler *)(void *)fakes;
    struct mill_error error = {0};
    char path[4400], want[5000];
    snprintf(path, sizeof path, "%s%s", *refusals[i].library == '/' ? "" : fakes, refusals[i].library);
    setenv("SPIKEMILL_NVRTC", path, 1);
    if (refusals[i].version)
      setenv("FAKE_NVRTC_VERSION", refusals[i].version, 1);
    const int result = mill_compiler_open(&compiler, &error);
    if (*refusals[i].text == '%')
      snprintf(want, sizeof want, "%s%s", path, refusals[i].text + 2);
    else
      snprintf(want, sizeof want, "%s", refusals[i].text);
    if (!ok(result < 0 && !compiler && error.status == MILL_RESOURCES && strncmp(error.text, want, strlen(want)) == 0, "%s %s: refused",
            refusals[i].library, refusals[i].version ? refusals[i].version : ""))
      diag("%d, status %d: %s", result, error.status, error.text);
    struct mill_program_image image;
    ok(mill_program_compile(NULL, &plain, &image, &error) < 0 && !image.bytes, "no program without it");
    unsetenv("FAKE_NVRTC_VERSION");
  }
}

int main(void)
{
  const char *build = getenv("top_builddir");
  char path[4400];
  snprintf(fakes, sizeof fakes, "%s/tests/fakes/.libs/", build ? build : ".");
  if (!mkdtemp(top))
    bail("mkdtemp: %s", strerror(errno));
  snprintf(cache, sizeof cache, "%s/deep/cache", top);
  setenv("SPIKEMILL_CACHE", cache, 1);
  mill_note_set(note, NULL);
  plan_later();
  opens();
  snprintf(path, sizeof path, "%slibnvrtc.so.13", fakes);
  setenv("SPIKEMILL_NVRTC", path, 1);
  struct mill_compiler *compiler = compiler_in_use = open_compiler();
  is_str(compiler->library_path, path, "the library's path");
  hits(compiler);
  keys(compiler);
  fails(compiler);
  places(compiler);
  writers(compiler);
  is_int(notes, 0, "no notes so far");
  damage(compiler);
  mill_compiler_close(compiler);
  mill_compiler_close(NULL);
  remove_tree(top);
  return done_testing();
}
