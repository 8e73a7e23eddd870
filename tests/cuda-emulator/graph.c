/* Operations and what each comes after; graphs, which are such lists to be done again. */
#include "emulator.h"

#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)
#define DECLARE_(name, symbol, parameters) int symbol parameters;
MILL_CUDA_DRIVER_TABLE(DECLARE_)
#pragma GCC visibility pop

struct CUgraphExec_st {
  struct CUgraphExec_st *next;
  struct CUgraph_st *graph;
};
static struct CUgraph_st *graphs;
static struct CUgraphExec_st *execs;

void *emu_more(void *memory, uint64_t bytes)
{
  void *more = realloc(memory, bytes);
  if (!more) {
    emu_say("no memory");
    abort();
  }
  return more;
}

void emu_set_add(struct emu_set *set, unsigned item)
{
  for (unsigned i = 0; i < set->count; i++)
    if (set->item[i] == item)
      return;
  if (set->count == set->room) {
    set->room = 2 * set->room + 4;
    set->item = emu_more(set->item, set->room * sizeof *set->item);
  }
  set->item[set->count++] = item;
}

void emu_set_join(struct emu_set *set, const struct emu_set *other)
{
  for (unsigned i = 0; i < other->count; i++)
    emu_set_add(set, other->item[i]);
}

void emu_set_one(struct emu_set *set, unsigned item)
{
  set->count = 0;
  emu_set_add(set, item);
}

void emu_set_free(struct emu_set *set)
{
  free(set->item);
  *set = (struct emu_set){0, 0, NULL};
}

unsigned emu_graph_add(struct CUgraph_st *graph, const struct emu_operation *operation, const struct emu_set *after)
{
  struct emu_node *node;
  if (graph->count == graph->room) {
    graph->room = 2 * graph->room + 16;
    graph->node = emu_more(graph->node, graph->room * sizeof *graph->node);
  }
  node = &graph->node[graph->count];
  memset(node, 0, sizeof *node);
  node->operation = *operation;
  emu_set_join(&node->after, after);
  return graph->count++;
}

static void let_go(struct CUgraph_st *graph)
{
  if (--graph->references == 0) {
    emu_graph_clear(graph);
    free(graph);
  }
}

void emu_graph_clear(struct CUgraph_st *graph)
{
  for (unsigned i = 0; i < graph->count; i++) {
    free(graph->node[i].operation.owned);
    emu_set_free(&graph->node[i].after);
    if (graph->node[i].operation.graph)
      let_go(graph->node[i].operation.graph);
  }
  free(graph->node);
  graph->node = NULL;
  graph->count = graph->room = 0;
}

static void operate(const struct emu_operation *q)
{
  int code = 0;
  void *device = (void *)(uintptr_t)q->device;
  if (emu_broken())
    return;
  if (q->kind == EMU_GRAPH) {
    for (unsigned i = 0; i < q->graph->count; i++)
      q->graph->node[i].done = 0;
    emu_graph_run(q->graph, NULL);
  } else if (q->kind == EMU_LAUNCH)
    code = emu_function_valid(q->launch.function) ? emu_launch_run(&q->launch) : EMU_INVALID_HANDLE;
  else if (!emu_reaches(q->device, q->bytes))
    code = EMU_ILLEGAL_ADDRESS;
  else if (q->kind == EMU_UPLOAD)
    memcpy(device, q->host, q->bytes);
  else if (q->kind == EMU_COPY && !emu_reaches((mill_cu_address)(uintptr_t)q->host, q->bytes))
    code = EMU_ILLEGAL_ADDRESS;
  else if (q->kind == EMU_COPY)
    memmove(device, q->host, q->bytes);
  else if (q->kind == EMU_DOWNLOAD)
    emu_download(q->host, device, q->bytes);
  else
    memset(device, q->value, q->bytes);
  if (code)
    emu_break(code);
}

static unsigned char *ancestors(const struct CUgraph_st *graph, const struct emu_set *last)
{
  unsigned char *needed = emu_more(NULL, graph->count + 1u);
  memset(needed, last == NULL, graph->count + 1u);
  for (unsigned i = 0; last && i < last->count; i++)
    needed[last->item[i]] = 1;
  for (unsigned i = graph->count; i-- > 0;)
    for (unsigned k = 0; needed[i] && k < graph->node[i].after.count; k++)
      needed[graph->node[i].after.item[k]] = 1;
  return needed;
}

int emu_graph_joined(const struct CUgraph_st *graph, const struct emu_set *last)
{
  unsigned char *needed = ancestors(graph, last);
  int all = graph->count == 0 || !memchr(needed, 0, graph->count);
  free(needed);
  return all;
}

static int ready(const struct CUgraph_st *graph, unsigned i)
{
  for (unsigned k = 0; k < graph->node[i].after.count; k++)
    if (!graph->node[graph->node[i].after.item[k]].done)
      return 0;
  return 1;
}

/* The nodes to do in ascending order; with an order to try, any of the next 64 whose turn it may be. */
void emu_graph_run(struct CUgraph_st *graph, const struct emu_set *last)
{
  static uint64_t runs;
  uint64_t order = emu_setting("EMULATOR_ORDER", 0), random = order * 0x9e3779b97f4a7c15u + ++runs;
  unsigned char *needed = ancestors(graph, last);
  unsigned *todo = emu_more(NULL, (graph->count + 1u) * sizeof *todo), left = 0, first = 0;
  for (unsigned i = 0; i < graph->count; i++)
    if (needed[i] && !graph->node[i].done)
      todo[left++] = i;
  for (; first < left; first++) {
    if (order) {
      unsigned window = left - first < 64 ? left - first : 64, at = first + (unsigned)(emu_random(&random) % window), node;
      while (!ready(graph, todo[at]))
        at = at + 1 < first + window ? at + 1 : first;
      node = todo[at];
      memmove(&todo[first + 1], &todo[first], (at - first) * sizeof *todo);
      todo[first] = node;
    }
    operate(&graph->node[todo[first]].operation);
    graph->node[todo[first]].done = 1;
  }
  free(todo);
  free(needed);
}

/* ---- Graphs ---- */

void emu_graph_keep(struct CUgraph_st *graph)
{
  graph->references = 1;
  graph->next = graphs;
  graphs = graph;
}

static int graph_remove(const struct CUgraph_st *graph)
{
  for (struct CUgraph_st **at = &graphs, *g; (g = *at); at = &g->next)
    if (g == graph) {
      *at = g->next;
      let_go(g);
      return 0;
    }
  return EMU_INVALID_HANDLE;
}

static int exec_remove(const struct CUgraphExec_st *exec)
{
  for (struct CUgraphExec_st **at = &execs, *e; (e = *at); at = &e->next)
    if (e == exec) {
      *at = e->next;
      let_go(e->graph);
      free(e);
      return 0;
    }
  return EMU_INVALID_HANDLE;
}

int cuGraphInstantiateWithFlags(mill_cu_graph_exec *exec, mill_cu_graph graph, unsigned long long flags)
{
  int code = emu_enter(1);
  struct CUgraph_st *g = graphs;
  if (!code && (!exec || flags))
    code = EMU_INVALID_VALUE;
  while (g && g != graph)
    g = g->next;
  if (!code && !g)
    code = EMU_INVALID_HANDLE;
  if (!code) {
    struct CUgraphExec_st *e = emu_more(NULL, sizeof *e);
    *e = (struct CUgraphExec_st){execs, graph};
    graph->references++;
    execs = e;
    *exec = e;
  }
  return emu_leave(code);
}

int cuGraphLaunch(mill_cu_graph_exec exec, mill_cu_stream stream)
{
  int code = emu_enter(1);
  struct CUgraphExec_st *e = execs;
  struct emu_operation q = {.kind = EMU_GRAPH};
  while (e && e != exec)
    e = e->next;
  if (!code && (!e || !emu_stream_valid(stream)))
    code = EMU_INVALID_HANDLE;
  if (!code && emu_capturing(stream))
    code = EMU_CAPTURE_UNSUPPORTED;
  if (!code) {
    q.graph = e->graph;
    q.graph->references++;
    emu_stream_give(stream, &q);
  }
  return emu_leave(code);
}

int cuGraphDestroy(mill_cu_graph graph)
{
  int code = emu_enter(1), removed = code && code != emu_broken() ? code : graph_remove(graph);
  return emu_leave(code ? code : removed);
}

int cuGraphExecDestroy(mill_cu_graph_exec exec)
{
  int code = emu_enter(1), removed = code && code != emu_broken() ? code : exec_remove(exec);
  return emu_leave(code ? code : removed);
}

unsigned emu_graphs_alive(void)
{
  unsigned n = 0;
  for (const struct CUgraph_st *g = graphs; g; g = g->next)
    n++;
  for (const struct CUgraphExec_st *e = execs; e; e = e->next)
    n++;
  return n;
}

void emu_graphs_drop(void)
{
  while (execs)
    exec_remove(execs);
  while (graphs)
    graph_remove(graphs);
}
