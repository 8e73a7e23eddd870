/* The comments of spikemill's own csv files, which say what the events alone can't. Part of csv.c, which includes it. */
#ifndef CSV_COMMENTS_H
#define CSV_COMMENTS_H

#include <stdlib.h>
#include <string.h>

#include "csv-columns.h"
#include "names.h"

#define MARK "# spikemill"

/* What a comment of ours says. Those from `spikes` on end the file. */
enum key { SEED, TICK, START, STOP, POPULATION, TYPE_NAME, CONFIG, SPIKES, HASH, STOPPED, COMPLETE, KEYS };
static const char *const keys[KEYS] = {"seed",   "tick_ps", "start_ms",   "stop_ms",    "population", "type",
                                       "config", "spikes",  "spike_hash", "stopped_ms", "complete"};

/* What the comments have said so far. */
struct comments {
  int ours, ended; /* they are spikemill's; those that end the file have begun */
  unsigned seen;   /* keys, a bit each */
  char *version, *config;
  size_t config_bytes, config_room;
  struct mill_stream_info info; /* tick_ps is set before */
  struct mill_stream_end end;
};

static int take_number(struct lines *in, const char *what, const char *text, uint64_t most, uint64_t *value)
{
  char shown[LINES_SHOWN];
  return decimal_unsigned(text, most, value)
             ? LINES_REFUSE(in, "%s is \"%s\"; expected a whole number from 0 to %" PRIu64, what, lines_show(shown, text), most)
             : 0;
}

/* Says why a time is none. */
static int refuse_time(struct lines *in, const char *what, const char *text, int64_t tick_ps, enum decimal_fault fault)
{
  char shown[LINES_SHOWN], tick[DECIMAL_TEXT];
  lines_show(shown, text);
  if (fault == DECIMAL_NONE && has_decimal_comma(text))
    return LINES_REFUSE(
        in,
        "%s is \"%s\", with a decimal comma; a comma separates columns in other files, so that it can't be read as a "
        "point: write decimal points",
        what, shown);
  if (fault == DECIMAL_NONE)
    return LINES_REFUSE(in, "%s is \"%s\"; expected a decimal number such as 12.5", what, shown);
  decimal_put_length(tick, tick_ps);
  if (fault == DECIMAL_LARGE)
    return LINES_REFUSE(in, "%s is \"%s\", which is too large in ticks of %s", what, shown, tick);
  return LINES_REFUSE(in, "%s is \"%s\", which is no whole number of ticks of %s", what, shown, tick);
}

/* The names for a message, as many as fit. */
static const char *list_names(char out[NAMES_LIST], const struct names *t)
{
  size_t n = (size_t)sprintf(out, "%s", t->count ? "" : "none, as the comments name none");
  for (uint32_t i = 0; i < t->count; i++) {
    if (n + LINES_SHOWN + 8 >= NAMES_LIST) {
      strcpy(out + n, ", \xe2\x80\xa6");
      break;
    }
    n += (size_t)sprintf(out + n, "%s", i ? ", " : "");
    n += strlen(lines_show(out + n, t->list[i].name));
  }
  return out;
}

/* A time in ms on the file's own grid. */
static int take_ms(struct lines *in, const char *what, const char *text, int64_t tick_ps, int64_t *tick)
{
  struct decimal d;
  enum decimal_fault fault = decimal_read(text, 9, &d);
  if (!fault)
    fault = decimal_tick(&d, tick_ps, 0, tick);
  return fault ? refuse_time(in, what, text, tick_ps, fault) : 0;
}

static int add_config(struct lines *in, struct comments *c, const char *line)
{
  size_t n = strlen(line);
  if (c->config_room - c->config_bytes < n + 2) {
    size_t room = 2 * c->config_room + n + 2;
    char *config = realloc(c->config, room);
    if (!config)
      return lines_no_memory(in);
    c->config = config;
    c->config_room = room;
  }
  memcpy(c->config + c->config_bytes, line, n);
  c->config_bytes += n + 1;
  memcpy(c->config + c->config_bytes - 1, "\n", 2);
  return 0;
}

/* "NAME SIZE" of a population, "NAME" of a type. */
static int take_name(struct lines *in, struct names *groups, int k, char *value)
{
  char shown[LINES_SHOWN], *field[2];
  uint64_t size = 1;
  uint32_t at;
  int fields = k == POPULATION ? 2 : 1;
  if (lines_split(value, ' ', field, 2) != fields || !*field[0])
    return LINES_REFUSE(in, "\"# %s\" needs a name%s; a name with blanks stands in quotes", keys[k],
                        k == POPULATION ? " and a size" : " alone");
  if (k == POPULATION && take_number(in, "the size of the population", field[1], UINT32_MAX, &size))
    return -1;
  if (names_find(groups, field[0], &at))
    return LINES_REFUSE(in, "a second %s \"%s\"", keys[k], lines_show(shown, field[0]));
  return names_add(groups, field[0], 0, (uint32_t)size) ? lines_no_memory(in) : 0;
}

static int take_hash(struct lines *in, const char *value, uint64_t *hash)
{
  char shown[LINES_SHOWN];
  if (strspn(value, "0123456789abcdef") != 16 || value[16])
    return LINES_REFUSE(in, "the hash is \"%s\"; expected 16 hexadecimal digits", lines_show(shown, value));
  for (*hash = 0; *value; value++)
    *hash = *hash << 4 | (unsigned)(*value <= '9' ? *value - '0' : *value - 'a' + 10);
  return 0;
}

/* The value of a key that may stand here. */
static int take_value(struct lines *in, struct comments *c, struct names *groups, int k, char *value)
{
  char shown[LINES_SHOWN], tick[DECIMAL_TEXT];
  uint64_t number = 0;
  switch (k) {
  case SEED:
    return take_number(in, "seed", value, UINT64_MAX, &c->info.seed);
  case TICK:
    if (take_number(in, "tick_ps", value, INT64_MAX, &number))
      return -1;
    if (!number)
      return LINES_REFUSE(in, "%s is 0; expected at least 1", keys[k]);
    if (c->info.tick_ps && c->info.tick_ps != (int64_t)number)
      return LINES_REFUSE(in, "the file has a tick of %" PRIu64 " ps, and --tick asks for %s; spikemill's own files keep theirs",
                          number, decimal_put_length(tick, c->info.tick_ps));
    c->info.tick_ps = (int64_t)number;
    return 0;
  case START:
    return take_ms(in, keys[k], value, c->info.tick_ps, &c->info.start);
  case STOP:
    return take_ms(in, keys[k], value, c->info.tick_ps, &c->info.stop);
  case POPULATION:
  case TYPE_NAME:
    if (c->seen & 1u << POPULATION && c->seen & 1u << TYPE_NAME)
      return LINES_REFUSE(in, "\"# %s\" beside \"# %s\"; a file has populations or types", keys[k],
                          keys[k == POPULATION ? TYPE_NAME : POPULATION]);
    return take_name(in, groups, k, value);
  case CONFIG:
    return add_config(in, c, value);
  case SPIKES:
    return take_number(in, "the number of spikes", value, UINT64_MAX, &c->end.events);
  case HASH:
    return take_hash(in, value, &c->end.spike_hash);
  case STOPPED:
    return take_ms(in, keys[k], value, c->info.tick_ps, &c->end.stop);
  default:
    c->end.complete = !strcmp(value, "yes");
    return c->end.complete || !strcmp(value, "no") ? 0 : LINES_REFUSE(in, "\"%s\"; expected yes or no", lines_show(shown, value));
  }
}

/* A comment, cut up in place; `head` is 1 before the line that names the columns. */
static int take_comment(struct lines *in, struct comments *c, struct names *groups, int head, char *line)
{
  char shown[LINES_SHOWN];
  size_t n = strlen(MARK);
  if (in->number == 1 && !strncmp(line, MARK, n) && (!line[n] || line[n] == ' ')) {
    c->ours = 1;
    c->version = strdup(line + n + (line[n] == ' '));
    return c->version ? 0 : lines_no_memory(in);
  }
  if (!c->ours)
    return 0;
  char *text = line + (line[1] == ' ' ? 2 : 1), *value = text + strcspn(text, " ");
  int k = 0;
  while (k < KEYS && (strlen(keys[k]) != (size_t)(value - text) || strncmp(text, keys[k], (size_t)(value - text))))
    k++;
  value += *value != 0;
  if (k == KEYS)
    return LINES_REFUSE(
        in,
        "the comment \"%s\" is unknown; expected seed, tick_ps, start_ms, stop_ms, population, type, config, spikes, "
        "spike_hash, stopped_ms or complete",
        lines_show(shown, text));
  if (k != POPULATION && k != TYPE_NAME && k != CONFIG && c->seen & 1u << k)
    return LINES_REFUSE(in, "a second \"# %s\"", keys[k]);
  if (k == TICK && c->seen & (1u << START | 1u << STOP))
    return LINES_REFUSE(in, "\"# %s\" must stand before the times", keys[k]);
  if ((k >= SPIKES) == head)
    return LINES_REFUSE(in, "\"# %s\" stands %s the spikes", keys[k], head ? "before" : "after");
  if (!c->info.tick_ps && (k == START || k == STOP || k == STOPPED))
    c->info.tick_ps = 1;
  c->seen |= 1u << k;
  c->ended = k >= SPIKES;
  return take_value(in, c, groups, k, value);
}

#endif
