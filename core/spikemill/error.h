/* Errors are values: a function that can fail returns a negative int and fills a struct that its caller owns.
   Nothing here is global, nothing prints, nothing exits. */
#ifndef SPIKEMILL_ERROR_H
#define SPIKEMILL_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/* The class of a failure; the commands use it as their exit status. */
enum mill_status {
  MILL_OK = 0,
  MILL_DIFFERENT = 1,  /* results differ, or a check failed */
  MILL_USAGE = 2,      /* command line, configuration, plugin */
  MILL_DATA = 3,       /* input data */
  MILL_RESOURCES = 4,  /* memory, device, disk, operating system */
  MILL_INTERRUPTED = 130
};

/* One failure: its class and one or more sentences, UTF-8, without a final newline. */
struct mill_error {
  int status;
  char text[1536];
};

#if defined(__GNUC__)
#define MILL_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define MILL_PRINTF(f, a)
#endif

/* Fills *e (which may be NULL) and returns -1, so that a caller can write `return mill_fail(…)`. Numbers are written in the C
   locale. A text that is too long ends in "…". */
int mill_fail(struct mill_error *e, int status, const char *format, ...) MILL_PRINTF(3, 4);

/* Puts "prefix: " (formatted) before the text of *e. Returns -1. */
int mill_fail_within(struct mill_error *e, const char *format, ...) MILL_PRINTF(2, 3);

#ifdef __cplusplus
}
#endif
#endif
