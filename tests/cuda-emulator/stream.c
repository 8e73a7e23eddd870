/* Streams and events: what a stream is given comes after what it was given before and after the events it waits for. It is done at once, or
   with EMULATOR_LAZY as late as the driver may: when somebody waits for it. During a capture it goes into a graph. */
#include "emulator.h"

#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)
#define DECLARE_(name, symbol, parameters) int symbol parameters;
MILL_CUDA_DRIVER_TABLE(DECLARE_)
#pragma GCC visibility pop

struct CUstream_st {
  struct CUstream_st *next;
  unsigned flags;
  struct emu_set last;        /* its last operations in `pending` */
  struct CUgraph_st *capture; /* NULL: none */
  int origin;                 /* 1: the capture began here */
  struct emu_set captured;    /* its last operations in the capture */
};
struct CUevent_st {
  struct CUevent_st *next;
  struct CUgraph_st *capture; /* that it was recorded in */
  struct emu_set after;
};
static struct CUstream_st legacy, *streams = &legacy; /* the default stream, which NULL means, is always the last in the list */
static struct CUevent_st *events;
static struct CUgraph_st pending;

static struct CUstream_st *stream_of(mill_cu_stream stream)
{
  struct CUstream_st *s = streams;
  if (!stream)
    return &legacy;
  while (s && s != stream)
    s = s->next;
  return s == &legacy ? NULL : s;
}

int emu_stream_valid(const struct CUstream_st *stream)
{
  return stream_of((mill_cu_stream)(uintptr_t)stream) != NULL;
}

static struct CUevent_st *event_of(mill_cu_event event)
{
  struct CUevent_st *e = events;
  while (e && e != event)
    e = e->next;
  return e;
}

int emu_capturing(const struct CUstream_st *stream)
{
  return stream && stream->capture != NULL;
}

int emu_captures(void)
{
  for (const struct CUstream_st *s = streams; s; s = s->next)
    if (s->capture)
      return 1;
  return 0;
}

int emu_disturb(void)
{
  for (struct CUstream_st *s = streams; s; s = s->next)
    if (s->capture)
      s->capture->spoiled = 1;
  return EMU_CAPTURE_UNSUPPORTED;
}

static int blocking(const struct CUstream_st *s)
{
  return !(s->flags & MILL_CU_STREAM_NON_BLOCKING);
}

/* Runs what comes before; forgets the list once all of it is done. */
static void run(const struct emu_set *last)
{
  emu_graph_run(&pending, last);
  for (unsigned i = 0; i < pending.count; i++)
    if (!pending.node[i].done)
      return;
  emu_graph_clear(&pending);
  for (struct CUstream_st *s = streams; s; s = s->next)
    s->last.count = 0;
  for (struct CUevent_st *e = events; e; e = e->next)
    if (!e->capture)
      e->after.count = 0;
}

void emu_streams_wait(void)
{
  run(NULL);
}

/* What an operation of `s` comes after: the default stream and those that do not ignore it wait for each other. */
static void before(const struct CUstream_st *s, struct emu_set *after)
{
  emu_set_join(after, &s->last);
  for (const struct CUstream_st *other = streams; blocking(s) && other; other = other->next)
    if (other != s && blocking(other) && (s == &legacy || other == &legacy))
      emu_set_join(after, &other->last);
}

int emu_legacy_wait(void)
{
  struct emu_set after = {0, 0, NULL};
  before(&legacy, &after);
  run(&after);
  emu_set_free(&after);
  return emu_broken();
}

/* Gives it to the stream. `now`: it is finished on return. */
static void give(struct CUstream_st *s, const struct emu_operation *operation, int now)
{
  struct emu_set after = {0, 0, NULL};
  if (s->capture) {
    emu_set_one(&s->captured, emu_graph_add(s->capture, operation, &s->captured));
    return;
  }
  before(s, &after);
  emu_set_one(&s->last, emu_graph_add(&pending, operation, &after));
  emu_set_free(&after);
  if (now || !emu_setting("EMULATOR_LAZY", 0))
    run(&s->last);
}

void emu_stream_give(struct CUstream_st *stream, const struct emu_operation *operation)
{
  give(stream_of(stream), operation, 0);
}

/* ---- Operations ---- */

static int copy(enum emu_kind kind, mill_cu_address device, void *host, uint64_t bytes, unsigned char value, mill_cu_stream stream)
{
  int code = emu_enter(1), pageable;
  struct CUstream_st *s = stream_of(stream);
  struct emu_operation q = {.kind = kind, .device = device, .host = host, .bytes = bytes, .value = value};
  if (!code && !s)
    code = EMU_INVALID_HANDLE;
  if (!code && bytes && ((kind != EMU_FILL && !host) || !emu_reaches(device, bytes)))
    code = EMU_INVALID_VALUE;
  if (!code && s->capture && s->capture->spoiled)
    code = EMU_CAPTURE_INVALIDATED;
  if (!code && bytes) {
    pageable = kind != EMU_FILL && kind != EMU_COPY && !emu_pinned(host, bytes);
    /* Ordinary host memory is read before the call returns, and has been written to when it returns. */
    if (pageable && kind == EMU_UPLOAD && !s->capture && emu_setting("EMULATOR_LAZY", 0))
      q.host = q.owned = memcpy(emu_more(NULL, bytes), host, bytes);
    if (kind == EMU_UPLOAD)
      emu_sent(bytes);
    give(s, &q, pageable && kind == EMU_DOWNLOAD);
  }
  return emu_leave(code);
}

int cuMemcpyHtoDAsync_v2(mill_cu_address to, const void *from, size_t bytes, mill_cu_stream stream)
{
  return copy(EMU_UPLOAD, to, (void *)(uintptr_t)from, bytes, 0, stream);
}

int cuMemcpyDtoHAsync_v2(void *to, mill_cu_address from, size_t bytes, mill_cu_stream stream)
{
  return copy(EMU_DOWNLOAD, from, to, bytes, 0, stream);
}

int cuMemcpyDtoDAsync_v2(mill_cu_address to, mill_cu_address from, size_t bytes, mill_cu_stream stream)
{
  return copy(EMU_COPY, to, (void *)(uintptr_t)from, bytes, 0, stream);
}

int cuMemsetD8Async(mill_cu_address to, unsigned char value, size_t bytes, mill_cu_stream stream)
{
  return copy(EMU_FILL, to, NULL, bytes, value, stream);
}

/* Copies of the parameters, each aligned for any type. */
static void keep_parameters(struct emu_operation *q, void **parameters)
{
  const struct emulator_entry *entry = q->launch.function->entry;
  uint64_t table = (entry->count * sizeof(void *) + 63) / 64 * 64, bytes = table + 64;
  unsigned char *at;
  for (unsigned i = 0; i < entry->count; i++)
    bytes += ((uint64_t)entry->bytes[i] + 63) / 64 * 64;
  if (posix_memalign(&q->owned, 64, bytes)) {
    emu_say("no memory");
    abort();
  }
  q->launch.parameter = q->owned;
  at = (unsigned char *)q->owned + table;
  for (unsigned i = 0; i < entry->count; i++) {
    q->launch.parameter[i] = at;
    memcpy(at, parameters[i], entry->bytes[i]);
    at += ((uint64_t)entry->bytes[i] + 63) / 64 * 64;
  }
}

int cuLaunchKernel(mill_cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared_bytes, mill_cu_stream stream, void **parameters, void **extra)
{
  int code = emu_enter(1);
  struct CUstream_st *s = stream_of(stream);
  struct emu_operation q = {
      .kind = EMU_LAUNCH,
      .launch = {
          .function = function, .grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z}, .shared = shared_bytes}};
  if (!code && !s)
    code = EMU_INVALID_HANDLE;
  if (!code && !(code = emu_launch_check(&q.launch, parameters != NULL)) && extra)
    code = EMU_INVALID_VALUE;
  for (unsigned i = 0; !code && i < function->entry->count; i++)
    if (!parameters[i])
      code = EMU_INVALID_VALUE;
  if (!code && s->capture && s->capture->spoiled)
    code = EMU_CAPTURE_INVALIDATED;
  if (!code) {
    keep_parameters(&q, parameters);
    give(s, &q, 0);
  }
  return emu_leave(code);
}

/* ---- Streams ---- */

int cuStreamCreate(mill_cu_stream *stream, unsigned flags)
{
  int code = emu_enter(1);
  if (!code && (!stream || flags > 1))
    code = EMU_INVALID_VALUE;
  if (!code) {
    struct CUstream_st *s = emu_more(NULL, sizeof *s);
    memset(s, 0, sizeof *s);
    s->next = streams;
    s->flags = flags;
    streams = s;
    *stream = s;
  }
  return emu_leave(code);
}

static void stream_free(struct CUstream_st *s)
{
  struct CUstream_st **at = &streams;
  while (*at != s)
    at = &(*at)->next;
  *at = s->next;
  emu_set_free(&s->last);
  emu_set_free(&s->captured);
  free(s);
}

int cuStreamDestroy_v2(mill_cu_stream stream)
{
  int code = emu_enter(1);
  struct CUstream_st *s = stream ? stream_of(stream) : NULL;
  if (!code && !s)
    code = EMU_INVALID_HANDLE;
  if (!code && s->capture)
    code = emu_disturb();
  if (s && (!code || code == emu_broken())) {
    run(&s->last);
    stream_free(s);
  }
  return emu_leave(code);
}

int cuStreamSynchronize(mill_cu_stream stream)
{
  int code = emu_enter(1);
  struct CUstream_st *s = stream_of(stream);
  if (!code && !s)
    code = EMU_INVALID_HANDLE;
  if (!code && s->capture)
    code = emu_disturb();
  if (!code && s == &legacy)
    code = emu_legacy_wait();
  else if (!code) {
    run(&s->last);
    code = emu_broken();
  }
  return emu_leave(code);
}

int cuStreamWaitEvent(mill_cu_stream stream, mill_cu_event event, unsigned flags)
{
  int code = emu_enter(1);
  struct CUstream_st *s = stream_of(stream);
  struct CUevent_st *e = event_of(event);
  if (!code && flags > 1)
    code = EMU_INVALID_VALUE;
  if (!code && (!s || !e))
    code = EMU_INVALID_HANDLE;
  if (!code && e->capture) {
    if (s == &legacy)
      code = EMU_CAPTURE_UNSUPPORTED;
    else if (s->capture && s->capture != e->capture)
      code = EMU_CAPTURE_MERGE;
    else {
      s->capture = e->capture;
      emu_set_join(&s->captured, &e->after);
    }
  } else if (!code && s->capture)
    code = emu_disturb(); /* an event of outside */
  else if (!code)
    emu_set_join(&s->last, &e->after);
  return emu_leave(code);
}

/* ---- Events ---- */

int cuEventCreate(mill_cu_event *event, unsigned flags)
{
  int code = emu_enter(1);
  if (!code && (!event || flags > 7))
    code = EMU_INVALID_VALUE;
  if (!code) {
    struct CUevent_st *e = emu_more(NULL, sizeof *e);
    memset(e, 0, sizeof *e);
    e->next = events;
    events = e;
    *event = e;
  }
  return emu_leave(code);
}

static void event_free(struct CUevent_st *e)
{
  struct CUevent_st **at = &events;
  while (*at != e)
    at = &(*at)->next;
  *at = e->next;
  emu_set_free(&e->after);
  free(e);
}

int cuEventDestroy_v2(mill_cu_event event)
{
  int code = emu_enter(1);
  struct CUevent_st *e = event_of(event);
  if (!code && !e)
    code = EMU_INVALID_HANDLE;
  if (e && (!code || code == emu_broken()))
    event_free(e);
  return emu_leave(code);
}

int cuEventRecord(mill_cu_event event, mill_cu_stream stream)
{
  int code = emu_enter(1);
  struct CUstream_st *s = stream_of(stream);
  struct CUevent_st *e = event_of(event);
  if (!code && (!s || !e))
    code = EMU_INVALID_HANDLE;
  if (!code) {
    e->after.count = 0;
    e->capture = s->capture;
    if (s->capture)
      emu_set_join(&e->after, &s->captured);
    else
      before(s, &e->after);
  }
  return emu_leave(code);
}

int cuEventSynchronize(mill_cu_event event)
{
  int code = emu_enter(1);
  struct CUevent_st *e = event_of(event);
  if (!code && !e)
    code = EMU_INVALID_HANDLE;
  if (!code && e->capture) {
    emu_disturb();
    code = EMU_CAPTURED_EVENT;
  }
  if (!code) {
    run(&e->after);
    code = emu_broken();
  }
  return emu_leave(code);
}

/* ---- Captures ---- */

int cuStreamBeginCapture_v2(mill_cu_stream stream, int mode)
{
  int code = emu_enter(1);
  struct CUstream_st *s = stream_of(stream);
  if (!code && (mode < 0 || mode > 2))
    code = EMU_INVALID_VALUE;
  if (!code && !s)
    code = EMU_INVALID_HANDLE;
  if (!code && s == &legacy)
    code = EMU_CAPTURE_UNSUPPORTED;
  if (!code && s->capture)
    code = EMU_ILLEGAL_STATE;
  if (!code) {
    s->capture = emu_more(NULL, sizeof *s->capture);
    memset(s->capture, 0, sizeof *s->capture);
    s->origin = 1;
    s->captured.count = 0;
  }
  return emu_leave(code);
}

/* The capture is over, whatever is said of it: nothing refers to it any more. */
static void forget_capture(const struct CUgraph_st *graph)
{
  for (struct CUstream_st *s = streams; s; s = s->next)
    if (s->capture == graph) {
      s->capture = NULL;
      s->origin = 0;
      s->captured.count = 0;
    }
  for (struct CUevent_st *e = events; e; e = e->next)
    if (e->capture == graph) {
      e->capture = NULL;
      e->after.count = 0;
    }
}

int cuStreamEndCapture(mill_cu_stream stream, mill_cu_graph *graph)
{
  int code = emu_enter(1);
  struct CUstream_st *s = stream_of(stream);
  struct CUgraph_st *made;
  if (!code && !graph)
    code = EMU_INVALID_VALUE;
  if (!code && !s)
    code = EMU_INVALID_HANDLE;
  if (!code && !s->capture)
    code = EMU_ILLEGAL_STATE;
  if (!code && !s->origin) {
    emu_disturb();
    code = EMU_CAPTURE_UNMATCHED;
  }
  if (code)
    return emu_leave(code);
  made = s->capture;
  if (made->spoiled)
    code = EMU_CAPTURE_INVALIDATED;
  else if (!emu_graph_joined(made, &s->captured))
    code = EMU_CAPTURE_UNJOINED;
  forget_capture(made);
  if (code) {
    emu_graph_clear(made);
    free(made);
    made = NULL;
  } else
    emu_graph_keep(made);
  *graph = made;
  return emu_leave(code);
}

/* ---- What is left ---- */

unsigned emu_streams_alive(void)
{
  unsigned n = 0;
  for (const struct CUstream_st *s = streams; s != &legacy; s = s->next)
    n++;
  return n;
}

unsigned emu_events_alive(void)
{
  unsigned n = 0;
  for (const struct CUevent_st *e = events; e; e = e->next)
    n++;
  return n;
}

void emu_streams_drop(void)
{
  for (struct CUstream_st *s = streams; s; s = s->next)
    if (s->capture) {
      struct CUgraph_st *graph = s->capture;
      forget_capture(graph);
      emu_graph_clear(graph);
      free(graph);
    }
  emu_graph_clear(&pending);
  while (streams != &legacy)
    stream_free(streams);
  emu_set_free(&legacy.last);
  while (events)
    event_free(events);
  emu_graphs_drop();
}
