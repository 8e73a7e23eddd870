/* Allocation, counting, sizes as text, and how much may be used: limits of the process, of control groups, of the user. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"
#include "registry.h"
#include "tap.h"

static char folder[] = "/tmp/mill-memory-XXXXXX";

static int all_zero(const unsigned char *p, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (p[i])
      return 0;
  return 1;
}

static void test_blocks(void)
{
  static const size_t sizes[] = {0, 1, 63, 64, 65, 4096, 262080, 262144, 1000003, 5u << 20};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    size_t n = sizes[i];
    uint64_t before = mill_memory_held();
    for (int again = 0; again < 2; again++) { /* a block that is used again is zero too */
      unsigned char *p = mill_allocate("block", n, 1);
      ok(p && (uintptr_t)p % 64 == 0 && all_zero(p, n), "%zu bytes: aligned and zero", n);
      if (!p)
        continue;
      memset(p, 0xa5, n);
      is_int((intmax_t)(mill_memory_held() - before), (intmax_t)n, "%zu bytes are counted", n);
      mill_release(p);
      is_int((intmax_t)mill_memory_held(), (intmax_t)before, "and not counted when released");
    }
  }
  mill_release(NULL);
  uint64_t peak = mill_memory_peak();
  ok(peak >= (5u << 20), "the peak is remembered");
  void *p = mill_allocate("more", 6u << 20, 1);
  is_int((intmax_t)mill_memory_peak(), 6 << 20, "and rises");
  mill_release(p);
}

static void test_failures(void)
{
  struct mill_error error = {0, ""};
  ok(!mill_allocate("x", UINT64_MAX, 2), "a product that overflows");
  ok(!mill_allocate("x", UINT64_MAX, 1), "a size that overflows with the head");
  ok(!mill_allocate("x", SIZE_MAX - 200, 1), "a size near the end of the address space");
  uint64_t held = mill_memory_held();
  ok(!mill_allocate_or_fail("weights of exc_all", (uint64_t)1 << 45, 4, &error), "128 TiB cannot be had");
  is_int(error.status, MILL_RESOURCES, "status");
  ok(strstr(error.text, "weights of exc_all") && strstr(error.text, "128.0 TiB"), "the message names array and size: %s", error.text);
  ok(!mill_allocate_or_fail("huge", UINT64_MAX, 16, &error) && strstr(error.text, "huge"), "overflow with an error: %s", error.text);
  is_int((intmax_t)mill_memory_held(), (intmax_t)held, "failures count nothing");
}

static void test_untouched(void)
{
#ifndef __SANITIZE_ADDRESS__
  size_t n = (size_t)256 << 20;
  struct rusage a, b;
  getrusage(RUSAGE_SELF, &a);
  void *p = mill_allocate("big", n, 1);
  getrusage(RUSAGE_SELF, &b);
  ok(p && b.ru_maxrss - a.ru_maxrss < 16 << 10, "256 MiB are had without being touched");
  mill_release(p);
#else
  skip(1, "the sanitizer's allocator serves large blocks");
#endif
}

static void *churn(void *unused)
{
  (void)unused;
  for (int i = 0; i < 2000; i++)
    mill_release(mill_allocate("churn", 1000 + (uint64_t)i, 1));
  return NULL;
}

static void test_threads(void)
{
  pthread_t thread[4];
  uint64_t held = mill_memory_held();
  for (int i = 0; i < 4; i++)
    pthread_create(&thread[i], NULL, churn, NULL);
  for (int i = 0; i < 4; i++)
    pthread_join(thread[i], NULL);
  is_int((intmax_t)mill_memory_held(), (intmax_t)held, "four threads count right");
}

static void test_text(void)
{
  static const struct {
    uint64_t bytes;
    const char *text;
  } cases[] = {
    {0, "0 B"}, {1023, "1023 B"}, {1024, "1.0 KiB"}, {1536, "1.5 KiB"}, {1048575, "1.0 MiB"}, {1048524, "1023.9 KiB"},
    {(uint64_t)3 << 29, "1.5 GiB"}, {(uint64_t)1 << 40, "1.0 TiB"}, {(uint64_t)5 << 50, "5.0 PiB"}, {UINT64_MAX, "16.0 EiB"},
  };
  char buffer[32];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    is_str(mill_memory_text(buffer, cases[i].bytes), cases[i].text, "%llu bytes", (unsigned long long)cases[i].bytes);
}

static char noted[2000];
static void sink(const char *line, void *self)
{
  (void)self;
  snprintf(noted, sizeof noted, "%s", line);
}

static void test_user(void)
{
  static const struct {
    const char *text;
    uint64_t bytes;
  } good[] = {{"0", 0}, {"4096", 4096}, {"3K", 3072}, {"2m", 2 << 20}, {"1.5G", (uint64_t)3 << 29}, {"1T", (uint64_t)1 << 40}};
  static const char *const bad[] = {"", "K", "12Q", "1.3", "-1", "0x10", "1e40", "12 34", "1KK", "nan", "9e18T"};
  struct mill_error error;
  uint64_t bytes;
  unsetenv("SPIKEMILL_MEMORY");
  ok(!mill_memory_limit(&bytes, &error) && bytes == UINT64_MAX, "no limit when unset");
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    setenv("SPIKEMILL_MEMORY", good[i].text, 1);
    ok(!mill_memory_limit(&bytes, &error) && bytes == good[i].bytes, "SPIKEMILL_MEMORY=%s", good[i].text);
    ok(mill_memory_free() <= good[i].bytes, "limits what is free");
  }
  mill_note_set(sink, NULL);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    setenv("SPIKEMILL_MEMORY", bad[i], 1);
    noted[0] = 0;
    ok(mill_memory_limit(&bytes, &error) && error.status == MILL_USAGE, "SPIKEMILL_MEMORY=%s is refused", bad[i]);
    ok(mill_memory_free() == 0 && strstr(noted, "SPIKEMILL_MEMORY"), "and nothing is free, with a note");
  }
  mill_note_set(NULL, NULL);
  setenv("SPIKEMILL_MEMORY", "8M", 1);
  void *p = mill_allocate("held", 3 << 20, 1);
  is_int((intmax_t)mill_memory_free(), 5 << 20, "what is held counts against it");
  mill_release(p);
  unsetenv("SPIKEMILL_MEMORY");
}

static void test_process(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  struct rlimit before, limit;
  uint64_t available = mill_memory_free();
  ok(available > 0 && available < (uint64_t)1 << 50, "the machine has memory: %llu bytes", (unsigned long long)available);
  for (int i = 0; i < 2; i++) {
    int resource = i ? RLIMIT_DATA : RLIMIT_AS;
    getrlimit(resource, &before);
    limit = before;
    limit.rlim_cur = (rlim_t)4 << 30;
    if (before.rlim_max < limit.rlim_cur || setrlimit(resource, &limit)) {
      skip(2, "the limit cannot be set");
      continue;
    }
    uint64_t first = mill_memory_free();
    ok(first < (uint64_t)4 << 30, "RLIMIT_%s limits", i ? "DATA" : "AS");
    void *p = mill_allocate("limited", (uint64_t)1 << 30, 1);
    uint64_t second = mill_memory_free();
    setrlimit(resource, &before);
    if (!p || available < (uint64_t)4 << 30)
      skip(1, "this machine has too little memory");
    else
      ok(second <= first - ((uint64_t)1 << 30), "and what is mapped counts against it");
    mill_release(p);
  }
#else
  skip(5, "sanitizers reserve address space");
#endif
}

/* ---- Control groups, in a made-up tree */

static void put(const char *name, const char *text)
{
  char path[600];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  if (!file)
    bail("%s cannot be written", path);
  fputs(text, file);
  fclose(file);
}

static void make(const char *name)
{
  char path[600];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  if (mkdir(path, 0777))
    bail("%s cannot be made", path);
}

static uint64_t group_free(const char *cgroup, const char *mount_format)
{
  char a[600], b[600], text[2000];
  put("cgroup", cgroup);
  snprintf(text, sizeof text, mount_format, folder, folder);
  put("mountinfo", text);
  snprintf(a, sizeof a, "%s/cgroup", folder);
  snprintf(b, sizeof b, "%s/mountinfo", folder);
  return mill_memory_cgroup_free(a, b);
}

static void test_groups(void)
{
  static const char v2[] = "22 1 0:1 / / rw - ext4 /dev/x rw\n30 22 0:26 / %s/two rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";
  make("two");
  make("two/a");
  make("two/a/b");
  put("two/a/memory.max", "1000000\n");
  put("two/a/memory.current", "300000\n");
  put("two/a/memory.stat", "anon 1\nfile 2\ninactive_file_x 9\ninactive_file 100000\n");
  put("two/a/b/memory.max", "max\n");
  put("two/a/b/memory.current", "1\n");
  is_int((intmax_t)group_free("0::/a/b\n", v2), 800000, "v2: the limit of a parent, page cache not counted");
  put("two/a/b/memory.max", "500000\n");
  is_int((intmax_t)group_free("0::/a/b\n", v2), 499999, "v2: the least limit of all");
  is_int((intmax_t)group_free("0::/a\n", v2), 800000, "v2: children do not count");
  put("two/a/b/memory.current", "600000\n");
  is_int((intmax_t)group_free("0::/a/b\n", v2), 0, "v2: used up");
  ok(group_free("0::/\n", v2) == UINT64_MAX, "v2: no limit at the root");
  ok(group_free("0::/gone/away\n", v2) == UINT64_MAX, "v2: a group that cannot be seen");
  ok(group_free("0::/a/b\n", "22 1 0:1 / / rw - ext4 /dev/x rw\n") == UINT64_MAX, "no cgroup file system");
  is_int((intmax_t)group_free("0::/pod/x/a\n", "30 22 0:26 /pod/x %s/two rw - cgroup2 cgroup2 rw\n"), 800000,
         "v2: the mount shows a part of the tree");

  static const char v1[] = "30 22 0:26 / %s/cpu rw - cgroup cgroup rw,cpu\n31 22 0:27 / %s/one\\040x rw - cgroup cgroup rw,memory\n";
  make("one x");
  make("one x/j");
  put("one x/memory.limit_in_bytes", "9223372036854771712\n");
  put("one x/memory.usage_in_bytes", "1\n");
  put("one x/j/memory.limit_in_bytes", "70000\n");
  put("one x/j/memory.usage_in_bytes", "20000\n");
  put("one x/j/memory.stat", "cache 1\ninactive_file 7\ntotal_inactive_file 5000\n");
  is_int((intmax_t)group_free("5:cpu,cpuacct:/q\n4:cpuset,memory:/j\n1:name=systemd:/\n", v1), 55000, "v1: limit and cache");
  ok(group_free("4:memory:/\n", v1) == UINT64_MAX, "v1: no limit at the root");
  is_int((intmax_t)group_free("4:memory:/docker/j\n0::/\n", "31 22 0:27 /docker/j %s/one\\040x/j rw - cgroup cgroup rw,memory\n"), 55000,
         "v1: a container's mount");
  ok(mill_memory_cgroup_free("/nowhere", "/nowhere") == UINT64_MAX, "no /proc");
}

int main(void)
{
  plan_later();
  if (!mkdtemp(folder))
    bail("no temporary folder");
  test_blocks();
  test_failures();
  test_untouched();
  test_threads();
  test_text();
  test_user();
  test_process();
  test_groups();
  char command[100];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  ok(system(command) == 0, "the temporary folder is removed");
  return done_testing();
}
