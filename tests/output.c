/* Files appear whole or not at all, and nothing is left behind. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"
#include "tap.h"

static char folder[] = "/tmp/mill-output-XXXXXX";

static const char *at(const char *name)
{
  static char path[4][600];
  static int turn;
  char *p = path[turn++ % 4];
  snprintf(p, sizeof *path, "%s/%s", folder, name);
  return p;
}

static int entries(const char *path)
{
  DIR *dir = opendir(path);
  int n = 0;
  struct dirent *e;
  while (dir && (e = readdir(dir)))
    n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
  if (dir)
    closedir(dir);
  return dir ? n : -1;
}

static const char *contents(const char *path)
{
  static char text[200];
  FILE *file = fopen(path, "r");
  size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
  text[n] = 0;
  if (file)
    fclose(file);
  return file ? text : NULL;
}

static void put(const char *path, const char *text)
{
  FILE *file = fopen(path, "w");
  if (!file)
    bail("%s cannot be written", path);
  fputs(text, file);
  fclose(file);
}

static void test_whole(void)
{
  struct mill_error error;
  char *part;
  put(at("a"), "old");
  ok(!mill_output_begin(at("a"), &part, &error), "begin");
  ok(strstr(part, "/.a.") && !strcmp(part + strlen(part) - 5, ".part"), "the part's name: %s", part + strlen(folder));
  is_str(contents(part), "", "the part is there, empty");
  is_str(contents(at("a")), "old", "the old file is untouched");
  put(part, "new");
  is_str(contents(at("a")), "old", "also while the new one is being written");
  ok(!mill_output_commit(at("a"), part, &error), "commit");
  is_str(contents(at("a")), "new", "the file is replaced");
  is_int(entries(folder), 1, "and nothing else is there");

  char *first = NULL, *second = NULL;
  ok(!mill_output_begin(at("a"), &first, &error) && !mill_output_begin(at("a"), &second, &error) && strcmp(first, second),
     "two parts of one file differ");
  mill_output_forget(first);
  mill_output_forget(second);
  mill_output_forget(NULL);
  is_int(entries(folder), 1, "forgotten parts are gone");
  is_str(contents(at("a")), "new", "and the file is as it was");

  ok(!mill_output_begin(at("a"), &first, &error) && !mill_output_begin(at("b"), &second, &error), "two open parts");
  mill_output_forget_all();
  is_int(entries(folder), 1, "forget_all removes them");
  ok(mill_output_commit(at("a"), first, &error) && error.status == MILL_RESOURCES, "a part that is gone cannot be committed: %s",
     error.text);
  mill_output_forget(second);
  is_str(contents(at("a")), "new", "the file is as it was");

  ok(!mill_output_text(at("t"), "line\n", &error), "a text");
  is_str(contents(at("t")), "line\n", "is written whole");
  unlink(at("t"));
}

static void test_working_folder(void)
{
  struct mill_error error;
  char before[600];
  if (!getcwd(before, sizeof before) || chdir(folder))
    bail("no working folder");
  ok(!mill_output_text("plain", "x", &error), "a name without a folder");
  is_str(contents("plain"), "x", "is written to the working folder");
  unlink("plain");
  char name[252];
  memset(name, 'n', sizeof name);
  name[250] = 0;
  ok(!mill_output_text(name, "x", &error), "a name of 250 bytes");
  unlink(name);
  if (chdir(before))
    bail("the working folder is gone");
}

static void test_folders(void)
{
  struct mill_error error;
  char *part;
  ok(!mill_output_begin(at("new/x"), &part, &error), "one missing folder is made");
  mill_output_forget(part);
  is_int(entries(at("new")), 0, "it is there");
  ok(mill_output_begin(at("no/such/x"), &part, &error) && !part && error.status == MILL_RESOURCES, "two are not: %s", error.text);
  ok(!mill_output_folder(at("p/q//r/"), &error) && entries(at("p/q/r")) == 0, "parents are made");
  ok(!mill_output_folder(at("p/q"), &error), "a folder that exists is fine");
  ok(mill_output_folder(at("a/b"), &error) && error.status == MILL_USAGE && strstr(error.text, "/a:"), "a file in the way: %s",
     error.text);
  ok(mill_output_folder(at("a"), &error) && error.status == MILL_USAGE, "a file of that name: %s", error.text);
  ok(mill_output_folder("", &error) && error.status == MILL_USAGE, "an empty name");
  ok(mill_output_begin(at("a/x"), &part, &error) && strstr(error.text, "folder is needed"), "a file as the folder: %s", error.text);
  rmdir(at("new"));
  rmdir(at("p/q/r"));
  rmdir(at("p/q"));
  rmdir(at("p"));
}

static void test_refusals(void)
{
  struct mill_error error;
  char *part;
  mkdir(at("d"), 0777);
  ok(mill_output_begin(at("d"), &part, &error) && error.status == MILL_USAGE && strstr(error.text, "is a folder"), "%s", error.text);
  ok(mill_output_begin(at("d/"), &part, &error) && error.status == MILL_USAGE, "%s", error.text);
  ok(mill_output_begin("", &part, &error) && error.status == MILL_USAGE, "%s", error.text);
  ok(mill_output_begin("/dev/null", &part, &error) && error.status == MILL_USAGE && access("/dev/null", F_OK) == 0,
     "a device is never replaced: %s", error.text);
  ok(!mill_output_begin(at("late"), &part, &error), "a part");
  mkdir(at("late"), 0777);
  ok(mill_output_commit(at("late"), part, &error) && strstr(error.text, "is a folder"), "a folder that came between: %s", error.text);
  is_int(entries(at("d")), 0, "nothing is left in the folder");
  rmdir(at("late"));
  rmdir(at("d"));
  if (geteuid() == 0)
    skip(1, "root may write anywhere");
  else {
    mkdir(at("closed"), 0555);
    ok(mill_output_begin(at("closed/x"), &part, &error) && error.status == MILL_RESOURCES, "a closed folder: %s", error.text);
    rmdir(at("closed"));
  }

  struct rlimit before, limit;
  getrlimit(RLIMIT_FSIZE, &before);
  limit = before;
  limit.rlim_cur = 1000;
  signal(SIGXFSZ, SIG_IGN);
  char text[5001];
  memset(text, 'x', 5000);
  text[5000] = 0;
  fflush(stdout);
  for (int i = 0; i < 2; i++) {
    text[i ? 2000 : 5000] = 0; /* fails when written, and only when closed */
    setrlimit(RLIMIT_FSIZE, &limit);
    int failed = mill_output_text(at("a"), text, &error);
    setrlimit(RLIMIT_FSIZE, &before);
    ok(failed && error.status == MILL_RESOURCES, "a disk that is full: %s", error.text);
  }
  is_str(contents(at("a")), "new", "leaves the old file");
  is_int(entries(folder), 1, "and no part");
}

int main(void)
{
  plan_later();
  if (!mkdtemp(folder))
    bail("no temporary folder");
  test_whole();
  test_working_folder();
  test_folders();
  test_refusals();
  unlink(at("a"));
  ok(!rmdir(folder), "nothing is left");
  return done_testing();
}
