/* The plugin interface: one shared object exports one data symbol, `spikemill_plugin`, of type struct mill_plugin.

   The host opens the object, checks this descriptor, and only then calls a function through it. A file is called KIND-NAME.so.
   Tables grow only at their end: an appended member raises the minor version, a changed meaning or order the major one, and the
   host reads a late member only after checking the recorded size. ABI 0.x may change with the test that pins it
   (tests/abi.c). */
#ifndef SPIKEMILL_PLUGIN_H
#define SPIKEMILL_PLUGIN_H

#include <stddef.h>
#include <stdint.h>
#include <spikemill/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MILL_PLUGIN_MAGIC 0x4c4c494du /* "MILL" */
#define MILL_ABI_MAJOR 0
#define MILL_ABI_MINOR 6

enum mill_kind {
  MILL_NEURON = 1,
  MILL_SYNAPSE,
  MILL_PLASTICITY,
  MILL_DELIVERY,
  MILL_STIMULUS,
  MILL_COUNTER,
  MILL_FORMAT,
  MILL_KIND_COUNT
};

/* Capability flags of a descriptor. */
enum {
  MILL_CPU = 1u << 0,
  MILL_CUDA = 1u << 1,
  MILL_EXACT = 1u << 2 /* only + - * / sqrt, comparisons and <spikemill/device.h>: every device agrees bit for bit. Of a counter: its
                          counts are exact, not upper bounds */
};

/* ---- Parameters ------------------------------------------------------------------------------------------------------- */

enum mill_param_type {
  MILL_REAL = 1, /* double */
  MILL_INT,      /* int64_t */
  MILL_BOOL,     /* int32_t: yes|no */
  MILL_CHOICE,   /* int32_t: index into `choices` */
  MILL_TEXT      /* const char *, owned by the block's owner; NULL when neither given nor defaulted */
};

enum {
  MILL_REQUIRED = 1u << 0,
  MILL_PER_NEURON = 1u << 1, /* a state's initial value: number, uniform, normal, …, or file.csv */
  MILL_EXPERT = 1u << 2,
  MILL_DEPRECATED = 1u << 3
};

/* One configuration key. The default is text and is parsed like a user's value. */
struct mill_param_spec {
  const char *key;     /* [a-z][a-z0-9_]* */
  const char *unit;    /* "" for none */
  const char *deflt;   /* NULL: no default (REQUIRED, or a TEXT that may be absent) */
  const char *choices; /* "a|b|c" for MILL_CHOICE, else NULL */
  const char *doc;     /* one line */
  double min, max;     /* inclusive; used by REAL and INT */
  uint32_t offset;     /* into the parameter block */
  uint16_t type;       /* enum mill_param_type */
  uint16_t flags;
};

/* ---- What the host offers --------------------------------------------------------------------------------------------- */

struct mill_team;

/* Passed to every plugin function that may need it; plugins link nothing of ours. Valid for the life of the process. */
struct mill_host {
  uint32_t size; /* of this struct: check before using a late member */
  uint32_t abi;  /* major << 16 | minor */

  /* As mill_fail of <spikemill/error.h>. Any thread. */
  int (*fail)(struct mill_error *e, int status, const char *format, ...) MILL_PRINTF(3, 4);

  /* Zeroed memory, 64-byte aligned, counted in the run's memory under `name`; NULL when there is none. Freed by `release`. Not
     from worker threads. */
  void *(*allocate)(const char *name, uint64_t count, size_t size);
  void (*release)(void *memory);

  /* Reports something the user should know (a rounding, a sorted input). One line, no newline. Any thread. */
  void (*note)(const char *format, ...) MILL_PRINTF(1, 2);

  /* Runs body(self, i, worker) for i in 0 … count-1 on a team of threads that the host has handed to the plugin, shared out
     dynamically; worker is below the team's number of workers, and one worker does one i at a time. Not from inside a body. */
  void (*each)(struct mill_team *team, uint64_t count, void (*body)(void *self, uint64_t i, uint32_t worker), void *self);

  /* 1 when the user wants the program to stop; long work asks several times a second and fails with MILL_INTERRUPTED. Any thread. */
  int (*interrupted)(void);
};

/* ---- Descriptor ------------------------------------------------------------------------------------------------------- */

struct mill_plugin {
  /* These 16 bytes never change. */
  uint32_t magic;                  /* MILL_PLUGIN_MAGIC */
  uint16_t abi_major, abi_minor;   /* that the plugin was compiled for */
  uint32_t size;                   /* sizeof(struct mill_plugin) there */
  uint16_t pointer_size;           /* sizeof(void *) there */
  uint16_t kind;                   /* enum mill_kind */

  /* ABI 0.0 */
  uint32_t flags;                  /* MILL_CPU | … */
  uint32_t ops_size;               /* sizeof the ops table of the kind */
  uint32_t params_size;            /* sizeof the parameter block */
  uint32_t param_count;
  const char *name, *version, *summary, *licence;
  const struct mill_param_spec *params;
  const void *ops;                 /* struct mill_KIND_ops */

  /* ABI 0.1 */
  const char *source;              /* the plugin's own text, for devices that compile at run time; NULL when it has none */
  const char *source_end;          /* one past its last byte */

  /* ABI 0.3 */
  const char *source_name;         /* its file, for messages; NULL when it has none */
};

#if defined(__GNUC__)
#define MILL_EXPORT __attribute__((visibility("default")))
#else
#define MILL_EXPORT
#endif

/* The first members of a descriptor, in order. `ops` is the ops table object, `params` an array of specs. */
#define MILL_PLUGIN_HEAD(kind)                                                                                                   \
  MILL_PLUGIN_MAGIC, MILL_ABI_MAJOR, MILL_ABI_MINOR, (uint32_t)sizeof(struct mill_plugin), (uint16_t)sizeof(void *), (kind)

/* What a plugin says of itself besides; define them on the compiler's command line or before the descriptor. */
#ifndef MILL_PLUGIN_VERSION
#define MILL_PLUGIN_VERSION "1.0"
#endif
#ifndef MILL_PLUGIN_LICENCE
#define MILL_PLUGIN_LICENCE "not stated"
#endif

/* The descriptor of a plugin without embedded text: kind, capability flags, name, summary, size of the parameter block, its specs and
   their number, and the ops table (an object, not a pointer). */
#define MILL_PLUGIN(kind, flags, name, summary, block_size, specs, spec_count, ops)                                              \
  MILL_PLUGIN_WITH_TEXT(kind, flags, name, summary, block_size, specs, spec_count, ops, 0, 0, 0)

/* The same with a text for devices: its first byte, one past its last, and the name of its file. */
#define MILL_PLUGIN_WITH_TEXT(kind, flags, name, summary, block_size, specs, spec_count, ops, text, text_end, text_name)         \
  MILL_C_LINKAGE_ MILL_EXPORT const struct mill_plugin spikemill_plugin;                                                         \
  const struct mill_plugin spikemill_plugin = {                                                                                  \
    MILL_PLUGIN_HEAD(kind), flags,   (uint32_t)sizeof(ops), (uint32_t)(block_size), (uint32_t)(spec_count), name,                \
    MILL_PLUGIN_VERSION,    summary, MILL_PLUGIN_LICENCE,   specs,                  &(ops),                 (const char *)(text),                \
    (const char *)(text_end), text_name}

/* The text of a file that is a plugin and compiled for devices too: mill_source_begin … mill_source_end. */
#ifndef MILL_SOURCE_FILE /* define it when the compiler runs where the relative path of the source does not lead to it */
#define MILL_SOURCE_FILE __FILE__
#endif
#ifdef __cplusplus
#define MILL_C_LINKAGE_ extern "C"
#else
#define MILL_C_LINKAGE_ extern
#endif
#define MILL_OWN_TEXT_                                                                                                           \
  __asm__(".pushsection .rodata\n"                                                                                               \
          "mill_source_begin: .incbin \"" MILL_SOURCE_FILE "\"\n"                                                                \
          "mill_source_end: .byte 0\n"                                                                                           \
          ".popsection\n");                                                                                                      \
  MILL_C_LINKAGE_ __attribute__((visibility("hidden"))) const char mill_source_begin[];                                          \
  MILL_C_LINKAGE_ __attribute__((visibility("hidden"))) const char mill_source_end[];

#ifdef __cplusplus
}
#endif
#endif
