// Lines of data files: what is a line, and what becomes of files that are none, that never end, or that somebody writes to meanwhile.
#include <fcntl.h>
#include <sys/stat.h>

#include "lines.h"
#include "spikes.h"

static struct mill_lines *open_text(const char *text, size_t n)
{
  struct mill_lines *lines;
  struct mill_error error;
  put_file(in_folder("lines"), text, n);
  static char path[600];
  strcpy(path, in_folder("lines"));
  if (mill_lines_open(path, &lines, &error))
    bail("%s", error.text);
  return lines;
}

static void sound_lines(void)
{
  static const char text[] = "one\n\n \t\n# none\n  # none\r\ntwo # not cut\r\n\tthree\r\r\nfour";
  static const struct {
    const char *text;
    unsigned number;
  } want[] = {{"one", 1}, {"two # not cut", 6}, {"\tthree\r", 7}, {"four", 8}};
  struct mill_lines *lines = open_text(text, sizeof text - 1);
  struct mill_error error = {0};
  for (int pass = 0; pass < 2; pass++) {
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
      if (mill_lines_next(lines, &error) != 1)
        bail("%s", error.text);
      is_str(lines->text, want[i].text, "line %u", want[i].number);
      is_int((intmax_t)lines->number, want[i].number, "its number");
    }
    is_int(mill_lines_next(lines, &error), 0, "the end");
    is_int(mill_lines_rewind(lines, &error), 0, "and back");
  }
  mill_lines_close(lines);
  lines = open_text("", 0);
  is_int(mill_lines_next(lines, &error), 0, "an empty file has no line");
  mill_lines_close(lines);
  mill_lines_close(NULL);

  // 1000 characters are a line, wherever the buffer ends.
  for (int ahead = 0; ahead < 3; ahead++) {
    size_t n = (size_t)65536 - 500 * (size_t)ahead;
    char *big = malloc(n + 2000);
    memset(big, '#', n);
    for (size_t i = 99; i < n; i += 100)
      big[i] = '\n';
    big[n - 1] = '\n';
    memset(big + n, 'x', 1000);
    strcpy(big + n + 1000, "\r\n");
    lines = open_text(big, n + 1002);
    ok(mill_lines_next(lines, &error) == 1 && strlen(lines->text) == 1000 && mill_lines_next(lines, &error) == 0,
       "a line of 1000 characters, %zu bytes ahead of it", n);
    mill_lines_close(lines);
    big[n + 1000] = 'x';
    lines = open_text(big, n + 1002);
    ok(mill_lines_next(lines, &error) == -1 && strstr(error.text, ": the line is longer than 1000 characters"), "one more: %s",
       error.text + strlen(lines->path));
    mill_lines_close(lines);
    free(big);
  }
}

static void refused_lines(void)
{
  struct mill_error error = {0};
  struct mill_lines *lines = open_text("a\nb\0c\n", 6);
  ok(mill_lines_next(lines, &error) == 1 && mill_lines_next(lines, &error) == -1 && error.status == MILL_DATA &&
         strstr(error.text, "lines:2: holds a NUL byte"),
     "%s", error.text);
  ok(mill_lines_refuse(lines, &error, "%s %d", "no", 7) == -1 && error.status == MILL_DATA && strstr(error.text, "lines:2: no 7"),
     "%s", error.text);
  mill_lines_close(lines);

  // A file of a terabyte that holds nothing ends the reading at its first line.
  lines = open_text("a\n", 2);
  mill_lines_close(lines);
  if (truncate(in_folder("lines"), (off_t)1 << 40)) {
    skip(1, "no file of a terabyte here");
  } else if (mill_lines_open(in_folder("lines"), &lines, &error)) {
    bail("%s", error.text);
  } else {
    ok(mill_lines_next(lines, &error) == 1 && mill_lines_next(lines, &error) == -1 && strstr(error.text, ":2: the line is longer"),
       "a terabyte of nothing: %s", error.text);
    mill_lines_close(lines);
  }
}

static void no_files(void)
{
  struct mill_lines *lines = (void *)&lines;
  struct mill_error error = {0};
  ok(mill_lines_open(in_folder("none"), &lines, &error) == -1 && !lines && error.status == MILL_DATA &&
         strstr(error.text, "No such file"),
     "%s", error.text);
  ok(mill_lines_open(spikes_folder, &lines, &error) == -1 && !lines && strstr(error.text, "not a regular file"), "a folder: %s",
     error.text);
  ok(mill_lines_open("/dev/zero", &lines, &error) == -1 && !lines && strstr(error.text, "not a regular file"), "%s", error.text);
  mkfifo(in_folder("pipe"), 0666);
  alarm(20); // a reader that waits for somebody to write is ended
  ok(mill_lines_open(in_folder("pipe"), &lines, &error) == -1 && !lines && strstr(error.text, "not a regular file"),
     "a pipe that nobody writes to: %s", error.text);
  alarm(0);
}

// Files that are changed between two lines. What is read was last written to long ago, as the clocks of file systems are coarse; a
// change may leave it the same size, or the same time.
static void changing_files(void)
{
  static const struct {
    const char *name;
    int append, write;
    off_t size;
    struct timespec then; // 0: as it comes
  } cases[] = {
      {"left alone", 0, 0, 16, {1000000000, 0}},
      {"appended to faster than it is read", 1, 0, 0, {0, 0}},
      {"written to", 0, 1, 0, {0, 0}},
      {"cut", 0, 0, 8, {1000000000, 0}},
      {"a second younger", 0, 0, 0, {1000000001, 0}},
      {"a nanosecond younger", 0, 0, 0, {1000000000, 1}},
  };
  const struct timespec past[2] = {{1000000000, 0}, {1000000000, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct mill_error error = {0};
    struct mill_lines *lines;
    const struct timespec then[2] = {cases[i].then, cases[i].then};
    int more, read = 0, fd;
    put_file(in_folder("lines"), "7,7\n7,7\n7,7\n7,7\n", 16);
    utimensat(AT_FDCWD, in_folder("lines"), past, 0);
    if (mill_lines_open(in_folder("lines"), &lines, &error) || (fd = open(in_folder("lines"), O_WRONLY | O_CLOEXEC)) < 0)
      bail("no file to change");
    while ((more = mill_lines_next(lines, &error)) > 0 && ++read < 100000) {
      if ((cases[i].append && pwrite(fd, "7,7\n7,7\n", 8, lseek(fd, 0, SEEK_END)) < 0) ||
          (cases[i].write && pwrite(fd, "8", 1, 0) < 0) || (cases[i].size && ftruncate(fd, cases[i].size)) ||
          (then->tv_sec && futimens(fd, then)))
        bail("cannot change the file");
    }
    ok(i ? more == -1 && read == 4 && error.status == MILL_DATA && strstr(error.text, "lines: changed while it was read")
         : more == 0 && read == 4,
       "a file that is %s: %s", cases[i].name, error.text);
    close(fd);
    mill_lines_close(lines);
  }
}

int main(void)
{
  plan_later();
  spikes_begin();
  sound_lines();
  refused_lines();
  no_files();
  changing_files();
  spikes_end();
  return done_testing();
}
