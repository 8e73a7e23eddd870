/* A counter plugin at work. The events are laid out here once for every counter, as columns in stream order and again type by
   type, so that a plugin neither sorts nor knows what ties mean: `order` says it for both. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>
#include <string.h>

#include "counting.h"
#include "cuda/miner.h"
#include "memory.h"
#include "registry.h"

#define ASK_FROM (UINT64_C(1) << 20) /* bytes; for less the system is not asked what is free, which takes longer than counting */

struct mill_counting {
  struct mill_counter_input input;
  const struct mill_plugin *plugin;
  struct mill_miner *miner;        /* NULL: the CPU */
  struct mill_counter_device call; /* what is called, there or here; `open` is the device's */
  void *self;                      /* the plugin's; NULL until it is open */
  int64_t *time, *type_time;
  uint32_t *type, *order, *first, *type_order;
};

static int check(const struct mill_counting_setup *setup, struct mill_error *error)
{
  const struct mill_event *event = setup->event;
  if (setup->events > UINT32_MAX)
    return mill_fail(error, MILL_DATA, "%" PRIu64 " events; at most %" PRIu32 " can be mined", setup->events, UINT32_MAX);
  for (uint64_t i = 0; i < setup->events; i++) {
    if (event[i].unit >= setup->types)
      return mill_fail(error, MILL_DATA, "event %" PRIu64 " (from 0) is of type %" PRIu32 ", and there are %" PRIu32, i,
                       event[i].unit, setup->types);
    if (i && event[i].tick < event[i - 1].tick)
      return mill_fail(error, MILL_DATA, "event %" PRIu64 " (from 0) is at tick %" PRId64 ", the one before it at %" PRId64, i,
                       event[i].tick, event[i - 1].tick);
  }
  if (setup->events && (uint64_t)event[setup->events - 1].tick - (uint64_t)event[0].tick > INT64_MAX)
    return mill_fail(error, MILL_DATA, "the events span ticks %" PRId64 " to %" PRId64 "; at most %" PRId64 " can lie between them",
                     event[0].tick, event[setup->events - 1].tick, INT64_MAX);
  for (uint32_t i = 0; i < setup->interval_count; i++)
    if (setup->interval[i].low < 0 || setup->interval[i].low >= setup->interval[i].high)
      return mill_fail(error, MILL_USAGE, "interval (%" PRId64 ",%" PRId64 "] ticks; expected 0 <= low < high",
                       setup->interval[i].low, setup->interval[i].high);
  if (setup->threshold < 1)
    return mill_fail(error, MILL_USAGE, "a support of 0; expected at least 1");
  return 0;
}

static int allocate(struct mill_counting *c, const struct mill_counting_setup *setup, struct mill_error *error)
{
  const uint64_t n = setup->events;
  const struct {
    void *place; /* of the pointer */
    const char *name;
    uint64_t count;
    size_t size;
  } row[] = {
      {&c->time, "times of events", n, sizeof *c->time},
      {&c->type, "types of events", n, sizeof *c->type},
      {&c->order, "order of events", n, sizeof *c->order},
      {&c->first, "first events of types", (uint64_t)setup->types + 1, sizeof *c->first},
      {&c->type_time, "times by type", n, sizeof *c->type_time},
      {&c->type_order, "order by type", n, sizeof *c->type_order},
  };
  const size_t rows = sizeof row / sizeof *row;
  uint64_t bytes = 0, free_bytes = 0;
  char need[32], have[32];
  for (size_t i = 0; i < rows; i++)
    bytes += row[i].count * row[i].size;
  if (bytes >= ASK_FROM && bytes > (free_bytes = mill_memory_free()))
    return mill_fail(error, MILL_RESOURCES, "%" PRIu64 " events to mine need %s of memory, and %s is free", n,
                     mill_memory_text(need, bytes), mill_memory_text(have, free_bytes));
  for (size_t i = 0; i < rows; i++) {
    void *array = mill_allocate_or_fail(row[i].name, row[i].count, row[i].size, error);
    if (!array)
      return -1;
    memcpy(row[i].place, &array, sizeof array);
  }
  return 0;
}

static void lay_out(struct mill_counting *c, const struct mill_counting_setup *setup)
{
  const uint32_t n = (uint32_t)setup->events;
  uint32_t rank = 0;
  memset(c->first, 0, ((size_t)setup->types + 1) * sizeof *c->first);
  for (uint32_t i = 0; i < n; i++) {
    const struct mill_event *e = &setup->event[i];
    rank += i && e->tick != e[-1].tick;
    c->time[i] = e->tick;
    c->type[i] = e->unit;
    c->order[i] = setup->ties == MILL_TIES_STRICT ? rank : i;
    c->first[e->unit]++;
  }
  /* first[e] is made the end of type e, and walks back to its start as the events are put in from the last to the first. */
  for (uint64_t e = 1; e <= setup->types; e++)
    c->first[e] += c->first[e - 1];
  for (uint32_t i = n; i--;) {
    uint32_t at = --c->first[c->type[i]];
    c->type_time[at] = c->time[i];
    c->type_order[at] = c->order[i];
  }
}

/* The plugin's verdict, its error with the plugin's name before it. */
static int passed(const struct mill_counting *c, int failed, struct mill_error *error)
{
  return failed ? mill_fail_within(error, "counter `%s`", c->plugin->name) : 0;
}

static int open_plugin(struct mill_counting *c, const void *params, struct mill_error *error)
{
  const struct mill_counter_ops *ops = c->plugin->ops;
  return c->miner
             ? c->call.open(&mill_host, mill_miner_host(c->miner), params, &c->input, mill_miner_stream(c->miner), &c->self, error)
             : ops->open(&mill_host, params, &c->input, &c->self, error);
}

/* Opens the plugin on the events of the setup. */
static int start(struct mill_counting *c, const struct mill_counting_setup *setup, struct mill_error *error)
{
  lay_out(c, setup);
  if (c->miner && mill_miner_begin(c->miner, &c->input, setup->log, error) < 0)
    return -1;
  if (!passed(c, open_plugin(c, setup->params, error), error))
    return 0;
  c->self = NULL;
  return -1;
}

static void finish(struct mill_counting *c)
{
  if (c->miner)
    (void)mill_miner_attach(c->miner, NULL);
  if (c->self)
    c->call.close(c->self);
  c->self = NULL;
  if (c->miner)
    mill_miner_end(c->miner);
}

/* The functions of the plugin. */
static struct mill_counter_device calls_of(const struct mill_plugin *plugin, const struct mill_miner *miner)
{
  const struct mill_counter_ops *ops = plugin->ops;
  const size_t end = offsetof(struct mill_counter_ops, tell) + sizeof ops->tell;
  if (miner)
    return mill_miner_calls(plugin);
  return (struct mill_counter_device){
      .count = ops->count, .keep = ops->keep, .close = ops->close, .tell = plugin->ops_size >= end ? ops->tell : NULL};
}

int mill_counting_open(const struct mill_counting_setup *setup, struct mill_counting **counting, struct mill_error *error)
{
  struct mill_counting *c = NULL;
  *counting = NULL;
  if (check(setup, error) || !(c = mill_allocate_or_fail("counting", 1, sizeof *c, error)))
    return -1;
  c->plugin = setup->plugin;
  c->miner = setup->miner;
  c->call = calls_of(setup->plugin, setup->miner);
  if (allocate(c, setup, error))
    goto failed;
  c->input = (struct mill_counter_input){
      .events = (uint32_t)setup->events,
      .types = setup->types,
      .time = c->time,
      .type = c->type,
      .order = c->order,
      .first = c->first,
      .type_time = c->type_time,
      .type_order = c->type_order,
      .interval_count = setup->interval_count,
      .interval = setup->interval,
      .strict = setup->ties == MILL_TIES_STRICT,
      .threshold = setup->threshold,
      .memory = setup->memory,
      .team = setup->team,
      .workers = mill_team_size(setup->team),
  };
  if (start(c, setup, error))
    goto failed;
  *counting = c;
  return 0;
failed:
  mill_counting_close(c);
  return -1;
}

int mill_counting_check(const struct mill_plugin *plugin, const void *params, struct mill_error *error)
{
  static const struct mill_interval gap = {0, 1};
  static const uint32_t first[] = {0};
  const struct mill_counter_ops *ops = plugin->ops;
  struct mill_team *team = NULL;
  void *self = NULL;
  if (mill_team_create(1, &team, error) < 0)
    return -1;
  const struct mill_counter_input input = {
      .first = first, .interval_count = 1, .interval = &gap, .threshold = 1, .team = team, .workers = 1};
  const int failed = ops->open(&mill_host, params, &input, &self, error);
  if (!failed)
    ops->close(self);
  mill_team_free(team);
  return failed ? -1 : 0;
}

int mill_counting_restart(struct mill_counting *c, const struct mill_counting_setup *setup, struct mill_error *error)
{
  finish(c);
  if (setup->events != c->input.events || setup->types != c->input.types)
    return mill_fail(error, MILL_USAGE,
                     "%" PRIu64 " events of %" PRIu32 " types to go on with; %" PRIu32 " of %" PRIu32 " expected", setup->events,
                     setup->types, c->input.events, c->input.types);
  return check(setup, error) ? -1 : start(c, setup, error);
}

int mill_counting_count(struct mill_counting *counting, const struct mill_candidates *candidates, uint64_t *counts,
                        struct mill_error *error)
{
  if (counting->miner && mill_miner_attach(counting->miner, error) < 0)
    return -1;
  return passed(counting, counting->call.count(counting->self, candidates, counts, error), error);
}

int mill_counting_keep(struct mill_counting *counting, uint32_t level, uint32_t n, const uint64_t *kept, struct mill_error *error)
{
  if (counting->miner && mill_miner_attach(counting->miner, error) < 0)
    return -1;
  return passed(counting, counting->call.keep(counting->self, level, n, kept, error), error);
}

int mill_counting_takes_streams(const struct mill_counting_setup *setup)
{
  return setup->miner && mill_miner_takes_streams(setup->plugin);
}

int mill_counting_streams(struct mill_counting *counting, const struct mill_device_stream *streams, uint32_t count,
                          const struct mill_episode_tree *episodes, uint64_t counts, struct mill_error *error)
{
  if (mill_miner_attach(counting->miner, error) < 0)
    return -1;
  return passed(counting, counting->call.count_streams(counting->self, streams, count, episodes, counts, error), error);
}

const struct mill_counter_there *mill_counting_there(const struct mill_counting *counting, struct mill_miner **miner)
{
  *miner = counting->miner;
  return counting->call.there;
}

int mill_counting_count_there(struct mill_counting *counting, const struct mill_device_candidates *candidates,
                              struct mill_error *error)
{
  if (mill_miner_attach(counting->miner, error) < 0)
    return -1;
  return passed(counting, counting->call.there->count(counting->self, candidates, error), error);
}

int mill_counting_keep_there(struct mill_counting *counting, const struct mill_device_candidates *candidates,
                             const struct mill_device_frequent *kept, uint32_t n, struct mill_error *error)
{
  if (!counting->call.there->keep || candidates->last)
    return 0;
  if (mill_miner_attach(counting->miner, error) < 0)
    return -1;
  return passed(counting, counting->call.there->keep(counting->self, candidates, kept, n, error), error);
}

void mill_counting_tell(const struct mill_counting *counting, struct mill_counter_level *level)
{
  *level = (struct mill_counter_level){0};
  if (counting->call.tell)
    counting->call.tell(counting->self, level);
}

void mill_counting_close(struct mill_counting *counting)
{
  if (!counting)
    return;
  finish(counting);
  mill_release(counting->time);
  mill_release(counting->type);
  mill_release(counting->order);
  mill_release(counting->first);
  mill_release(counting->type_time);
  mill_release(counting->type_order);
  mill_release(counting);
}

const struct mill_counter_input *mill_counting_input(const struct mill_counting *counting)
{
  return &counting->input;
}
