/* Reading of the csv format, and recognising it. The file is gone over twice: the first pass finds the groups, checks every line
   and sees how the file ends; the second gives the spikes. Without spikemill's comments the groups are the ones that appear, as
   large as their largest index asks, and a tick is 1 ps. Part of csv.c, which includes it. */
#ifndef CSV_READ_H
#define CSV_READ_H

enum { BUFFER_BYTES = 1 << 16, LINE_BYTES = 4096 };

#define MARK "# spikemill"
#define COLUMNS "expected time_ms (or time_s), neuron and, if there are several, population"

/* What a column holds; `scale` is the power of ten that makes its unit picoseconds. */
enum role { TIME, GROUP, INDEX, ROLES };
static const struct column {
  const char *name;
  enum role role;
  int scale;
} columns[] = {
    {"time_ms", TIME, 9},
    {"time_s", TIME, 12},
    {"population", GROUP, 0},
    {"neuron", INDEX, 0},
};

/* The columns of a file. */
struct layout {
  const struct column *column[ROLES];
  int place[ROLES], width; /* width 0: not known yet */
  char delimiter;
};

/* Reads the line that names the columns, in any order, in place. Returns -1 when it is none; *unknown is then the name that is no
   column's, or NULL. */
static int layout_find(struct layout *layout, char *line, const char **unknown)
{
  const char *delimiter = strpbrk(line, ",;\t");
  char *field[ROLES];
  *layout = (struct layout){.delimiter = delimiter ? *delimiter : ','};
  *unknown = NULL;
  int n = csv_split(line, layout->delimiter, field, ROLES);
  for (int i = 0; i < n && i < ROLES; i++) {
    const struct column *c = columns, *end = columns + sizeof columns / sizeof *columns;
    while (c < end && strcmp(c->name, field[i]))
      c++;
    if (c == end)
      *unknown = field[i];
    if (c == end || layout->column[c->role])
      return -1;
    layout->column[c->role] = c;
    layout->place[c->role] = i;
  }
  layout->width = n;
  return n > ROLES || !layout->column[TIME] || !layout->column[INDEX] ? -1 : 0;
}

static int probe(const unsigned char *head, size_t n)
{
  char text[LINE_BYTES + 1], *line = text;
  struct layout layout;
  const char *unknown;
  n = n < LINE_BYTES ? n : LINE_BYTES;
  memcpy(text, head, n);
  text[n] = 0;
  if (!strncmp(line, "\xef\xbb\xbf", 3))
    line += 3;
  if (!strncmp(line, MARK, strlen(MARK)) && strchr(" \r\n", line[strlen(MARK)]))
    return 100;
  for (;;) {
    size_t length = strcspn(line, "\r\n");
    if (!line[length])
      return 0;
    line[length] = 0;
    if (*line && *line != '#')
      return layout_find(&layout, line, &unknown) ? 0 : 90;
    line += length + 1;
  }
}

/* What a comment of ours says. Those from `spikes` on end the file. */
enum key { SEED, TICK, START, STOP, POPULATION, CONFIG, SPIKES, HASH, STOPPED, COMPLETE, KEYS };
static const char *const keys[KEYS] = {"seed",   "tick_ps", "start_ms",   "stop_ms",    "population",
                                       "config", "spikes",  "spike_hash", "stopped_ms", "complete"};

struct reader {
  const struct mill_host *host;
  struct mill_error *error; /* of the call being served */
  char *path;
  int fd, end_of_file;
  char end_of_line;
  int second_pass, ours, ended; /* ours: the comments are spikemill's; ended: those that end the file have begun */
  uint64_t line, count;         /* lines and spikes so far in this pass */
  unsigned seen;                /* keys, a bit each */
  struct layout layout;
  struct csv_groups groups;
  uint32_t at; /* sorted place of the last spike's group */
  struct mill_stream_info info;
  struct mill_stream_end end;
  char *config;
  size_t config_bytes, config_room;
  char *version;
  size_t from, to; /* what is unread of the buffer */
  char buffer[BUFFER_BYTES + 1];
};

#define REFUSE(r, format, ...) (r)->host->fail((r)->error, MILL_DATA, "%s:%" PRIu64 ": " format, (r)->path, (r)->line, __VA_ARGS__)

static int no_memory(struct reader *r)
{
  return r->host->fail(r->error, MILL_RESOURCES, "%s: out of memory", r->path);
}

static int fill(struct reader *r)
{
  memmove(r->buffer, r->buffer + r->from, r->to - r->from);
  r->to -= r->from;
  r->from = 0;
  ssize_t n;
  do
    n = read(r->fd, r->buffer + r->to, BUFFER_BYTES - r->to);
  while (n < 0 && errno == EINTR);
  if (n < 0)
    return r->host->fail(r->error, MILL_DATA, "%s: cannot read the file: %s", r->path, strerror(errno));
  r->end_of_file = !n;
  r->to += (size_t)n;
  return 0;
}

/* Starts a pass: skips a byte-order mark and finds out how lines end. */
static int rewind_file(struct reader *r)
{
  r->from = r->to = r->line = r->count = r->at = 0;
  r->layout.width = 0;
  if (lseek(r->fd, 0, SEEK_SET))
    return r->host->fail(r->error, MILL_DATA, "%s: cannot read the file: %s", r->path, strerror(errno));
  do
    if (fill(r))
      return -1;
  while (!r->end_of_file && r->to < BUFFER_BYTES);
  if (r->to >= 3 && !memcmp(r->buffer, "\xef\xbb\xbf", 3))
    r->from = 3;
  r->buffer[r->to] = 0;
  const char *end = r->buffer + strcspn(r->buffer, "\r\n");
  r->end_of_line = *end == '\r' && end[1] != '\n' ? '\r' : '\n';
  return 0;
}

/* The next line without its end, checked to be text. Returns 1, 0 at the end of the file, or -1. */
static int next_line(struct reader *r, char **line)
{
  for (;;) {
    char *begin = r->buffer + r->from;
    size_t have = r->to - r->from;
    char *end = memchr(begin, r->end_of_line, have < LINE_BYTES + 2 ? have : LINE_BYTES + 2);
    if (!end && have < LINE_BYTES + 2 && !r->end_of_file) {
      if (fill(r))
        return -1;
      continue;
    }
    if (!have)
      return 0;
    r->line++;
    size_t length = end ? (size_t)(end - begin) : have;
    r->from += length + (end != NULL);
    if (length && r->end_of_line == '\n' && begin[length - 1] == '\r')
      length--;
    if (length > LINE_BYTES)
      return REFUSE(r, "the line has more than %d bytes", LINE_BYTES);
    begin[length] = 0;
    size_t good = csv_text_good(begin, length);
    if (good < length)
      return REFUSE(r, "byte %zu of the line is 0x%02x; expected UTF-8 text without control characters", good + 1,
                    (unsigned char)begin[good]);
    *line = begin;
    return 1;
  }
}

static int take_number(struct reader *r, const char *what, const char *text, uint64_t most, uint64_t *value)
{
  char shown[CSV_SHOWN];
  return csv_unsigned(text, most, value)
             ? REFUSE(r, "%s is \"%s\"; expected a whole number from 0 to %" PRIu64, what, csv_show(shown, text), most)
             : 0;
}

static int take_time(struct reader *r, const char *what, const char *text, int scale, int64_t *tick)
{
  char shown[CSV_SHOWN];
  switch (csv_time(text, scale, r->info.tick_ps, tick)) {
  case CSV_FINE:
    return 0;
  case CSV_NO_DECIMAL:
    return REFUSE(r, "%s is \"%s\"; expected a decimal number such as 12.5", what, csv_show(shown, text));
  case CSV_NO_PICOSECONDS:
    return REFUSE(r, "%s is \"%s\", which is no whole number of picoseconds", what, csv_show(shown, text));
  case CSV_NO_TICKS:
    return REFUSE(r, "%s is \"%s\", which is no whole number of ticks of %" PRId64 " ps", what, csv_show(shown, text),
                  r->info.tick_ps);
  case CSV_TOO_LARGE:
    return REFUSE(r, "%s is \"%s\", which is too large in ticks of %" PRId64 " ps", what, csv_show(shown, text), r->info.tick_ps);
  }
  return 0;
}

static int add_config(struct reader *r, const char *line)
{
  size_t n = strlen(line);
  if (r->config_room - r->config_bytes < n + 2) {
    size_t room = 2 * r->config_room + n + 2;
    char *config = realloc(r->config, room);
    if (!config)
      return no_memory(r);
    r->config = config;
    r->config_room = room;
  }
  memcpy(r->config + r->config_bytes, line, n);
  r->config_bytes += n + 1;
  memcpy(r->config + r->config_bytes - 1, "\n", 2);
  return 0;
}

/* The words after "# " in a comment of ours. */
static int take_key(struct reader *r, char *text)
{
  static const char *const what[KEYS] = {
      "seed", "tick_ps", "start_ms", "stop_ms", "the size of the population", "", "the number of spikes", "", "stopped_ms", ""};
  char shown[CSV_SHOWN], *field[2], *value = text + strcspn(text, " ");
  uint64_t number = 0;
  uint32_t at;
  int k = 0;
  value += *value != 0;
  while (k < KEYS && (strncmp(text, keys[k], strlen(keys[k])) || (text[strlen(keys[k])] && text[strlen(keys[k])] != ' ')))
    k++;
  if (k == KEYS)
    return REFUSE(r,
                  "the comment \"%s\" is unknown; expected seed, tick_ps, start_ms, stop_ms, population, config, spikes, "
                  "spike_hash, stopped_ms or complete",
                  csv_show(shown, text));
  if (k != POPULATION && k != CONFIG && r->seen & 1u << k)
    return REFUSE(r, "a second \"# %s\"", keys[k]);
  if (k == TICK && r->seen & (1u << START | 1u << STOP))
    return REFUSE(r, "\"# %s\" must stand before the times", keys[k]);
  if ((k >= SPIKES) != (r->layout.width != 0))
    return REFUSE(r, "\"# %s\" stands %s the spikes", keys[k], k >= SPIKES ? "before" : "after");
  r->seen |= 1u << k;
  r->ended = k >= SPIKES;
  switch (k) {
  case SEED:
    return take_number(r, what[k], value, UINT64_MAX, &r->info.seed);
  case TICK:
    if (take_number(r, what[k], value, INT64_MAX, &number))
      return -1;
    r->info.tick_ps = (int64_t)number;
    return number ? 0 : REFUSE(r, "%s is 0; expected at least 1", what[k]);
  case START:
    return take_time(r, what[k], value, 9, &r->info.start);
  case STOP:
    return take_time(r, what[k], value, 9, &r->info.stop);
  case POPULATION:
    if (csv_split(value, ' ', field, 2) != 2 || !*field[0])
      return REFUSE(r, "%s", "\"# population\" needs a name and a size; a name with blanks stands in quotes");
    if (take_number(r, what[k], field[1], UINT32_MAX, &number))
      return -1;
    if (csv_groups_find(&r->groups, field[0], &at))
      return REFUSE(r, "a second population \"%s\"", csv_show(shown, field[0]));
    return csv_groups_add(&r->groups, at, field[0], 0, (uint32_t)number) ? no_memory(r) : 0;
  case CONFIG:
    return add_config(r, value);
  case SPIKES:
    return take_number(r, what[k], value, UINT64_MAX, &r->end.events);
  case HASH:
    if (strspn(value, "0123456789abcdef") != 16 || value[16])
      return REFUSE(r, "the hash is \"%s\"; expected 16 hexadecimal digits", csv_show(shown, value));
    for (; *value; value++)
      r->end.spike_hash = r->end.spike_hash << 4 | (unsigned)(*value <= '9' ? *value - '0' : *value - 'a' + 10);
    return 0;
  case STOPPED:
    return take_time(r, what[k], value, 9, &r->end.stop);
  default:
    r->end.complete = !strcmp(value, "yes");
    return r->end.complete || !strcmp(value, "no") ? 0 : REFUSE(r, "\"%s\"; expected yes or no", csv_show(shown, value));
  }
}

static int take_comment(struct reader *r, char *line)
{
  size_t n = strlen(MARK);
  if (r->second_pass)
    return 0;
  if (r->line == 1 && !strncmp(line, MARK, n) && (!line[n] || line[n] == ' ')) {
    r->ours = 1;
    r->version = strdup(line + n + (line[n] == ' '));
    return r->version ? 0 : no_memory(r);
  }
  if (!r->ours)
    return 0;
  return take_key(r, line + (line[1] == ' ' ? 2 : 1));
}

static int take_columns(struct reader *r, char *line)
{
  char shown[CSV_SHOWN];
  const char *unknown;
  if (layout_find(&r->layout, line, &unknown))
    return unknown ? REFUSE(r, "the header names a column \"%s\"; " COLUMNS, csv_show(shown, unknown))
                   : REFUSE(r, "the header lacks a column or has one twice; " COLUMNS "%s", "");
  if (r->layout.column[GROUP] || r->second_pass)
    return 0;
  if (r->ours && r->groups.count != 1)
    return REFUSE(r, "no column \"population\", and %" PRIu32 " populations to choose from", r->groups.count);
  return !r->ours && csv_groups_add(&r->groups, 0, "neurons", 0, 0) ? no_memory(r) : 0;
}

/* The group of a spike. Where the comments do not name the groups, the first pass learns them. */
static int take_group(struct reader *r, const char *name)
{
  char shown[CSV_SHOWN], names[CSV_NAMES];
  struct csv_groups *g = &r->groups;
  if (r->at < g->count && !strcmp(g->list[g->sorted[r->at]].name, name))
    return 0;
  if (csv_groups_find(g, name, &r->at))
    return 0;
  if (r->ours || r->second_pass)
    return REFUSE(r, "the population \"%s\" is unknown; expected one of %s", csv_show(shown, name), csv_groups_names(names, g));
  if (!*name)
    return REFUSE(r, "%s", "the name of the population is empty");
  return csv_groups_add(g, r->at, name, 0, 0) ? no_memory(r) : 0;
}

static int take_spike(struct reader *r, char *line, struct mill_event *event)
{
  const struct layout *l = &r->layout;
  char *field[ROLES], shown[CSV_SHOWN];
  uint64_t index;
  int n = csv_split(line, l->delimiter, field, ROLES);
  if (n < 0)
    return REFUSE(r, "%s", "quotes that do not match");
  if (n != l->width)
    return REFUSE(r, "%d columns; expected %d", n, l->width);
  if (r->ended)
    return REFUSE(r, "%s", "a spike after the comments that end the file");
  if (take_time(r, l->column[TIME]->name, field[l->place[TIME]], l->column[TIME]->scale, &event->tick))
    return -1;
  if ((r->info.start || r->info.stop) && (event->tick <= r->info.start || event->tick > r->info.stop))
    return REFUSE(r, "the time %s lies outside (start_ms, stop_ms]", csv_show(shown, field[l->place[TIME]]));
  if (l->column[GROUP] && take_group(r, field[l->place[GROUP]]))
    return -1;
  if (take_number(r, "the neuron", field[l->place[INDEX]], UINT32_MAX - 1, &index))
    return -1;
  if (r->at >= r->groups.count)
    return REFUSE(r, "%s", "the file changed while it was read");
  struct mill_group *group = &r->groups.list[r->groups.sorted[r->at]];
  if (index >= group->size) {
    if (r->ours || r->second_pass)
      return REFUSE(r, "the neuron %" PRIu64 " does not exist; \"%s\" has %" PRIu32, index, csv_show(shown, group->name),
                    group->size);
    group->size = (uint32_t)index + 1;
  }
  event->unit = group->first + (uint32_t)index;
  event->reserved = 0;
  r->count++;
  return 1;
}

/* The next spike of this pass. Returns 1, 0 at the end of the file, or -1. */
static int next_spike(struct reader *r, struct mill_event *event)
{
  char *line = NULL;
  for (;;) {
    int got = next_line(r, &line);
    if (got <= 0)
      return got;
    if (*line == '#')
      got = take_comment(r, line);
    else if (line[strspn(line, " \t")])
      got = r->layout.width ? take_spike(r, line, event) : take_columns(r, line);
    else
      got = 0;
    if (got)
      return got;
  }
}

/* What can be told only when the whole file has been seen. */
static int check_whole(struct reader *r)
{
  uint64_t units = 0;
  if (!r->layout.width)
    return REFUSE(r, "%s", "the file ends without a header; expected \"time_ms,population,neuron\"");
  if (r->ours && (~r->seen & (1u << SPIKES | 1u << COMPLETE)))
    return REFUSE(r, "%s", "cut short: the file ends without \"# spikes\" and \"# complete\"");
  if (r->ours && r->end.events != r->count)
    return REFUSE(r, "\"# spikes\" says %" PRIu64 ", and there are %" PRIu64, r->end.events, r->count);
  if (r->info.start > r->info.stop)
    return REFUSE(r, "start_ms lies after stop_ms (%" PRId64 " and %" PRId64 " ticks)", r->info.start, r->info.stop);
  for (uint32_t i = 0; i < r->groups.count; i++) {
    r->groups.list[i].first = (uint32_t)units;
    units += r->groups.list[i].size;
    if (units > UINT32_MAX)
      return REFUSE(r, "more than %" PRIu32 " neurons in all populations together", UINT32_MAX);
  }
  r->info.group_count = r->groups.count;
  r->info.group = r->groups.list;
  r->info.version = r->version ? r->version : "";
  r->info.config = r->config ? r->config : "";
  return 0;
}

static void reader_close(const struct mill_host *host, void *self)
{
  struct reader *r = self;
  if (r->fd >= 0)
    close(r->fd);
  csv_groups_free(&r->groups);
  free(r->config);
  free(r->version);
  free(r->path);
  host->release(r);
}

static int reader_open(const struct mill_host *host, const void *params, const char *path, struct mill_stream_info *info,
                       struct mill_stream_end *end, void **reader, struct mill_error *error)
{
  (void)params;
  struct reader *r = host->allocate("csv reader", 1, sizeof *r);
  struct mill_event event;
  struct stat status;
  int got;
  if (!r)
    return host->fail(error, MILL_RESOURCES, "%s: out of memory", path);
  r->host = host;
  r->error = error;
  r->info.tick_ps = 1;
  r->end.complete = 1;
  r->path = strdup(path);
  r->fd = open(path, O_RDONLY | O_CLOEXEC);
  if (!r->path) {
    host->fail(error, MILL_RESOURCES, "%s: out of memory", path);
    goto failed;
  }
  if (r->fd < 0 || fstat(r->fd, &status)) {
    host->fail(error, MILL_DATA, "%s: cannot open the file: %s", path, strerror(errno));
    goto failed;
  }
  if (!S_ISREG(status.st_mode)) {
    host->fail(error, MILL_DATA, "%s: not a regular file", path);
    goto failed;
  }
  if (rewind_file(r))
    goto failed;
  while ((got = next_spike(r, &event)) > 0)
    ;
  if (got < 0 || check_whole(r) || rewind_file(r))
    goto failed;
  r->second_pass = 1;
  r->ended = 0;
  *info = r->info;
  *end = r->end;
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
  r->error = error;
  for (*got = 0; *got < capacity && (one = next_spike(r, buffer + *got)) > 0;)
    ++*got;
  return one < 0 ? -1 : 0;
}

#endif
