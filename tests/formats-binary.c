/* The binary format: every way in which a file can be damaged. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <xxhash.h>

#include "formats.h"
#include "memory.h"

static void put_at(unsigned char *p, uint64_t value, int bytes)
{
  for (int i = 0; i < bytes; i++)
    p[i] = (unsigned char)(value >> 8 * i);
}

/* Fields of a binary file set to bad values under a checksum that is right. `at` < 0 counts from the end. */
static const struct field {
  const char *what;
  int at, bytes;
  uint64_t value;
  const char *says;
} fields[] = {
    {"magic", 0, 1, 'x', "not a binary spike file"},
    {"layout", 8, 4, 2, "version 2; this plugin reads version 1"},
    {"groups", 12, 4, UINT32_MAX, "4294967295 groups"},
    {"header beyond the end", 16, 8, 100000, "claims 100000 bytes"},
    {"header of 2^64 - 1", 16, 8, UINT64_MAX, "claims"},
    {"header too small", 16, 8, 95, "claims 95"},
    {"spike size", 24, 4, 16, "16 bytes a spike"},
    {"trailer size", 28, 4, 40, "40 a trailer"},
    {"tick 0", 32, 8, 0, "tick of 0"},
    {"tick negative", 32, 8, UINT64_MAX, "tick of -1"},
    {"start after stop", 40, 8, 101, "start 101 after stop 100"},
    {"group table before the header's end", 64, 8, 8, "do not fit"},
    {"group table outside", 64, 8, UINT64_MAX - 15, "do not fit"},
    {"version outside", 72, 8, UINT64_MAX, "version lies outside"},
    {"configuration outside", 80, 8, 3, "configuration lies outside"},
    {"reserved", 88, 8, 1, "must be 0"},
    {"first unit", 96, 4, 1, "begins at unit 1; expected 0"},
    {"size", 100, 4, UINT32_MAX, "begins at unit 3; expected 4294967295"},
    {"second size", 116, 4, UINT32_MAX, "more than 4294967295 units"},
    {"name outside", 104, 8, 1000000, "name of group 0"},
    {"trailer's mark", -48, 1, 'x', "cut short"},
    {"count one more", -40, 8, 5, "5 spikes of 12 bytes announced, 48 bytes found"},
    {"count that overflows", -40, 8, UINT64_C(0x5555555555555559), "announced"},
    {"hash", -32, 8, 1, "recorded was 0000000000000001"},
    {"complete", -16, 4, 2, "0 or 1"},
    {"reserved at the end", -12, 4, 1, "must be 0"},
    {"unit", -48 - 40, 4, 5, "spike 0 (from 0), tick 1, unit 5: the unit does not exist"},
    {"another unit", -48 - 28, 4, 0, "the hash of the spikes"},
    {"order of ticks", -48 - 24, 8, 0, "outside (start, stop]"},
    {"order of ticks, inside", -48 - 12, 8, 1, "spike 3 (from 0), tick 1, unit 0: it is out of order"},
    {"after stop", -48 - 12, 8, 101, "outside (start, stop]"},
};

static void test_binary_damage(void)
{
  static const struct mill_group two[] = {{"exc", 0, 3}, {"inh", 3, 2}};
  static const struct mill_event event[] = {{1, 2, 0}, {1, 4, 0}, {50, 1, 0}, {100, 0, 0}};
  struct mill_stream_info info = {
      .tick_ps = TICK_100US, .stop = 100, .group_count = 2, .group = two, .seed = 1, .version = "v", .config = "[a]\n"};
  struct mill_error error;
  struct mill_stream *s;
  size_t n;
  if (write_stream(in_folder("x.smk"), NULL, &info, event, 4, 1, &error))
    bail("%s", error.text);
  unsigned char *whole = get_file(in_folder("x.smk"), &n), *bytes = malloc(n + 1);
  is_int((intmax_t)n, 96 + 2 * 16 + 2 + 5 + 8 + 1 + 4 * 12 + 48, "the size of a binary file");
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    const struct field *f = &fields[i];
    memcpy(bytes, whole, n);
    put_at(f->at < 0 ? bytes + n + f->at : bytes + f->at, f->value, f->bytes);
    put_at(bytes + n - 8, XXH64(bytes, n - 8, 0), 8);
    put_file(in_folder("x.smk"), bytes, n);
    error = (struct mill_error){0, "nothing"};
    int failed = mill_stream_read(in_folder("x.smk"), &(struct mill_stream_options){.format = "binary"}, &s, &error);
    ok(failed && error.status == MILL_DATA && strstr(error.text, f->says) && strstr(error.text, "x.smk: "), "refused: %s", f->what);
    diag("%s", error.text);
    mill_stream_free(s);
  }
  int accepted = 0;
  for (size_t i = 0; i < n; i++)
    for (int bit = 0; bit < 8; bit += 7) {
      memcpy(bytes, whole, n);
      bytes[i] ^= (unsigned char)(1u << bit);
      put_file(in_folder("x.smk"), bytes, n);
      accepted += !mill_stream_read(in_folder("x.smk"), &(struct mill_stream_options){.format = "binary"}, &s, &error) ||
                  error.status != MILL_DATA;
      mill_stream_free(s);
    }
  is_int(accepted, 0, "no file with one wrong bit is accepted");
  accepted = 0;
  for (size_t cut = 0; cut < n; cut++) {
    put_file(in_folder("x.smk"), whole, cut);
    accepted += !mill_stream_read(in_folder("x.smk"), &(struct mill_stream_options){.format = "binary"}, &s, &error) ||
                error.status != MILL_DATA;
    mill_stream_free(s);
  }
  memcpy(bytes, whole, n);
  bytes[n] = 0;
  put_file(in_folder("x.smk"), bytes, n + 1);
  accepted += !mill_stream_read(in_folder("x.smk"), &(struct mill_stream_options){.format = "binary"}, &s, &error);
  is_int(accepted, 0, "nor one cut short anywhere, nor one too long");
  diag("%s", error.text);
  put_file(in_folder("x.smk"), whole, n);
  ok(!mill_stream_read(in_folder("x.smk"), NULL, &s, &error) && same_stream(s, &info, event, 4, 1), "the whole one is");
  mill_stream_free(s);
  free(whole);
  free(bytes);
  spikes_empty();
}

int main(void)
{
  plan_later();
  spikes_begin();
  test_binary_damage();
  is_int((intmax_t)mill_memory_held(), 0, "all memory is given back");
  spikes_end();
  return done_testing();
}
