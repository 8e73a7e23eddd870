/* The emulated driver's own parts and what they know of each other. One device, one primary context, one lock around every call. What a stream is
   given is done at once, or, with EMULATOR_LAZY, when it is waited for. Error codes are the driver's. */
#ifndef EMULATOR_H
#define EMULATOR_H

#include "cuda/api.h"
#include "kernel-abi.h"

enum {
  EMU_INVALID_VALUE = 1,
  EMU_OUT_OF_MEMORY = 2,
  EMU_NOT_INITIALIZED = 3,
  EMU_INVALID_DEVICE = 101,
  EMU_INVALID_IMAGE = 200,
  EMU_INVALID_CONTEXT = 201,
  EMU_NO_BINARY = 209,
  EMU_SHARED_OBJECT = 303,
  EMU_INVALID_HANDLE = 400,
  EMU_ILLEGAL_STATE = 401,
  EMU_NOT_FOUND = 500,
  EMU_ILLEGAL_ADDRESS = 700,
  EMU_OUT_OF_RESOURCES = 701,
  EMU_LAUNCH_FAILED = 719,
  EMU_CAPTURE_UNSUPPORTED = 900,
  EMU_CAPTURE_INVALIDATED = 901,
  EMU_CAPTURE_MERGE = 902,
  EMU_CAPTURE_UNMATCHED = 903,
  EMU_CAPTURE_UNJOINED = 904,
  EMU_CAPTURED_EVENT = 907
};

#define EMU_SHARED_PLAIN 49152u /* bytes that a block may have without asking */
#define EMU_SHARED_MOST 232448u
#define EMU_THREADS 1024u

/* device.c. Every entry of the driver begins with emu_enter and ends with emu_leave, which returns its argument. emu_enter fails before cuInit,
   without a current context (when `context` is set), and after a kernel failed. */
int emu_enter(int context);
int emu_leave(int code);
void emu_break(int code); /* from now on every call fails so, until the context is released */
int emu_broken(void);
int emu_strict(void);
unsigned emu_architecture(void);                            /* 90 */
uint64_t emu_setting(const char *name, uint64_t otherwise); /* a number, with K, M, G, from the environment */
__attribute__((format(printf, 1, 2))) void emu_say(const char *format, ...);

/* memory.c */
int emu_reaches(mill_cu_address address,
                uint64_t bytes); /* 1: all of them are in one block that is allocated, or one module's variable */
int emu_pinned(const void *memory, uint64_t bytes); /* 1: they are in a block of cuMemHostAlloc */
void emu_fill(void *memory, uint64_t bytes);        /* with what nobody may rely on */
/* Copies to the host. When there are 32 bytes that nobody wrote: says so and, when strict, aborts. */
void emu_download(void *to, const void *from, uint64_t bytes);
unsigned emu_memory_alive(uint64_t *bytes);
unsigned emu_host_alive(void);
void emu_memory_drop(void);

/* module.c */
struct CUfunc_st {
  struct CUmod_st *module;
  struct CUfunc_st *next;
  const struct emulator_entry *entry;
  unsigned shared_allowed; /* dynamic bytes */
  char name[];
};
struct emulator_control *emu_control(const struct CUmod_st *module);
void emu_shared_forget(const struct CUmod_st *module); /* emu_fill for its static shared memory */
int emu_function_valid(const struct CUfunc_st *function);
int emu_module_reaches(uint64_t address, uint64_t bytes);
unsigned emu_modules_alive(void);
void emu_modules_drop(void);

/* launch.c */
struct emu_launch {
  struct CUfunc_st *function;
  struct emulator_index grid, block;
  unsigned shared;
  void **parameter; /* addresses of copies */
};
int emu_launch_check(const struct emu_launch *launch, unsigned bytes);
int emu_launch_run(const struct emu_launch *launch);

/* block.c: runs one block; `threads` of them, `random` shuffles their order when it is not 0. Returns 0, or -1 when it failed, having said
   why. */
int emu_block_run(struct emulator_control *control, const struct emu_launch *launch, unsigned threads, uint64_t *random);
void emu_block_hooks(struct emulator_control *control);
void emu_block_drop(void); /* frees the stacks */
uint64_t emu_random(uint64_t *state);

/* graph.c: operations with what they come after. The same list serves a capture, a graph and what streams have yet to do. */
struct emu_set { /* numbers of nodes */
  unsigned count, room, *item;
};
void emu_set_add(struct emu_set *set, unsigned item);
void emu_set_join(struct emu_set *set, const struct emu_set *other);
void emu_set_one(struct emu_set *set, unsigned item);
void emu_set_free(struct emu_set *set);

/* Bytes that the host has sent in copies. */
void emu_sent(uint64_t bytes);
uint64_t emu_sent_all(void);

enum emu_kind { EMU_UPLOAD, EMU_DOWNLOAD, EMU_COPY, EMU_FILL, EMU_LAUNCH, EMU_GRAPH };
struct emu_operation {
  enum emu_kind kind;
  mill_cu_address device;
  void *host;
  void *owned; /* freed with it */
  uint64_t bytes;
  unsigned char value;
  struct emu_launch launch;
  struct CUgraph_st *graph; /* a reference */
};
struct emu_node {
  struct emu_operation operation;
  struct emu_set after; /* nodes with lower numbers */
  int done;
};
struct CUgraph_st {
  struct CUgraph_st *next;
  unsigned count, room, references;
  struct emu_node *node;
  int spoiled;
};
/* Takes what the operation owns; the number of its node. */
unsigned emu_graph_add(struct CUgraph_st *graph, const struct emu_operation *operation, const struct emu_set *after);
/* Runs what `last` needs and has not been done, in an order that the dependencies allow: EMULATOR_ORDER picks one. NULL: everything. */
void emu_graph_run(struct CUgraph_st *graph, const struct emu_set *last);
int emu_graph_joined(const struct CUgraph_st *graph, const struct emu_set *last); /* 1: `last` comes after all nodes */
void emu_graph_clear(struct CUgraph_st *graph);
void emu_graph_keep(struct CUgraph_st *graph); /* one that a capture has made: it is the user's now */
unsigned emu_graphs_alive(void);
void emu_graphs_drop(void);
void *emu_more(void *memory, uint64_t bytes); /* realloc that must work */

/* stream.c */
unsigned emu_streams_alive(void);
unsigned emu_events_alive(void);
int emu_capturing(const struct CUstream_st *stream);
int emu_captures(void); /* 1: a capture is going on, which most calls outside of it disturb */
int emu_disturb(void);  /* spoils the captures that are going on; the error for the call that does */
int emu_stream_valid(const struct CUstream_st *stream);
void emu_stream_give(struct CUstream_st *stream, const struct emu_operation *operation);
void emu_streams_wait(void); /* does what all have yet to do */
int emu_legacy_wait(void);   /* does what the default stream and those that it blocks have to do; the error of it */
void emu_streams_drop(void);

#endif
