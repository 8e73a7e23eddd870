/* A spike file copied into another: piece by piece when the reader knows that it is in order, else by way of memory. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "output.h"
#include "stream.h"
#include "stream-private.h"

/* One copy. */
struct copy {
  struct mill_source source;
  struct mill_writer *writer;
  uint8_t *met; /* a bit for each unit that has fired */
  struct mill_event *chunk;
  struct mill_stream *stream; /* when it goes by way of memory */
  struct mill_tick_hash hash;
  struct mill_convert_report *report;
};

static int push(struct copy *c, const struct mill_event *event, size_t n, struct mill_error *error)
{
  struct mill_convert_report *r = c->report;
  if (n && !r->events)
    r->first = event[0].tick;
  if (n)
    r->last = event[n - 1].tick;
  r->events += n;
  for (size_t i = 0; i < n; i++) {
    uint32_t unit = event[i].unit;
    r->units += !(c->met[unit / 8] >> unit % 8 & 1);
    c->met[unit / 8] |= (uint8_t)(1 << unit % 8);
  }
  return mill_writer_push(c->writer, event, n, error);
}

/* From file to file. */
static int pass_on(struct copy *c, struct mill_error *error)
{
  size_t got;
  c->chunk = mill_allocate_or_fail("spikes to be copied", MILL_CHUNK, sizeof *c->chunk, error);
  if (!c->chunk || mill_tick_hash_begin(&c->hash, c->source.path, &c->source.info, error))
    return -1;
  do {
    if (mill_source_read(&c->source, c->chunk, MILL_CHUNK, &got, error) || mill_tick_hash_add(&c->hash, c->chunk, got, error) ||
        push(c, c->chunk, got, error))
      return -1;
  } while (got);
  return mill_source_check(&c->source, mill_tick_hash_end(&c->hash), error);
}

/* By way of memory. What the file holds is known to be sound before a new one is begun. */
static int load(struct copy *c, struct mill_error *error)
{
  struct mill_error why;
  if (!mill_source_load(&c->source, 0, &c->stream, &why)) {
    c->report->was_sorted = c->stream->was_sorted;
    return 0;
  }
  if (why.status == MILL_RESOURCES)
    return mill_fail(error, why.status,
                     "%s. Its events do not come in order of time, so that all of them must be held; give it more memory, or sort "
                     "the lines of the file by time first, as with LC_ALL=C sort -s -t, -k1,1g",
                     why.text);
  return mill_fail(error, why.status, "%s", why.text);
}

static int push_all(struct copy *c, struct mill_error *error)
{
  const struct mill_stream *s = c->stream;
  for (uint64_t at = 0; at < s->count; at += MILL_CHUNK) {
    if (c->source.interrupted && c->source.interrupted())
      return mill_fail(error, MILL_INTERRUPTED, "%s: interrupted after %" PRIu64 " events", c->source.path, at);
    if (push(c, s->event + at, s->count - at < MILL_CHUNK ? (size_t)(s->count - at) : MILL_CHUNK, error))
      return -1;
  }
  return 0;
}

int mill_stream_convert(const char *from, const struct mill_stream_options *options, const char *to, const char *writing,
                        int (*interrupted)(void), struct mill_convert_report *report, struct mill_error *error)
{
  const struct mill_plugin *plugin;
  struct copy c = {.report = report};
  int result = -1;
  *report = (struct mill_convert_report){.was_sorted = 1};
  if (mill_output_spares(to, from, error) || mill_format_find(to, writing, NULL, 1, &plugin, error) ||
      mill_source_open(from, options, &c.source, error))
    return -1;
  c.source.interrupted = interrupted;
  report->tick_ps = c.source.info.tick_ps;
  c.met = mill_allocate_or_fail("units of a spike file", c.source.units / 8 + 1, 1, error);
  if (!c.met || (!c.source.info.sorted && load(&c, error)) || mill_writer_open(to, plugin->name, &c.source.info, &c.writer, error))
    goto done;
  if (c.stream ? push_all(&c, error) : pass_on(&c, error))
    goto done;
  result = mill_writer_close(c.writer, &c.source.end, error);
  c.writer = NULL;
done:
  mill_writer_abandon(c.writer);
  mill_tick_hash_free(&c.hash);
  mill_stream_free(c.stream);
  mill_release(c.chunk);
  mill_release(c.met);
  mill_source_close(&c.source);
  return result;
}
