/* What makes a file a sound plugin. Files are looked into before they are loaded, because loading runs code and a damaged file can
   kill the process; descriptors are checked member by member in the order in which members may be trusted. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <spikemill/counter.h>
#include <spikemill/delivery.h>
#include <spikemill/format.h>
#include <spikemill/neuron-ops.h>
#include <spikemill/plasticity.h>
#include <spikemill/stimulus.h>
#include <spikemill/synapse-ops.h>
#include "param.h"
#include "plugin-check.h"
#include "registry.h"
#include "text.h"

/* The least size of an ops table: what follows it is optional, and absent in a plugin built for an earlier minor version. */
static const struct {
  const char *name;
  size_t ops_size;
} kinds[MILL_KIND_COUNT] = {
    [MILL_NEURON] = {"neuron", sizeof(struct mill_neuron_ops)},
    [MILL_SYNAPSE] = {"synapse", sizeof(struct mill_synapse_ops)},
    [MILL_PLASTICITY] = {"plasticity", sizeof(struct mill_plasticity_ops)},
    [MILL_DELIVERY] = {"delivery", offsetof(struct mill_delivery_ops, device)},
    [MILL_STIMULUS] = {"stimulus", offsetof(struct mill_stimulus_ops, device)},
    [MILL_COUNTER] = {"counter", offsetof(struct mill_counter_ops, tell)},
    [MILL_FORMAT] = {"format", sizeof(struct mill_format_ops)},
};

/* Size of the descriptor in each minor version. */
static const uint32_t descriptor_size[] = {
    offsetof(struct mill_plugin, source),
    offsetof(struct mill_plugin, source_name),
    offsetof(struct mill_plugin, source_name),
    sizeof(struct mill_plugin),
    sizeof(struct mill_plugin),
    sizeof(struct mill_plugin),
    sizeof(struct mill_plugin),
};
_Static_assert(sizeof descriptor_size / sizeof *descriptor_size == MILL_ABI_MINOR + 1, "one size for each minor version");

#define KNOWN_FLAGS (MILL_CPU | MILL_CUDA | MILL_EXACT)
#define COUNT_MAX 4096u /* of parameters, states and receptors: more is no count */

#define NEEDS(kind, table, member)                                                                                                 \
  {                                                                                                                                \
    kind, #member, offsetof(struct table, member)                                                                                  \
  }
/* Members of the ops tables that are pointers and must be set. */
static const struct {
  int kind;
  const char *name;
  size_t offset;
} needed[] = {
    NEEDS(MILL_NEURON, mill_neuron_ops, code[0].derive),
    NEEDS(MILL_NEURON, mill_neuron_ops, code[0].init),
    NEEDS(MILL_NEURON, mill_neuron_ops, code[0].step),
    NEEDS(MILL_NEURON, mill_neuron_ops, code[1].derive),
    NEEDS(MILL_NEURON, mill_neuron_ops, code[1].init),
    NEEDS(MILL_NEURON, mill_neuron_ops, code[1].step),
    NEEDS(MILL_PLASTICITY, mill_plasticity_ops, applicable),
    NEEDS(MILL_PLASTICITY, mill_plasticity_ops, visit),
    NEEDS(MILL_DELIVERY, mill_delivery_ops, applicable),
    NEEDS(MILL_DELIVERY, mill_delivery_ops, slice_width),
    NEEDS(MILL_DELIVERY, mill_delivery_ops, prepare),
    NEEDS(MILL_DELIVERY, mill_delivery_ops, deliver),
    NEEDS(MILL_DELIVERY, mill_delivery_ops, release),
    NEEDS(MILL_STIMULUS, mill_stimulus_ops, prepare),
    NEEDS(MILL_STIMULUS, mill_stimulus_ops, release),
    NEEDS(MILL_COUNTER, mill_counter_ops, open),
    NEEDS(MILL_COUNTER, mill_counter_ops, count),
    NEEDS(MILL_COUNTER, mill_counter_ops, keep),
    NEEDS(MILL_COUNTER, mill_counter_ops, close),
    NEEDS(MILL_FORMAT, mill_format_ops, extensions),
    NEEDS(MILL_FORMAT, mill_format_ops, probe),
    NEEDS(MILL_FORMAT, mill_format_ops, open),
    NEEDS(MILL_FORMAT, mill_format_ops, read),
    NEEDS(MILL_FORMAT, mill_format_ops, close),
    NEEDS(MILL_FORMAT, mill_format_ops, create),
    NEEDS(MILL_FORMAT, mill_format_ops, write),
    NEEDS(MILL_FORMAT, mill_format_ops, finish),
    NEEDS(MILL_FORMAT, mill_format_ops, abandon),
};

const char *mill_kind_name(int kind)
{
  return kind > 0 && kind < MILL_KIND_COUNT ? kinds[kind].name : "unknown";
}

int mill_kind_find(const char *name)
{
  for (int kind = 1; kind < MILL_KIND_COUNT; kind++)
    if (!strcmp(kinds[kind].name, name))
      return kind;
  return 0;
}

int mill_plugin_file_name(const char *path, int *kind, const char **name, size_t *length, struct mill_error *error)
{
  const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path, *dash = strchr(file, '-');
  size_t n = strlen(file);
  char text[256];
  if (!dash || n < 4 || strcmp(file + n - 3, ".so") || n - 3 <= (size_t)(dash + 1 - file) || n >= sizeof text)
    return mill_fail(error, MILL_USAGE, "%s: a plugin's file is called KIND-NAME.so", path);
  memcpy(text, file, (size_t)(dash - file));
  text[dash - file] = 0;
  *kind = mill_kind_find(text);
  if (!*kind)
    return mill_fail(error, MILL_USAGE, "%s: a plugin's file is called KIND-NAME.so, and `%s` is no kind of plugin", path, text);
  *name = dash + 1;
  *length = n - 3 - (size_t)(dash + 1 - file);
  return 0;
}

/* ---- The file */

static int read_at(int fd, void *buffer, size_t size, uint64_t offset)
{
  for (char *p = buffer; size;) {
    ssize_t got = pread(fd, p, size, (off_t)offset);
    if (got <= 0 && !(got < 0 && errno == EINTR))
      return -1;
    if (got > 0) {
      p += got;
      size -= (size_t)got;
      offset += (uint64_t)got;
    }
  }
  return 0;
}

static int check_elf(const char *path, int fd, uint64_t size, struct mill_error *error)
{
  static const unsigned char own_class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
  ElfW(Ehdr) head;
  if (size < sizeof head || read_at(fd, &head, sizeof head, 0) || memcmp(head.e_ident, ELFMAG, SELFMAG))
    return mill_fail(error, MILL_USAGE, "%s: not a plugin: it is no ELF file", path);
  if (head.e_ident[EI_CLASS] != own_class)
    return mill_fail(error, MILL_USAGE, "%s: not a plugin for this machine: its ELF class is %u (%u here)", path,
                     head.e_ident[EI_CLASS], own_class);
  if (head.e_type != ET_DYN)
    return mill_fail(error, MILL_USAGE, "%s: not a plugin: it is no shared object (ELF type %u, %u expected)", path, head.e_type,
                     ET_DYN);
  for (unsigned i = 0; i < head.e_phnum; i++) {
    ElfW(Phdr) part;
    if (head.e_phentsize != sizeof part || read_at(fd, &part, sizeof part, head.e_phoff + (uint64_t)i * sizeof part))
      return mill_fail(error, MILL_USAGE, "%s: not a plugin: its ELF headers are damaged", path);
    if (part.p_type == PT_LOAD && (part.p_offset > size || part.p_filesz > size - part.p_offset))
      return mill_fail(error, MILL_USAGE, "%s: the file is cut off: it has %llu bytes and needs %llu", path,
                       (unsigned long long)size, (unsigned long long)part.p_offset + part.p_filesz);
  }
  return 0;
}

int mill_plugin_check_file(const char *path, struct mill_error *error)
{
  struct stat st;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0)
    return mill_fail(error, MILL_USAGE, "%s: the plugin cannot be read: %s", path, strerror(errno));
  int result;
  if (fstat(fd, &st))
    result = mill_fail(error, MILL_USAGE, "%s: the plugin cannot be read: %s", path, strerror(errno));
  else if (!S_ISREG(st.st_mode))
    result = mill_fail(error, MILL_USAGE, "%s: not a plugin: it is %s", path, S_ISDIR(st.st_mode) ? "a folder" : "no regular file");
  else
    result = check_elf(path, fd, (uint64_t)st.st_size, error);
  close(fd);
  return result;
}

/* ---- The descriptor */

static int check_version(const char *path, const struct mill_plugin *p, size_t size, struct mill_error *error)
{
  if (size && size < 16)
    return mill_fail(error, MILL_USAGE, "%s: not a plugin: its symbol `spikemill_plugin` has %zu bytes, a descriptor at least 16",
                     path, size);
  if (p->magic != MILL_PLUGIN_MAGIC)
    return mill_fail(error, MILL_USAGE, "%s: not a plugin: its magic number is 0x%08x, not 0x%08x", path, p->magic,
                     MILL_PLUGIN_MAGIC);
  if (p->pointer_size != sizeof(void *))
    return mill_fail(error, MILL_USAGE, "%s: built for pointers of %u bytes (here they have %zu)", path, p->pointer_size,
                     sizeof(void *));
  if (p->abi_major != MILL_ABI_MAJOR || p->abi_minor > MILL_ABI_MINOR)
    return mill_fail(error, MILL_USAGE, "%s: built for plugin ABI %u.%u (this is %d.%d, which serves %d.0 to %d.%d)", path,
                     p->abi_major, p->abi_minor, MILL_ABI_MAJOR, MILL_ABI_MINOR, MILL_ABI_MAJOR, MILL_ABI_MAJOR, MILL_ABI_MINOR);
  uint32_t want = descriptor_size[p->abi_minor];
  if (p->size != want)
    return mill_fail(error, MILL_USAGE, "%s: its descriptor is %s than ABI %u.%u requires: %u bytes, not %u", path,
                     p->size < want ? "shorter" : "longer", p->abi_major, p->abi_minor, p->size, want);
  if (size && size < want)
    return mill_fail(error, MILL_USAGE, "%s: its descriptor is cut off: it says %u bytes, the symbol has %zu", path, want, size);
  return 0;
}

static int check_names(const char *path, const struct mill_plugin *p, struct mill_error *error)
{
  const struct {
    const char *what, *text;
  } texts[] = {{"version", p->version}, {"summary", p->summary}, {"licence", p->licence}};
  int kind;
  const char *name;
  size_t length;
  if (p->kind < 1 || p->kind >= MILL_KIND_COUNT)
    return mill_fail(error, MILL_USAGE, "%s: its kind is number %u, and kinds go from 1 to %d", path, p->kind, MILL_KIND_COUNT - 1);
  if (mill_plugin_file_name(path, &kind, &name, &length, error))
    return -1;
  if (kind != p->kind)
    return mill_fail(error, MILL_USAGE, "%s: its file name says `%s` (kind %d), its descriptor `%s` (kind %u)", path,
                     mill_kind_name(kind), kind, mill_kind_name(p->kind), p->kind);
  if (!p->name || !mill_text_is_key(p->name, 1))
    return mill_fail(error, MILL_USAGE, "%s: its name is `%s`, not of the form [a-z][a-z0-9_-]*", path, p->name ? p->name : "");
  if (strlen(p->name) != length || strncmp(p->name, name, length))
    return mill_fail(error, MILL_USAGE, "%s: its file name says `%.*s`, its descriptor `%s`", path, (int)length, name, p->name);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (!texts[i].text || !*texts[i].text)
      return mill_fail(error, MILL_USAGE, "%s: its descriptor has no %s", path, texts[i].what);
  return 0;
}

static int check_neuron(const char *path, const struct mill_plugin *p, struct mill_error *error)
{
  const struct mill_neuron_ops *ops = p->ops;
  if (ops->state_count > COUNT_MAX || ops->receptor_count > COUNT_MAX)
    return mill_fail(error, MILL_USAGE, "%s: it says %u states and %u receptors; at most %u can be", path, ops->state_count,
                     ops->receptor_count, COUNT_MAX);
  if ((ops->state_count && !ops->state) || (ops->receptor_count && !ops->receptor))
    return mill_fail(error, MILL_USAGE, "%s: its table of %s is missing", path, ops->state ? "receptors" : "states");
  for (uint32_t i = 0; i < ops->state_count; i++) {
    const struct mill_state_spec *s = &ops->state[i];
    if (!s->name || !mill_text_is_key(s->name, 0) || !s->unit || !s->initial || !s->doc)
      return mill_fail(error, MILL_USAGE, "%s: state %u lacks a name, unit, initial value or description", path, i);
    if (s->type < MILL_STATE_REAL || s->type > MILL_STATE_DOUBLE)
      return mill_fail(error, MILL_USAGE, "%s: state `%s` is of type number %u, and types go from 1 to %d", path, s->name, s->type,
                       MILL_STATE_DOUBLE);
    for (uint32_t j = 0; j < i; j++)
      if (!strcmp(s->name, ops->state[j].name))
        return mill_fail(error, MILL_USAGE, "%s: states %u and %u are both called `%s`", path, j, i, s->name);
    for (uint32_t j = 0; j < p->param_count; j++)
      if (!strcmp(s->name, p->params[j].key))
        return mill_fail(error, MILL_USAGE, "%s: state %u and parameter %u are both called `%s`", path, i, j, s->name);
  }
  for (uint32_t i = 0; i < ops->receptor_count; i++) {
    const struct mill_receptor_spec *r = &ops->receptor[i];
    if (!r->name || !mill_text_is_key(r->name, 0) || !r->unit || !r->doc)
      return mill_fail(error, MILL_USAGE, "%s: receptor %u lacks a name, unit or description", path, i);
    for (uint32_t j = 0; j < i; j++)
      if (!strcmp(r->name, ops->receptor[j].name))
        return mill_fail(error, MILL_USAGE, "%s: receptors %u and %u are both called `%s`", path, j, i, r->name);
  }
  for (int i = 0; i < 2; i++) {
    uint32_t want = i ? sizeof(double) : sizeof(float);
    if (ops->code[i].real_size != want || !ops->code[i].param_size)
      return mill_fail(error, MILL_USAGE,
                       "%s: its code for %s precision has numbers of %u bytes (not %u) and %u bytes of parameters", path,
                       i ? "double" : "single", ops->code[i].real_size, want, ops->code[i].param_size);
  }
  return 0;
}

static int check_stimulus(const char *path, const struct mill_stimulus_ops *ops, struct mill_error *error)
{
  if (!ops->events == !ops->current)
    return mill_fail(error, MILL_USAGE, "%s: its ops table must have exactly one of `events` and `current`", path);
  if (ops->events && !ops->largest)
    return mill_fail(error, MILL_USAGE, "%s: its ops table has `events` but no `largest`", path);
  if (ops->file_key && !ops->events_from)
    return mill_fail(error, MILL_USAGE, "%s: its ops table has `file_key` but no `events_from`", path);
  return 0;
}

static int check_ops(const char *path, const struct mill_plugin *p, struct mill_error *error)
{
  size_t want = kinds[p->kind].ops_size;
  if (p->ops_size < want)
    return mill_fail(error, MILL_USAGE, "%s: its ops table has %u bytes, that of a %s has at least %zu", path, p->ops_size,
                     mill_kind_name(p->kind), want);
  if (!p->ops)
    return mill_fail(error, MILL_USAGE, "%s: it has no ops table", path);
  for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
    void *member;
    if (needed[i].kind != p->kind)
      continue;
    memcpy(&member, (const char *)p->ops + needed[i].offset, sizeof member);
    if (!member)
      return mill_fail(error, MILL_USAGE, "%s: its ops table has no `%s`", path, needed[i].name);
  }
  if (p->kind == MILL_STIMULUS)
    return check_stimulus(path, p->ops, error);
  return p->kind == MILL_NEURON ? check_neuron(path, p, error) : 0;
}

int mill_plugin_check(const char *path, const struct mill_plugin *p, size_t size, struct mill_error *error)
{
  if (check_version(path, p, size, error) || check_names(path, p, error))
    return -1;
  if (p->flags & ~(uint32_t)KNOWN_FLAGS)
    return mill_fail(error, MILL_USAGE, "%s: its flags 0x%x hold bits that ABI %d.%d does not know (0x%x)", path, p->flags,
                     MILL_ABI_MAJOR, MILL_ABI_MINOR, KNOWN_FLAGS);
  if (!(p->flags & (MILL_CPU | MILL_CUDA)))
    return mill_fail(error, MILL_USAGE, "%s: its flags 0x%x name no device (CPU 0x%x, CUDA 0x%x)", path, p->flags, MILL_CPU,
                     MILL_CUDA);
  if (p->param_count > COUNT_MAX || (p->param_count && !p->params))
    return mill_fail(error, MILL_USAGE, "%s: it says %u parameters and has %s table of them; at most %u can be", path,
                     p->param_count, p->params ? "a" : "no", COUNT_MAX);
  if (mill_param_check_table(p->params, p->param_count, p->params_size, error)) {
    mill_fail_within(error, "%s: its parameter table is wrong", path);
    return -1;
  }
  if (check_ops(path, p, error))
    return -1;
  if (p->abi_minor >= 1 && (!p->source != !p->source_end || p->source_end < p->source))
    return mill_fail(error, MILL_USAGE, "%s: its source text has a start or an end only, or ends before it starts", path);
  return 0;
}
