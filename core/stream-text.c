/* What is said of a stream: the names of its units, and the one sentence that shows when a file was read in a wrong unit of time. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>
#include <string.h>

#include "stream.h"
#include "stream-private.h"
#include "text.h"

uint64_t mill_stream_units(const struct mill_stream_info *info)
{
  const struct mill_group *last = info->group_count ? &info->group[info->group_count - 1] : NULL;
  return last ? (uint64_t)last->first + last->size : 0;
}

const char *mill_stream_unit(const struct mill_stream_info *info, uint32_t unit, char *buffer, size_t size)
{
  static const char ellipsis[] = "…";
  const struct mill_group *group = &info->group[mill_group_of(info, unit, 0)];
  int n;
  if (group->size == 1)
    n = mill_text_format(buffer, size, "%s", group->name);
  else if (info->group_count == 1)
    n = mill_text_format(buffer, size, "%" PRIu32, unit);
  else
    n = mill_text_format(buffer, size, "%s:%" PRIu32, group->name, unit - group->first);
  if (n >= (int)size && size >= sizeof ellipsis)
    memcpy(buffer + mill_text_cut(buffer, size - sizeof ellipsis), ellipsis, sizeof ellipsis);
  return buffer;
}

int mill_stream_has_unit(const struct mill_stream_info *info, const char *name)
{
  for (uint32_t g = 0; g < info->group_count; g++) {
    const struct mill_group *group = &info->group[g];
    const size_t n = strlen(group->name);
    const char *digits = info->group_count == 1 ? name : strncmp(name, group->name, n) == 0 && name[n] == ':' ? name + n + 1 : NULL;
    char number[24];
    int64_t index;
    if (group->size == 1) {
      if (strcmp(name, group->name) == 0)
        return 1;
      continue;
    }
    if (!digits || mill_text_int(digits, &index) < 0 || index < 0 || index >= group->size)
      continue;
    mill_text_format(number, sizeof number, "%" PRId64, index);
    if (strcmp(number, digits) == 0)
      return 1;
  }
  return 0;
}

/* Units of time, and how many decimals a time in them has. */
static const struct time_unit {
  const char *name;
  double ps;
  int decimals;
} time_units[] = {{"s", 1e12, 3}, {"ms", 1e9, 3}, {"µs", 1e6, 3}, {"ns", 1e3, 3}, {"ps", 1, 0}};

/* The largest unit of which there is at least one in so many picoseconds. */
static const struct time_unit *unit_for(double ps)
{
  const struct time_unit *u = time_units;
  while (u->ps > ps && u->ps > 1)
    u++;
  return u;
}

static const char *time_text(char buffer[64], double ps, const struct time_unit *unit)
{
  mill_text_format(buffer, 64, ps != 0 ? "%.*f" : "0", unit->decimals, ps / unit->ps);
  return buffer;
}

char *mill_stream_describe(const struct mill_stream_info *info, uint64_t events, uint64_t units_with_events, int64_t first,
                           int64_t last, char *buffer, size_t size)
{
  const double ps = (double)info->tick_ps, from = (double)first * ps, to = (double)last * ps;
  const double span = (double)((uint64_t)last - (uint64_t)first) * ps;
  const struct time_unit *tick = unit_for(ps), *unit = unit_for(span > 0 ? span : to < 0 ? -to : to);
  char length[32], a[64], b[64], who[96];
  mill_text_double(length, ps / tick->ps);
  mill_text_format(who, sizeof who, "%" PRIu64 " event%s of %" PRIu64 " unit%s", events, events == 1 ? "" : "s", units_with_events,
                   units_with_events == 1 ? "" : "s");
  if (!events) {
    mill_text_format(buffer, size, "no events, tick %s %s", length, tick->name);
  } else if (first == last) {
    mill_text_format(buffer, size, "%s, %s %s %s, tick %s %s", who, events == 1 ? "at" : "all at", time_text(a, to, unit),
                     unit->name, length, tick->name);
  } else {
    const double rate = (double)events / (double)units_with_events / (span / 1e12);
    char hertz[64];
    mill_text_format(hertz, sizeof hertz, rate < 999.5 ? "%.3g" : "%.0f", rate);
    mill_text_format(buffer, size, "%s, %s … %s %s (span %.1f %s), %s Hz a unit, tick %s %s", who, time_text(a, from, unit),
                     time_text(b, to, unit), unit->name, span / unit->ps, unit->name, hertz, length, tick->name);
  }
  return buffer;
}
