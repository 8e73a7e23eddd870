/* Reading of the csv format, and recognising it. The file is gone over twice: the first pass finds the types or populations, the tick
   and whether the events are in order, and checks every line; the second gives the events. So memory grows with the number of types only.
   Part of csv.c, which includes it. */
#ifndef CSV_READ_H
#define CSV_READ_H

#include "csv-comments.h"

/* What the user says of a file. */
struct values {
  const char *columns, *tick;
};

static const struct mill_param_spec params[] = {
    {"columns", "", NULL, NULL, "what a foreign file's columns hold: \"type,time_ms\"; - is one that isn't read", 0, 0,
     offsetof(struct values, columns), MILL_TEXT, 0},
    {"tick", "", NULL, NULL, "length of a tick, \"0.1 ms\"; else the finest decimal in the file", 0, 0,
     offsetof(struct values, tick), MILL_TEXT, 0},
};

static int probe(const unsigned char *head, size_t n)
{
  char text[LINES_MOST + 1], *at = text, *field[64], *line;
  struct layout layout;
  int whole_file = n < LINES_MOST;
  n = n < LINES_MOST ? n : LINES_MOST;
  memcpy(text, head, n);
  text[n] = 0;
  if (!strncmp(at, "\xef\xbb\xbf", 3))
    at += 3;
  if (!strncmp(at, MARK, strlen(MARK)) && strchr(" \r\n", at[strlen(MARK)]))
    return 100;
  line = lines_of_head(&at, whole_file);
  if (!line)
    return 0;
  layout.delimiter = lines_delimiter(line);
  int fields = lines_split(line, layout.delimiter, field, 64);
  if (fields < 2 || fields > 64)
    return 0;
  if (layout_find(&layout, field, fields, 0).fault == COLUMNS_FINE)
    return 90;
  for (int i = 0; i < fields; i++) /* of such a file the refusal tells what to do */
    if (column_of(field[i]).role == TIME || column_of(field[i]).role == NO_UNIT)
      return 50;
  return 0;
}

struct reader {
  struct lines in;
  struct comments comments;
  struct layout layout;
  struct names groups;
  int second_pass, begun, header; /* begun: a line with something on it has been; header: the first of them names the columns */
  int given;                      /* the parameter `tick` is */
  int place;                      /* of the finest decimal so far: 10^place ps */
  decimal_wide largest[2];        /* times that are not negative, and those that are, in ps; and their lines */
  uint64_t largest_line[2];
  int sorted;
  decimal_signed last;          /* time, in ticks or, when their length is not known, in ps */
  uint64_t count, moved;        /* events so far in this pass; those put on the grid from beside it */
  uint64_t hidden, hidden_line; /* comments of a foreign file that read as events; the line of the first */
  char *columns;                /* the parameter, cut up */
  char *field[FIELDS];
  char line[LINES_MOST + 1]; /* a copy of the first line, cut up */
};

static int refuse_count(struct reader *r, int n)
{
  const char *between = r->layout.delimiter == '\t'  ? "tabs"
                        : r->layout.delimiter == ';' ? "semicolons"
                        : r->layout.delimiter == ',' ? "commas"
                                                     : "blanks";
  if (n < 0)
    return LINES_REFUSE(&r->in, "%s", "quotes that do not match");
  return LINES_REFUSE(&r->in, "%d column%s; expected %d between %s%s", n, n == 1 ? "" : "s", r->layout.width, between,
                      r->columns ? ", as --columns says, where - stands for one that isn't read" : "");
}

/* The header of a file of which `columns` is given: skipped, unless it says something else. */
static int check_header(struct reader *r)
{
  char shown[LINES_SHOWN];
  int at = contradiction(&r->layout, r->field), known = 0;
  r->header = 1;
  for (int i = 0; i < r->layout.width; i++)
    known |= column_of(r->field[i]).role != UNKNOWN;
  if (!known)
    r->in.host->note("%s: line %" PRIu64 " was taken for a header and skipped, since \"%s\" is no time", r->in.path, r->in.number,
                     lines_show(shown, r->field[r->layout.place[TIME]]));
  if (at < 0)
    return 0;
  const char *said = at == r->layout.place[TIME]    ? time_name(r->layout.scale)
                     : at == r->layout.place[GROUP] ? "population"
                     : at == r->layout.place[INDEX] ? "neuron"
                                                    : "type";
  return LINES_REFUSE(&r->in, "the header calls column %d \"%s\", and --columns calls it %s; one of them is wrong", at + 1,
                      lines_show(shown, r->field[at]), said);
}

/* A line that names the columns. */
static int take_columns(struct reader *r, int n)
{
  struct layout given = r->layout;
  struct verdict v = layout_find(&r->layout, r->field, n, 0);
  r->header = 1;
  if (r->comments.ours && !r->comments.info.tick_ps)
    r->comments.info.tick_ps = 1;
  if (v.fault != COLUMNS_FINE)
    return refuse_columns(&r->in, r->field, n, r->layout.delimiter, v);
  if (r->columns &&
      (given.width != n || given.scale != r->layout.scale || memcmp(given.place, r->layout.place, sizeof given.place)))
    return LINES_REFUSE(&r->in, "%s",
                        "the file is spikemill's own and names its columns here, not as --columns does; leave that out");
  if (r->comments.ours && r->groups.count && (r->layout.place[TYPE] >= 0) != !!(r->comments.seen & 1u << TYPE_NAME))
    return LINES_REFUSE(&r->in, "the comments tell of %s, and this line does not",
                        r->comments.seen & 1u << TYPE_NAME ? "types" : "populations");
  return 0;
}

/* Without a column of populations there is one. */
static int settle_population(struct reader *r)
{
  if (r->layout.place[INDEX] < 0 || r->layout.place[GROUP] >= 0)
    return 0;
  if (r->comments.ours && r->groups.count != 1)
    return LINES_REFUSE(&r->in, "no column \"population\", and %" PRIu32 " populations to choose from", r->groups.count);
  return !r->comments.ours && names_add(&r->groups, "neurons", 0, 0) ? lines_no_memory(&r->in) : 0;
}

static int take_event(struct reader *r, char *line, struct mill_event *event);

/* The first line with something on it: names, or an event when `columns` is given. */
static int take_first(struct reader *r, char *line, struct mill_event *event)
{
  int width = r->layout.width, n;
  if (r->second_pass)
    return r->header ? 0 : take_event(r, line, event);
  r->layout.delimiter = lines_delimiter(line);
  if (r->columns && !r->comments.ours && r->layout.delimiter == ',') {
    const char *time = NULL;
    if (lines_split(strcpy(r->line, line), ' ', r->field, FIELDS) == width)
      time = r->field[r->layout.place[TIME]];
    if (time && has_decimal_comma(time))
      return refuse_time(&r->in, time_name(r->layout.scale), time, 1, DECIMAL_NONE);
  }
  n = lines_split(strcpy(r->line, line), r->layout.delimiter, r->field, FIELDS);
  if (n < 0)
    return refuse_count(r, n);
  if (!r->columns || r->comments.ours)
    return take_columns(r, n) || settle_population(r) ? -1 : 0;
  if (n != width)
    return refuse_count(r, n);
  if (settle_population(r))
    return -1;
  return is_name(r->field[r->layout.place[TIME]]) ? check_header(r) : take_event(r, line, event);
}

/* The time of an event: its tick, once the length of a tick is known. */
static int take_time(struct reader *r, const char *text, int64_t *tick)
{
  const char *what = time_name(r->layout.scale);
  char shown[LINES_SHOWN], length[DECIMAL_TEXT];
  struct decimal d;
  int64_t tick_ps = r->comments.info.tick_ps, start = r->comments.info.start, stop = r->comments.info.stop;
  int near = r->given && !r->comments.ours;
  enum decimal_fault fault = decimal_read(text, r->layout.scale, &d);
  decimal_signed now = d.negative ? -(decimal_signed)d.ps : (decimal_signed)d.ps;
  if (!fault && tick_ps)
    fault = decimal_tick(&d, tick_ps, near, tick);
  if (fault == DECIMAL_OFF && near)
    return LINES_REFUSE(&r->in, "%s is \"%s\", more than a hundredth of a tick beside the grid of %s that --tick asks for", what,
                        lines_show(shown, text), decimal_put_length(length, tick_ps));
  if (fault > DECIMAL_MOVED)
    return refuse_time(&r->in, what, text, tick_ps ? tick_ps : 1, fault);
  if (!tick_ps && (d.hundredths || d.more))
    return LINES_REFUSE(&r->in,
                        "%s is \"%s\", finer than a picosecond; if its last digits are noise, --tick 1us (or another time) puts "
                        "it on that grid",
                        what, lines_show(shown, text));
  if (tick_ps) {
    now = *tick;
    if ((start || stop) && (*tick <= start || *tick > stop))
      return LINES_REFUSE(&r->in, "the time %s lies outside (start_ms, stop_ms]", lines_show(shown, text));
  } else {
    r->place = d.place < r->place ? d.place : r->place;
    if (d.ps > r->largest[d.negative]) {
      r->largest[d.negative] = d.ps;
      r->largest_line[d.negative] = r->in.number;
    }
  }
  r->moved += fault == DECIMAL_MOVED;
  r->sorted &= !r->count || now >= r->last;
  r->last = now;
  return 0;
}

/* The group that is called `name`. Where the comments do not name the groups, the first pass learns them. */
static int take_group(struct reader *r, const char *name, uint32_t *at)
{
  int typed = r->layout.place[TYPE] >= 0;
  const char *what = typed ? "type" : "population";
  char shown[LINES_SHOWN], list[NAMES_LIST];
  if (names_find(&r->groups, name, at))
    return 0;
  if (r->second_pass)
    return LINES_REFUSE(&r->in, "%s", "the file changed while it was read");
  if (!*name)
    return LINES_REFUSE(&r->in, "the name of the %s is empty", what);
  if (r->comments.ours)
    return LINES_REFUSE(&r->in, "the %s \"%s\" is unknown; expected one of %s", what, lines_show(shown, name),
                        list_names(list, &r->groups));
  *at = r->groups.count;
  if (*at == UINT32_MAX)
    return LINES_REFUSE(&r->in, "more than %" PRIu32 " %ss", UINT32_MAX, what);
  return names_add(&r->groups, name, 0, typed) ? lines_no_memory(&r->in) : 0;
}

static int take_event(struct reader *r, char *line, struct mill_event *event)
{
  const struct layout *l = &r->layout;
  int name = l->place[TYPE] >= 0 ? l->place[TYPE] : l->place[GROUP];
  char shown[LINES_SHOWN];
  uint64_t index = 0;
  uint32_t at = 0;
  int n = lines_split(line, l->delimiter, r->field, FIELDS);
  if (n != l->width)
    return refuse_count(r, n);
  if (r->comments.ended)
    return LINES_REFUSE(&r->in, "%s", "an event after the comments that end the file");
  if (take_time(r, r->field[l->place[TIME]], &event->tick))
    return -1;
  if (name >= 0 && take_group(r, r->field[name], &at))
    return -1;
  if (l->place[INDEX] >= 0 && take_number(&r->in, "the neuron", r->field[l->place[INDEX]], UINT32_MAX - 1, &index))
    return -1;
  struct mill_group *group = &r->groups.list[at];
  if (index >= group->size) {
    if (r->comments.ours || r->second_pass)
      return LINES_REFUSE(&r->in, "the neuron %" PRIu64 " does not exist; \"%s\" has %" PRIu32, index,
                          lines_show(shown, group->name), group->size);
    group->size = (uint32_t)index + 1;
  }
  event->unit = group->first + (uint32_t)index;
  event->reserved = 0;
  r->count++;
  return 1;
}

/* A first line that is too long may have a column for each unit; then that is the reason that is told. */
static void explain_long(struct reader *r, char *line)
{
  char delimiter = lines_delimiter(line);
  size_t n = lines_good(line, strlen(line));
  int known = 0, names = 0, fields;
  if (*line == '#' || n + 3 < strlen(line))
    return;
  line[n] = 0;
  fields = lines_split(line, delimiter, r->field, FIELDS) - 1; /* the last one is cut */
  while (names < fields && *r->field[names] && !is_number(r->field[names]))
    known += column_of(r->field[names++]).role != UNKNOWN;
  if (!known && names >= 3)
    refuse_units(&r->in, r->field, names, delimiter, names < fields);
}

/* Counts a comment that would be an event without its mark: names of channels may begin with one. */
static void take_hidden(struct reader *r, const char *line)
{
  char copy[LINES_MOST + 1];
  if (r->comments.ours || !(r->begun || r->columns) || strlen(line) > LINES_MOST)
    return;
  const char delimiter = r->begun ? r->layout.delimiter : lines_delimiter(line);
  if (lines_split(strcpy(copy, line), delimiter, r->field, FIELDS) != r->layout.width ||
      !is_number(r->field[r->layout.place[TIME]]))
    return;
  if (!r->hidden++)
    r->hidden_line = r->in.number;
}

/* The next event of this pass. Returns 1, 0 at the end of the file, or -1. */
static int next_event(struct reader *r, struct mill_event *event)
{
  char *line = NULL;
  for (;;) {
    int got = lines_next(&r->in, &line);
    if (got < 0 && r->in.over_long && !r->begun && !r->columns)
      explain_long(r, r->in.over_long);
    if (got <= 0)
      return got;
    if (*line == '#') {
      if (!r->second_pass)
        take_hidden(r, line);
      got = r->second_pass ? 0 : take_comment(&r->in, &r->comments, &r->groups, !r->begun, line);
    } else if (!line[strspn(line, " \t")]) {
      got = 0;
    } else if (r->begun) {
      got = take_event(r, line, event);
    } else {
      r->begun = 1;
      got = take_first(r, line, event);
    }
    if (got)
      return got;
  }
}

/* The tick of a file that does not state it: its finest decimal, but not more than its unit. */
static int settle_tick(struct reader *r)
{
  char tick[DECIMAL_TEXT];
  int64_t ps = 1;
  for (int place = r->place < r->layout.scale ? r->place : r->layout.scale; place > 0; place--)
    ps *= 10;
  for (int negative = 0; negative < 2; negative++)
    if (r->largest[negative] / (uint64_t)ps > (decimal_wide)INT64_MAX + (unsigned)negative) {
      r->in.number = r->largest_line[negative];
      return LINES_REFUSE(&r->in,
                          "the time is too large in ticks of %s, the finest decimal in the file; --tick gives them another length",
                          decimal_put_length(tick, ps));
    }
  r->comments.info.tick_ps = ps;
  return 0;
}

/* What can be told only when the whole file has been seen. */
static int check_whole(struct reader *r)
{
  const struct comments *c = &r->comments;
  uint64_t units = 0;
  if (!r->in.number)
    return r->in.host->fail(r->in.error, MILL_DATA, "%s: the file is empty", r->in.path);
  if (!r->begun)
    return LINES_REFUSE(&r->in, "the file ends without %s", r->columns ? "an event" : "a line that names the columns");
  if (c->ours && (~c->seen & (1u << SPIKES | 1u << COMPLETE)))
    return LINES_REFUSE(&r->in, "%s", "cut short: the file ends without \"# spikes\" and \"# complete\"");
  if (c->ours && c->end.events != r->count)
    return LINES_REFUSE(&r->in, "\"# spikes\" says %" PRIu64 ", and there are %" PRIu64, c->end.events, r->count);
  if (c->info.start > c->info.stop)
    return LINES_REFUSE(&r->in, "start_ms lies after stop_ms (%" PRId64 " and %" PRId64 " ticks)", c->info.start, c->info.stop);
  if (!c->info.tick_ps && settle_tick(r))
    return -1;
  if (!c->ours && r->layout.place[TYPE] >= 0)
    names_sort(&r->groups);
  for (uint32_t i = 0; i < r->groups.count; i++) {
    r->groups.list[i].first = (uint32_t)units;
    units += r->groups.list[i].size;
    if (units > UINT32_MAX)
      return LINES_REFUSE(&r->in, "more than %" PRIu32 " neurons in all populations together", UINT32_MAX);
  }
  return 0;
}

static void tell(const struct reader *r, struct mill_stream_info *info, struct mill_stream_end *end)
{
  char tick[DECIMAL_TEXT];
  const struct comments *c = &r->comments;
  *info = c->info;
  info->group_count = r->groups.count;
  info->group = r->groups.list;
  info->version = c->version ? c->version : "";
  info->config = c->config ? c->config : "";
  info->sorted = (uint32_t)r->sorted;
  *end = c->end;
  if (r->hidden)
    r->in.host->note("%s: %" PRIu64
                     " line%s with # in front, which make%s a comment, would be events without it, the first in line %" PRIu64,
                     r->in.path, r->hidden, r->hidden == 1 ? "" : "s", r->hidden == 1 ? "s it" : " them", r->hidden_line);
  if (r->moved)
    r->in.host->note("%s: %" PRIu64 " of %" PRIu64
                     " times lay beside the grid of %s, by a hundredth of a tick at most, and were put on it",
                     r->in.path, r->moved, r->count, decimal_put_length(tick, info->tick_ps));
}

static void reader_close(const struct mill_host *host, void *self)
{
  struct reader *r = self;
  lines_close(&r->in);
  names_free(&r->groups);
  free(r->columns);
  free(r->comments.config);
  free(r->comments.version);
  host->release(r);
}

/* The parameters. */
static int take_values(struct reader *r, const struct values *values)
{
  char shown[LINES_SHOWN];
  if (values->tick && decimal_length(values->tick, &r->comments.info.tick_ps))
    return r->in.host->fail(r->in.error, MILL_USAGE,
                            "%s: --tick %s: expected a time with its unit, such as \"0.1 ms\" or \"40 us\"", r->in.path,
                            lines_show(shown, values->tick));
  r->given = values->tick != NULL;
  if (!values->columns)
    return 0;
  r->columns = strdup(values->columns);
  return r->columns ? columns_given(&r->in, r->columns, r->field, &r->layout) : lines_no_memory(&r->in);
}

static int reader_open(const struct mill_host *host, const void *block, const char *path, struct mill_stream_info *info,
                       struct mill_stream_end *end, void **reader, struct mill_error *error)
{
  struct reader *r = host->allocate("csv reader", 1, sizeof *r);
  struct mill_event event;
  int got;
  if (!r)
    return host->fail(error, MILL_RESOURCES, "%s: out of memory", path);
  r->in.host = host;
  r->in.error = error;
  r->place = 12;
  r->sorted = 1;
  r->comments.end.complete = 1;
  if (lines_open(&r->in, path) || take_values(r, block))
    goto failed;
  while ((got = next_event(r, &event)) > 0)
    ;
  if (got < 0 || check_whole(r))
    goto failed;
  tell(r, info, end);
  if (lines_rewind(&r->in))
    goto failed;
  r->second_pass = 1;
  r->begun = r->comments.ended = 0;
  *reader = r;
  return 0;
failed:
  reader_close(host, r);
  return -1;
}

static int reader_read(void *self, struct mill_event *buffer, size_t capacity, size_t *got, struct mill_error *error)
{
  struct reader *r = self;
  int one = 0;
  r->in.error = error;
  for (*got = 0; *got < capacity && (one = next_event(r, buffer + *got)) > 0;)
    ++*got;
  return one < 0 ? -1 : 0;
}

#endif
