/* Format "spk" (.spk .spk.txt): recordings of cultures on 60 electrodes (Wagenaar, Pine and Potter, BMC Neuroscience 7:11, 2006): one
   spike a line, its time in seconds with five decimals, which lie on the 40 µs grid of the sampling, and the number of the channel.
   The format has no header and no comments of its own, so that a writer must leave out much of what a stream may hold; it says so. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>

#include "decimal.h"
#include "lines.h"
#include "names.h"

#define SAMPLE_PS INT64_C(40000000) /* 40 µs */
#define SAMPLES_PER_S 25000

enum { BUFFER_BYTES = 1 << 16, LINE_BYTES = 64, LOST = 300 };

/* What the user says of a file. */
struct values {
  const char *tick;
};

static const struct mill_param_spec params[] = {
    {"tick", "", NULL, NULL, "length of a tick, \"20 us\"; else the 40 us of the format", 0, 0, offsetof(struct values, tick),
     MILL_TEXT, 0},
};

/* A line as the recordings have it: digits, a point, five decimals that lie on the grid; blanks; digits. */
static int is_exact_line(const char *s)
{
  size_t n = strspn(s, "0123456789");
  if (!n || s[n] != '.' || strspn(s + n + 1, "0123456789") != 5 || (10 * (s[n + 4] - '0') + s[n + 5] - '0') % 4)
    return 0;
  s += n + 6;
  size_t gap = strspn(s, " \t"), digits = strspn(s + gap, "0123456789");
  s += gap + digits;
  return gap && digits && !s[strspn(s, " \t")];
}

/* Other files have two columns of numbers, too: every line has to be as above, and few lines count less. */
static int probe(const unsigned char *head, size_t n)
{
  char text[LINES_MOST + 1], *at = text, *line;
  int whole_file = n < LINES_MOST, lines = 0;
  n = n < LINES_MOST ? n : LINES_MOST;
  memcpy(text, head, n);
  text[n] = 0;
  if (!strncmp(at, "\xef\xbb\xbf", 3))
    at += 3;
  for (; (line = lines_of_head(&at, whole_file)); lines++)
    if (!is_exact_line(line))
      return 0;
  return lines >= 3 ? 80 : lines ? 30 : 0;
}

/* Reading */

struct reader {
  struct lines in;
  struct names channels;
  int second_pass, given, sorted; /* given: the parameter `tick` is */
  int64_t tick_ps, last;
  uint64_t count, moved; /* events so far in this pass; those put on the grid from beside it */
};

static int take_time(struct reader *r, const char *text, int64_t *tick)
{
  struct lines *in = &r->in;
  char shown[LINES_SHOWN], length[DECIMAL_TEXT];
  struct decimal d;
  enum decimal_fault fault = decimal_read(text, 12, &d);
  if (!fault && d.negative && (d.ps || d.hundredths || d.more))
    return LINES_REFUSE(in, "the time is %s s; a recording begins at 0", lines_show(shown, text));
  if (!fault)
    fault = decimal_tick(&d, r->tick_ps, r->given, tick);
  lines_show(shown, text);
  decimal_put_length(length, r->tick_ps);
  switch (fault) {
  case DECIMAL_FINE:
    return 0;
  case DECIMAL_MOVED:
    r->moved++;
    return 0;
  case DECIMAL_NONE:
    return LINES_REFUSE(in, "the time is \"%s\"; expected seconds as a decimal number with a point, as in \"0.06012 56\"", shown);
  case DECIMAL_LARGE:
    return LINES_REFUSE(in, "the time %s s is too large in ticks of %s", shown, length);
  case DECIMAL_OFF:
    break;
  }
  if (r->given)
    return LINES_REFUSE(in, "the time %s s lies more than a hundredth of a tick beside the grid of %s that --tick asks for", shown,
                        length);
  return LINES_REFUSE(in,
                      "the time %s s does not lie on the grid of %s of such recordings; --tick names another, as in --tick 1us",
                      shown, length);
}

/* The place of a channel, which the first pass learns. */
static int take_channel(struct reader *r, const char *text, uint32_t *at)
{
  char shown[LINES_SHOWN], name[DECIMAL_TEXT];
  uint64_t channel;
  if (decimal_unsigned(text, UINT32_MAX, &channel))
    return LINES_REFUSE(&r->in, "the channel is \"%s\"; expected a whole number from 0 to %" PRIu32, lines_show(shown, text),
                        UINT32_MAX);
  *decimal_put_unsigned(name, channel) = 0;
  if (names_find(&r->channels, name, at))
    return 0;
  if (r->second_pass)
    return LINES_REFUSE(&r->in, "%s", "the file changed while it was read");
  *at = r->channels.count;
  if (*at == UINT32_MAX)
    return LINES_REFUSE(&r->in, "more than %" PRIu32 " channels", UINT32_MAX);
  return names_add(&r->channels, name, 0, 1) ? lines_no_memory(&r->in) : 0;
}

/* The next event of this pass. Returns 1, 0 at the end of the file, or -1. */
static int next_event(struct reader *r, struct mill_event *event)
{
  char *line = NULL, *field[2];
  uint32_t at = 0;
  int got = lines_next_content(&r->in, &line);
  if (got <= 0)
    return got;
  int n = lines_split(line, ' ', field, 2);
  if (n != 2)
    return LINES_REFUSE(&r->in, "%d columns; expected two between blanks, seconds and channel, as in \"0.06012 56\"",
                        n < 0 ? 1 : n);
  if (take_time(r, field[0], &event->tick) || take_channel(r, field[1], &at))
    return -1;
  event->unit = r->channels.list[at].first;
  event->reserved = 0;
  r->sorted &= !r->count || event->tick >= r->last;
  r->last = event->tick;
  r->count++;
  return 1;
}

static void reader_close(const struct mill_host *host, void *self)
{
  struct reader *r = self;
  lines_close(&r->in);
  names_free(&r->channels);
  host->release(r);
}

static int take_values(struct reader *r, const struct values *values)
{
  char shown[LINES_SHOWN];
  r->given = values->tick != NULL;
  if (r->given && decimal_length(values->tick, &r->tick_ps))
    return r->in.host->fail(r->in.error, MILL_USAGE, "%s: --tick %s: expected a time with its unit, such as \"40 us\" or \"1 us\"",
                            r->in.path, lines_show(shown, values->tick));
  return 0;
}

static int reader_open(const struct mill_host *host, const void *block, const char *path, struct mill_stream_info *info,
                       struct mill_stream_end *end, void **reader, struct mill_error *error)
{
  struct reader *r = host->allocate("spk reader", 1, sizeof *r);
  struct mill_event event;
  char length[DECIMAL_TEXT];
  int got;
  if (!r)
    return host->fail(error, MILL_RESOURCES, "%s: out of memory", path);
  r->in.host = host;
  r->in.error = error;
  r->tick_ps = SAMPLE_PS;
  r->sorted = 1;
  if (lines_open(&r->in, path) || take_values(r, block))
    goto failed;
  while ((got = next_event(r, &event)) > 0)
    ;
  if (got < 0)
    goto failed;
  if (!r->count) {
    host->fail(error, MILL_DATA, "%s: the file holds no event", path);
    goto failed;
  }
  names_sort(&r->channels);
  if (r->moved)
    host->note("%s: %" PRIu64 " of %" PRIu64
               " times lay beside the grid of %s, by a hundredth of a tick at most, and were put on it",
               path, r->moved, r->count, decimal_put_length(length, r->tick_ps));
  *info = (struct mill_stream_info){.tick_ps = r->tick_ps,
                                    .group_count = r->channels.count,
                                    .group = r->channels.list,
                                    .version = "",
                                    .config = "",
                                    .sorted = (uint32_t)r->sorted};
  *end = (struct mill_stream_end){.complete = 1};
  r->count = 0;
  r->second_pass = 1;
  if (lines_rewind(&r->in))
    goto failed;
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

/* Writing */

struct writer {
  const struct mill_host *host;
  struct mill_error *error; /* of the call being served */
  char *path;
  int fd;
  int64_t tick_ps, start, stop, last;
  uint64_t count;
  struct names channels;
  uint32_t silent; /* channels without an event so far; and of each whether it had one */
  unsigned char *heard;
  char lost[LOST]; /* what of the stream is left out */
  size_t used;
  char buffer[BUFFER_BYTES];
};

static void writer_abandon(const struct mill_host *host, void *self)
{
  struct writer *w = self;
  if (w->fd >= 0)
    close(w->fd);
  names_free(&w->channels);
  free(w->heard);
  free(w->path);
  host->release(w);
}

static int flush(struct writer *w)
{
  for (size_t at = 0; at < w->used;) {
    ssize_t n = write(w->fd, w->buffer + at, w->used - at);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return w->host->fail(w->error, MILL_RESOURCES, "cannot write %s: %s", w->path, strerror(errno));
    at += (size_t)n;
  }
  w->used = 0;
  return 0;
}

static int take_group(struct writer *w, const struct mill_group *group)
{
  const char *const other = "csv and binary can hold it";
  char shown[LINES_SHOWN];
  uint64_t number;
  uint32_t at;
  lines_show(shown, group->name);
  if (group->size != 1)
    return w->host->fail(w->error, MILL_DATA, "%s: the spk format holds channels, and \"%s\" has %" PRIu32 " neurons; %s", w->path,
                         shown, group->size, other);
  if (!names_is_number(group->name) || decimal_unsigned(group->name, UINT32_MAX, &number))
    return w->host->fail(w->error, MILL_DATA,
                         "%s: the spk format calls channels by whole numbers from 0 to %" PRIu32 ", and \"%s\" is none; %s",
                         w->path, UINT32_MAX, shown, other);
  if (names_find(&w->channels, group->name, &at))
    return w->host->fail(w->error, MILL_DATA, "%s: two channels are called \"%s\"", w->path, shown);
  if (names_add(&w->channels, group->name, group->first, 1))
    return w->host->fail(w->error, MILL_RESOURCES, "%s: out of memory", w->path);
  return 0;
}

static void lose(struct writer *w, int lost, const char *what)
{
  size_t n = strlen(w->lost);
  if (lost)
    snprintf(w->lost + n, sizeof w->lost - n, "%s%s", n ? ", " : "", what);
}

static int take_info(struct writer *w, const struct mill_stream_info *info)
{
  char text[LOST], length[DECIMAL_TEXT];
  int ordered = 1;
  for (uint32_t i = 0; i < info->group_count; i++) {
    if (take_group(w, &info->group[i]))
      return -1;
    ordered &= !i || names_order(info->group[i - 1].name, info->group[i].name) < 0;
  }
  snprintf(text, sizeof text, "the tick of %s", decimal_put_length(length, info->tick_ps));
  lose(w, info->tick_ps != SAMPLE_PS, text);
  lose(w, info->start || info->stop, "start and stop");
  lose(w, info->seed != 0, "the seed");
  lose(w, info->config && *info->config, "the configuration");
  lose(w, !ordered, "the order of the channels");
  return 0;
}

static int writer_create(const struct mill_host *host, const char *path, const struct mill_stream_info *info, void **writer,
                         struct mill_error *error)
{
  struct writer *w = host->allocate("spk writer", 1, sizeof *w);
  if (!w)
    return host->fail(error, MILL_RESOURCES, "%s: out of memory", path);
  w->host = host;
  w->error = error;
  w->tick_ps = info->tick_ps;
  w->start = info->start;
  w->stop = info->stop;
  w->silent = info->group_count;
  w->path = strdup(path);
  w->heard = calloc((size_t)info->group_count + 1, 1);
  w->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (!w->path || !w->heard) {
    host->fail(error, MILL_RESOURCES, "%s: out of memory", path);
  } else if (w->fd < 0) {
    host->fail(error, MILL_RESOURCES, "cannot write %s: %s", path, strerror(errno));
  } else if (!take_info(w, info)) {
    *writer = w;
    return 0;
  }
  writer_abandon(host, w);
  return -1;
}

/* What is wrong with the next event, or NULL; `sample` is its time in 40 µs. */
static const char *fault_of(const struct writer *w, const struct mill_event *e, uint64_t *sample)
{
  decimal_wide ps = (decimal_wide)(uint64_t)e->tick * (uint64_t)w->tick_ps;
  if (e->unit >= w->channels.count)
    return "the unit does not exist";
  if (w->count && e->tick < w->last)
    return "it is out of order";
  if ((w->start || w->stop) && (e->tick <= w->start || e->tick > w->stop))
    return "the tick lies outside (start, stop]";
  if (e->tick < 0)
    return "the time is negative, and the spk format begins at 0";
  if (ps % SAMPLE_PS)
    return "the time lies between the samples of the spk format, which are 40 us apart";
  if (ps / SAMPLE_PS > INT64_MAX)
    return "the time is too large for the spk format";
  *sample = (uint64_t)(ps / SAMPLE_PS);
  return NULL;
}

static int put_event(struct writer *w, const struct mill_event *e)
{
  uint64_t sample = 0;
  const char *fault = fault_of(w, e, &sample);
  if (fault)
    return w->host->fail(w->error, MILL_DATA, "%s: spike %" PRIu64 " (from 0), tick %" PRId64 ", unit %" PRIu32 ": %s", w->path,
                         w->count, e->tick, e->unit, fault);
  if (w->used + LINE_BYTES > BUFFER_BYTES && flush(w))
    return -1;
  w->used += (size_t)sprintf(w->buffer + w->used, "%" PRIu64 ".%05u %s\n", sample / SAMPLES_PER_S,
                             (unsigned)(sample % SAMPLES_PER_S) * 4, w->channels.list[e->unit].name);
  w->silent -= !w->heard[e->unit];
  w->heard[e->unit] = 1;
  w->last = e->tick;
  w->count++;
  return 0;
}

static int writer_write(void *self, const struct mill_event *events, size_t n, struct mill_error *error)
{
  struct writer *w = self;
  w->error = error;
  for (size_t i = 0; i < n; i++)
    if (put_event(w, &events[i])) {
      writer_abandon(w->host, w);
      return -1;
    }
  return 0;
}

/* One note of all that is left out. The path is that of a part file, ".NAME.NUMBERS.part". */
static void tell_lost(struct writer *w, const struct mill_stream_end *end)
{
  const char *slash = strrchr(w->path, '/'), *name = slash ? slash + 1 : w->path;
  size_t n = strlen(name);
  char text[64];
  snprintf(text, sizeof text, "%" PRIu32 " channel%s without events", w->silent, w->silent == 1 ? "" : "s");
  lose(w, w->silent > 0, text);
  lose(w, !end->complete, "that the run was interrupted");
  if (!*w->lost)
    return;
  if (*name == '.' && n > 6 && !strcmp(name + n - 5, ".part")) {
    n -= 5;
    while (n > 2 && name[n - 1] != '.')
      n--;
    name++;
    n -= 2;
  }
  w->host->note("%.*s: the spk format holds times and channels only; left out: %s", (int)n, name, w->lost);
}

static int writer_finish(const struct mill_host *host, void *self, const struct mill_stream_end *end, struct mill_error *error)
{
  struct writer *w = self;
  int result = -1, fd = w->fd;
  w->error = error;
  if (end->events != w->count)
    host->fail(error, MILL_DATA, "%s: %" PRIu64 " spikes written, %" PRIu64 " announced", w->path, w->count, end->events);
  else if (!w->count)
    host->fail(error, MILL_DATA, "%s: no events; the spk format can't tell an empty recording from a file that is lost", w->path);
  else if (!flush(w))
    result = 0;
  w->fd = -1;
  if (close(fd) && !result)
    result = host->fail(error, MILL_RESOURCES, "cannot write %s: %s", w->path, strerror(errno));
  if (!result)
    tell_lost(w, end);
  writer_abandon(host, w);
  return result;
}

static const struct mill_format_ops ops = {
    .extensions = ".spk .spk.txt",
    .probe = probe,
    .open = reader_open,
    .read = reader_read,
    .close = reader_close,
    .create = writer_create,
    .write = writer_write,
    .finish = writer_finish,
    .abandon = writer_abandon,
};

MILL_PLUGIN(MILL_FORMAT, MILL_CPU, "spk", "culture recordings: seconds and channel, on a 40 us grid (.spk .spk.txt)",
            sizeof(struct values), params, sizeof params / sizeof *params, ops);
