/* spikemill convert: a spike file into another format, and a sentence on what it holds that shows a wrong unit of time. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "command.h"

#include <stdlib.h>
#include <string.h>

#include <cJSON.h>
#include "memory.h"
#include "stream.h"

enum { FROM, TO, COLUMNS, TICK, QUIET, JSON, HELP };
static const struct mill_option options[] = {
    [FROM] = {"from", 0, "FORMAT", "format of IN (default: found out)", 0},
    [TO] = {"to", 0, "FORMAT", "format of OUT (default: by its extension)", 0},
    [COLUMNS] = {"columns", 0, "LIST", "columns of a text file without a header: type,time_ms", 0},
    [TICK] = {"tick", 0, "TIME", "grid of the times of a text file: 0.1 ms", 0},
    [QUIET] = {"quiet", 0, NULL, "no summary", 0},
    [JSON] = {"json", 0, NULL, "one JSON object on standard output, nothing else", 0},
    [HELP] = {"help", 'h', NULL, "this text", 0},
};
#define COUNT (sizeof options / sizeof *options)

struct request {
  const char *in, *out, *to;
  struct mill_stream_options reading;
  int quiet, json, help;
};

static int parse(struct request *r, int argc, char **argv, struct mill_error *error)
{
  const char **text[COUNT] = {
      [FROM] = &r->reading.format, [TO] = &r->to, [COLUMNS] = &r->reading.columns, [TICK] = &r->reading.tick};
  struct mill_args args = {argc, argv, 1, 0, 0};
  const char *value;
  int at;
  while ((at = mill_option_next(&args, options, COUNT, &value, error)) != MILL_ARG_END) {
    if (at == MILL_ARG_ERROR)
      return -1;
    if (at == MILL_ARG_WORD) {
      if (r->in && r->out)
        return mill_fail(error, MILL_USAGE, "two files are enough, found `%s`, `%s` and `%s`", r->in, r->out, value);
      *(r->in ? &r->out : &r->in) = value;
    } else if (text[at]) {
      if (!*value)
        return mill_fail(error, MILL_USAGE, "--%s: an empty value; expected %s", options[at].name, options[at].value);
      *text[at] = value;
    }
    r->quiet |= at == QUIET;
    r->json |= at == JSON;
    r->help |= at == HELP;
  }
  if (!r->help && !r->out)
    return mill_fail(error, MILL_USAGE, "%s: spikemill convert IN OUT", r->in ? "no name for the copy" : "no spike file given");
  return 0;
}

static void add_number(cJSON *object, const char *key, int known, double value)
{
  if (known)
    cJSON_AddNumberToObject(object, key, value);
  else
    cJSON_AddNullToObject(object, key);
}

static int print_json(const struct request *q, const char *in, const struct mill_convert_report *r, struct mill_error *error)
{
  const double ps = (double)r->tick_ps, span = (double)((uint64_t)r->last - (uint64_t)r->first) * ps / 1e12;
  cJSON *object = cJSON_CreateObject(), *list;
  cJSON_AddStringToObject(object, "version", mill_version());
  cJSON_AddStringToObject(object, "input", in);
  cJSON_AddStringToObject(object, "output", q->out);
  mill_json_int(object, "events", r->events);
  mill_json_int(object, "units", r->units);
  mill_json_int(object, "tick_ps", (uint64_t)r->tick_ps);
  add_number(object, "first_s", r->events > 0, (double)r->first * ps / 1e12);
  add_number(object, "last_s", r->events > 0, (double)r->last * ps / 1e12);
  add_number(object, "span_s", r->events > 0, span);
  add_number(object, "rate_hz", span > 0, (double)r->events / (double)r->units / span);
  cJSON_AddBoolToObject(object, "sorted", r->was_sorted);
  list = cJSON_AddArrayToObject(object, "files");
  cJSON_AddItemToArray(list, cJSON_CreateString(q->out));
  return mill_json_print(object, error);
}

static void print_summary(const struct request *q, const char *in, const struct mill_convert_report *r)
{
  const struct mill_stream_info info = {.tick_ps = r->tick_ps};
  char text[256];
  printf("%s: %s\n", in, mill_stream_describe(&info, r->events, r->units, r->first, r->last, text, sizeof text));
  if (!r->was_sorted)
    puts("not in order of time: sorted, and events of one time left in the order of the file");
  printf("wrote %s\n", q->out);
}

static int convert(const struct request *q, struct mill_error *error)
{
  struct mill_convert_report report;
  uint64_t limit;
  char *in;
  if (mill_memory_limit(&limit, error) || mill_stream_find(q->in, &in, error))
    return -1;
  mill_interrupt_catch();
  int result = mill_stream_convert(in, &q->reading, q->out, q->to, mill_interrupted, &report, error);
  if (!result && q->json)
    result = print_json(q, in, &report, error);
  else if (!result && !q->quiet)
    print_summary(q, in, &report);
  free(in);
  return result;
}

int mill_cmd_convert(int argc, char **argv)
{
  struct request q = {0};
  struct mill_error error = {0};
  if (parse(&q, argc, argv, &error))
    return mill_report_error(&error);
  if (q.help)
    mill_usage(stdout, "convert IN OUT [option]…",
               "Copies a spike file, or that of a run's folder, into another format; tells what it holds.", options, COUNT);
  else if (convert(&q, &error))
    return mill_report_error(&error);
  return MILL_OK;
}
