/* How much memory a run may take. Overcommit makes an allocation succeed that later kills the process, so everything that can say no
   is asked first: the machine, the process's limits, the control groups it lives in, and the user. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "memory.h"
#include "registry.h"
#include "text.h"

#define NO_LIMIT UINT64_MAX

static uint64_t least(uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}

static uint64_t less(uint64_t a, uint64_t b)
{
  return a > b ? a - b : 0;
}

/* The number after `key` in a file of lines "key number …"; -1 when it is not there. */
static int read_field(const char *path, const char *key, uint64_t *value)
{
  FILE *file = fopen(path, "re");
  if (!file)
    return -1;
  char line[256];
  size_t n = strlen(key);
  int found = -1;
  while (found < 0 && fgets(line, sizeof line, file)) {
    if (strncmp(line, key, n) || !strchr(" \t:", line[n]))
      continue;
    const char *p = line + n + strspn(line + n, " \t:");
    char *end;
    *value = strtoull(p, &end, 10);
    found = end != p ? 0 : -1;
  }
  fclose(file);
  return found;
}

/* A file that holds one number, or "max". */
static int read_number(const char *path, uint64_t *value)
{
  FILE *file = fopen(path, "re");
  if (!file)
    return -1;
  char line[64];
  char *end = line;
  if (fgets(line, sizeof line, file)) {
    errno = 0;
    *value = strtoull(line, &end, 10);
    if (!strncmp(line, "max", 3) || errno == ERANGE) {
      *value = NO_LIMIT;
      end = line + 3;
    }
  }
  fclose(file);
  return end == line ? -1 : 0;
}

static uint64_t machine_free(void)
{
  uint64_t kilobytes;
  if (!read_field("/proc/meminfo", "MemAvailable", &kilobytes))
    return kilobytes << 10;
  long pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : NO_LIMIT;
}

static uint64_t limit_free(int resource, const char *used_field)
{
  struct rlimit limit;
  uint64_t kilobytes;
  if (getrlimit(resource, &limit) || limit.rlim_cur == RLIM_INFINITY)
    return NO_LIMIT;
  if (read_field("/proc/self/status", used_field, &kilobytes))
    return limit.rlim_cur;
  return less(limit.rlim_cur, kilobytes << 10);
}

/* ---- Control groups */

struct hierarchy {
  const char *limit, *used, *cache; /* file names, and the field of memory.stat that can be dropped */
};
static const struct hierarchy version2 = {"memory.max", "memory.current", "inactive_file"};
static const struct hierarchy version1 = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};

static uint64_t group_free(const char *folder, const struct hierarchy *h)
{
  char path[4200];
  uint64_t limit, used, cache = 0;
  snprintf(path, sizeof path, "%s/%s", folder, h->limit);
  if (read_number(path, &limit) || limit >= (uint64_t)INT64_MAX / 4096 * 4096) /* v1's "none" */
    return NO_LIMIT;
  snprintf(path, sizeof path, "%s/%s", folder, h->used);
  if (read_number(path, &used))
    return limit;
  snprintf(path, sizeof path, "%s/memory.stat", folder);
  (void)read_field(path, h->cache, &cache);
  return less(limit, less(used, cache));
}

/* The least headroom of the group at mount + path and those above it, up to the mount. */
static uint64_t groups_free(const char *mount, const char *path, const struct hierarchy *h)
{
  char folder[4096];
  size_t top = strlen(mount);
  if (snprintf(folder, sizeof folder, "%s%s", mount, strcmp(path, "/") ? path : "") >= (int)sizeof folder)
    return NO_LIMIT;
  uint64_t bytes = NO_LIMIT;
  for (;;) {
    bytes = least(bytes, group_free(folder, h));
    char *slash = strrchr(folder, '/');
    if (strlen(folder) <= top || !slash || slash < folder + top)
      return bytes;
    *slash = 0;
  }
}

/* mountinfo writes blanks, tabs, line ends and backslashes as three octal digits. */
static void unescape(char *s)
{
  char *out = s;
  while (*s)
    if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
      *out++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
      s += 4;
    } else
      *out++ = *s++;
  *out = 0;
}

static int has_item(const char *list, const char *item)
{
  size_t n = strlen(item);
  for (const char *p = list; p; p = strchr(p, ',')) {
    p += *p == ',';
    if (!strncmp(p, item, n) && (!p[n] || p[n] == ',' || p[n] == '\n'))
      return 1;
  }
  return 0;
}

/* Headroom of the group `path` in the mounted hierarchy of the given version. */
static uint64_t mounted_free(const char *mountinfo, int version, const char *path)
{
  FILE *file = fopen(mountinfo, "re");
  if (!file)
    return NO_LIMIT;
  char *line = NULL;
  size_t capacity = 0;
  uint64_t bytes = NO_LIMIT;
  while (getline(&line, &capacity, file) > 0) {
    char root[1024], mount[2048], type[64], options[1024];
    const char *tail = strstr(line, " - ");
    if (!tail || sscanf(line, "%*s %*s %*s %1023s %2047s", root, mount) != 2 ||
        sscanf(tail, " - %63s %*s %1023s", type, options) != 2)
      continue;
    if (strcmp(type, version == 2 ? "cgroup2" : "cgroup") || (version == 1 && !has_item(options, "memory")))
      continue;
    unescape(root);
    unescape(mount);
    /* A container may see its own group as the root of the mount. */
    size_t n = strcmp(root, "/") ? strlen(root) : 0;
    const char *below = !strncmp(path, root, n) && (!path[n] || path[n] == '/') ? path + n : "/";
    bytes = least(bytes, groups_free(mount, *below ? below : "/", version == 2 ? &version2 : &version1));
  }
  free(line);
  fclose(file);
  return bytes;
}

uint64_t mill_memory_cgroup_free(const char *cgroup, const char *mountinfo)
{
  FILE *file = fopen(cgroup, "re");
  if (!file)
    return NO_LIMIT;
  char *line = NULL;
  size_t capacity = 0;
  uint64_t bytes = NO_LIMIT;
  while (getline(&line, &capacity, file) > 0) {
    line[strcspn(line, "\n")] = 0;
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path)
      continue;
    *path++ = 0;
    controllers++;
    if (!strcmp(line, "0:") || !*controllers)
      bytes = least(bytes, mounted_free(mountinfo, 2, path));
    else if (has_item(controllers, "memory"))
      bytes = least(bytes, mounted_free(mountinfo, 1, path));
  }
  free(line);
  fclose(file);
  return bytes;
}

/* ---- The user */

int mill_memory_bytes(const char *text, uint64_t *bytes)
{
  static const char units[] = "KMGT";
  char number[64];
  size_t n = strlen(text);
  const char last = n ? (char)(text[n - 1] & ~0x20) : 0;
  const char *unit = last ? strchr(units, last) : NULL;
  double value, factor = 1;
  if (unit && n > 1) {
    n--;
    for (const char *u = units; u <= unit; u++)
      factor *= 1024;
  }
  if (n >= sizeof number)
    return -1;
  memcpy(number, text, n);
  number[n] = 0;
  if (mill_text_real(number, &value))
    return -1;
  value *= factor;
  if (!(value >= 0 && value < 9e18) || value != (double)(uint64_t)value)
    return -1;
  *bytes = (uint64_t)value;
  return 0;
}

int mill_memory_limit(uint64_t *bytes, struct mill_error *error)
{
  const char *text = getenv("SPIKEMILL_MEMORY");
  *bytes = NO_LIMIT;
  if (!text || !mill_memory_bytes(text, bytes))
    return 0;
  return mill_fail(error, MILL_USAGE, "SPIKEMILL_MEMORY = %s: expected a number of bytes, with K, M, G or T for powers of 1024",
                   text);
}

uint64_t mill_memory_free(void)
{
  uint64_t limit;
  struct mill_error error;
  if (mill_memory_limit(&limit, &error)) {
    mill_note("%s", error.text);
    return 0;
  }
  uint64_t bytes = machine_free();
  bytes = least(bytes, limit_free(RLIMIT_AS, "VmSize"));
  bytes = least(bytes, limit_free(RLIMIT_DATA, "VmData"));
  bytes = least(bytes, mill_memory_cgroup_free("/proc/self/cgroup", "/proc/self/mountinfo"));
  return limit == NO_LIMIT ? bytes : least(bytes, less(limit, mill_memory_held()));
}
