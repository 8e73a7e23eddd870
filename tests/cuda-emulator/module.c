/* Modules: a shared object out of an image, written to a file that is gone once it is loaded. Kernels and variables are found in the image's
   own table of symbols, which has their sizes and those that the dynamic loader doesn't show. */
#include "emulator.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#pragma GCC visibility push(default)
#define DECLARE_(name, symbol, parameters) int symbol parameters;
MILL_CUDA_DRIVER_TABLE(DECLARE_)
#pragma GCC visibility pop

/* A variable that was asked for, or shared memory, whose address is relative. */
struct variable {
  struct variable *next;
  uint64_t address, bytes;
};

struct CUmod_st {
  struct CUmod_st *next;
  void *library;
  unsigned char *base; /* what the object's addresses are relative to */
  struct CUfunc_st *functions;
  struct variable *variables, *shared;
  struct emulator_control *control;
  ElfW(Sym) * symbols;
  size_t symbol_count, names_size;
  char *names;
};
static struct CUmod_st *modules;

static const ElfW(Sym) * find(const struct CUmod_st *module, const char *prefix, const char *name, int type)
{
  size_t n = strlen(prefix);
  for (size_t i = 0; i < module->symbol_count; i++) {
    const ElfW(Sym) *s = &module->symbols[i];
    if ((s->st_info & 15) == type && s->st_shndx != SHN_UNDEF && s->st_name < module->names_size) {
      const char *text = module->names + s->st_name;
      if (strncmp(text, prefix, n) == 0 && strcmp(text + n, name) == 0)
        return s;
    }
  }
  return NULL;
}

/* Takes the symbols and the place of shared memory out of the object. */
static int read_symbols(struct CUmod_st *module, const unsigned char *object, uint64_t bytes)
{
  ElfW(Ehdr) head;
  ElfW(Shdr) section, names, titles;
  if (bytes < sizeof head || memcmp(object, ELFMAG, SELFMAG) != 0)
    return EMU_INVALID_IMAGE;
  memcpy(&head, object, sizeof head);
  if (head.e_shentsize != sizeof section || head.e_shoff > bytes ||
      (uint64_t)head.e_shnum * sizeof section > bytes - head.e_shoff || head.e_shstrndx >= head.e_shnum)
    return EMU_INVALID_IMAGE;
  memcpy(&titles, object + head.e_shoff + head.e_shstrndx * sizeof section, sizeof titles);
  for (unsigned i = 0; i < head.e_shnum; i++) {
    const char shared[] = "emulator.shared.";
    struct variable *v;
    memcpy(&section, object + head.e_shoff + i * sizeof section, sizeof section);
    if (titles.sh_offset + section.sh_name + sizeof shared <= bytes && section.sh_flags & SHF_ALLOC &&
        memcmp(object + titles.sh_offset + section.sh_name, shared, sizeof shared - 1) == 0) {
      if (!(v = malloc(sizeof *v)))
        return EMU_OUT_OF_MEMORY;
      *v = (struct variable){module->shared, section.sh_addr, section.sh_size};
      module->shared = v;
    }
    if (section.sh_type != SHT_SYMTAB || module->symbols)
      continue;
    if (section.sh_link >= head.e_shnum || section.sh_offset > bytes || section.sh_size > bytes - section.sh_offset)
      return EMU_INVALID_IMAGE;
    memcpy(&names, object + head.e_shoff + section.sh_link * sizeof section, sizeof names);
    if (names.sh_offset > bytes || names.sh_size > bytes - names.sh_offset || names.sh_size == 0)
      return EMU_INVALID_IMAGE;
    module->symbol_count = section.sh_size / sizeof *module->symbols;
    module->symbols = malloc(section.sh_size + 1);
    module->names = malloc(names.sh_size);
    if (!module->symbols || !module->names)
      return EMU_OUT_OF_MEMORY;
    memcpy(module->symbols, object + section.sh_offset, module->symbol_count * sizeof *module->symbols);
    memcpy(module->names, object + names.sh_offset, names.sh_size);
    module->names[names.sh_size - 1] = 0;
    module->names_size = names.sh_size;
  }
  return module->symbols ? 0 : EMU_INVALID_IMAGE;
}

/* Loads the object through a file with a name of its own: the loader takes two objects with one name for the same. */
static int load_object(struct CUmod_st *module, const unsigned char *object, uint64_t bytes)
{
  const char *folder = getenv("TMPDIR");
  char path[4096];
  struct link_map *map;
  FILE *file = NULL;
  int fd, code = EMU_SHARED_OBJECT;
  if (snprintf(path, sizeof path, "%s/emulated-XXXXXX", folder && *folder ? folder : "/tmp") >= (int)sizeof path)
    return code;
  if ((fd = mkstemp(path)) < 0 || !(file = fdopen(fd, "wb"))) {
    emu_say("cannot make %s", path);
    if (fd >= 0) {
      close(fd);
      unlink(path);
    }
    return code;
  }
  if (fwrite(object, 1, bytes, file) != bytes || fflush(file) != 0)
    emu_say("cannot write %s", path);
  else if (!(module->library = dlopen(path, RTLD_NOW | RTLD_LOCAL)))
    emu_say("cannot load a module: %s", dlerror());
  else if (dlinfo(module->library, RTLD_DI_LINKMAP, &map) != 0)
    emu_say("cannot load a module: %s", dlerror());
  else {
    uintptr_t base = map->l_addr;
    memcpy(&module->base, &base, sizeof base);
    code = 0;
  }
  fclose(file);
  unlink(path);
  return code;
}

static void variables_free(struct variable *v)
{
  for (struct variable *next; v; v = next) {
    next = v->next;
    free(v);
  }
}

static void module_free(struct CUmod_st *module)
{
  for (struct CUfunc_st *f; (f = module->functions);) {
    module->functions = f->next;
    free(f);
  }
  variables_free(module->variables);
  variables_free(module->shared);
  if (module->library)
    dlclose(module->library);
  free(module->symbols);
  free(module->names);
  free(module);
}

/* The emulated GPU's part of an image, which stands behind a real one's when there is one (nvrtc-real.c). */
static const unsigned char *own_part(const unsigned char *image)
{
  ElfW(Ehdr) head;
  ElfW(Shdr) section;
  ElfW(Phdr) segment;
  uint64_t end;
  if (memcmp(image, ELFMAG, SELFMAG) != 0)
    return image;
  memcpy(&head, image, sizeof head);
  if (head.e_machine != EM_CUDA || head.e_shentsize != sizeof section || (head.e_phnum && head.e_phentsize != sizeof segment))
    return image;
  end = head.e_shoff + head.e_shnum * sizeof section;
  for (unsigned i = 0; i < head.e_shnum; i++) {
    memcpy(&section, image + head.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type != SHT_NOBITS && section.sh_offset + section.sh_size > end)
      end = section.sh_offset + section.sh_size;
  }
  if (head.e_phoff + head.e_phnum * sizeof segment > end)
    end = head.e_phoff + head.e_phnum * sizeof segment;
  return image + (end + 7) / 8 * 8;
}

int cuModuleLoadData(mill_cu_module *made, const void *image)
{
  int code = emu_enter(1);
  struct emulator_image head;
  struct CUmod_st *module = NULL;
  const ElfW(Sym) * control;
  if (!code && emu_captures())
    code = emu_disturb();
  if (!code && (!made || !image))
    code = EMU_INVALID_VALUE;
  if (code)
    return emu_leave(code);
  const unsigned char *part = own_part(image);
  if (memcmp(part, EMULATOR_MAGIC, sizeof head.magic) != 0)
    return emu_leave(EMU_INVALID_IMAGE);
  memcpy(&head, part, sizeof head);
  if (head.architecture / 10 != emu_architecture() / 10 || head.architecture > emu_architecture())
    return emu_leave(EMU_NO_BINARY);
  if (!(module = calloc(1, sizeof *module)))
    return emu_leave(EMU_OUT_OF_MEMORY);
  const unsigned char *object = part + sizeof head;
  if ((code = read_symbols(module, object, head.bytes)) || (code = load_object(module, object, head.bytes)))
    goto failed;
  if (!(control = find(module, "", "emulator_control", STT_OBJECT)) || control->st_size != sizeof *module->control) {
    code = EMU_INVALID_IMAGE;
    goto failed;
  }
  module->control = (void *)(module->base + control->st_value);
  emu_block_hooks(module->control);
  module->next = modules;
  modules = module;
  *made = module;
  return emu_leave(0);
failed:
  module_free(module);
  return emu_leave(code);
}

int cuModuleUnload(mill_cu_module module)
{
  int code = emu_enter(1), found = 0;
  if (!code && emu_captures())
    code = emu_disturb();
  if (!code || code == emu_broken())
    for (struct CUmod_st **at = &modules; *at && !found; at = &(*at)->next)
      if (*at == module) {
        *at = module->next;
        module_free(module);
        found = 1;
        break;
      }
  if (!code && !found)
    code = EMU_INVALID_HANDLE;
  return emu_leave(code);
}

static int is_module(const struct CUmod_st *module)
{
  for (const struct CUmod_st *m = modules; m; m = m->next)
    if (m == module)
      return 1;
  return 0;
}

int cuModuleGetFunction(mill_cu_function *function, mill_cu_module module, const char *name)
{
  int code = emu_enter(1);
  const ElfW(Sym) * symbol;
  struct CUfunc_st *f = NULL;
  if (!code && (!function || !name))
    code = EMU_INVALID_VALUE;
  if (!code && !is_module(module))
    code = EMU_INVALID_HANDLE;
  if (code)
    return emu_leave(code);
  for (f = module->functions; f && strcmp(f->name, name) != 0; f = f->next)
    ;
  if (!f) {
    /* The second name is the kernel's own: without extern "C" it is another. */
    if (!(symbol = find(module, "emulator_entry_", name, STT_OBJECT)) || symbol->st_size != sizeof *f->entry ||
        !find(module, "", name, STT_FUNC))
      return emu_leave(EMU_NOT_FOUND);
    if (!(f = calloc(1, sizeof *f + strlen(name) + 1)))
      return emu_leave(EMU_OUT_OF_MEMORY);
    f->module = module;
    f->entry = (const void *)(module->base + symbol->st_value);
    f->shared_allowed = EMU_SHARED_PLAIN;
    strcpy(f->name, name);
    f->next = module->functions;
    module->functions = f;
  }
  *function = f;
  return emu_leave(0);
}

int cuModuleGetGlobal_v2(mill_cu_address *address, size_t *bytes, mill_cu_module module, const char *name)
{
  int code = emu_enter(1);
  const ElfW(Sym) * symbol;
  struct variable *v;
  if (!code && !name)
    code = EMU_INVALID_VALUE;
  if (!code && !is_module(module))
    code = EMU_INVALID_HANDLE;
  if (code)
    return emu_leave(code);
  if (!(symbol = find(module, "", name, STT_OBJECT)) || strncmp(name, "emulator_", 9) == 0)
    return emu_leave(EMU_NOT_FOUND);
  for (v = module->variables; v && v->address != (uint64_t)(uintptr_t)(module->base + symbol->st_value); v = v->next)
    ;
  if (!v) {
    if (!(v = malloc(sizeof *v)))
      return emu_leave(EMU_OUT_OF_MEMORY);
    *v = (struct variable){module->variables, (uint64_t)(uintptr_t)(module->base + symbol->st_value), symbol->st_size};
    module->variables = v;
  }
  if (address)
    *address = v->address;
  if (bytes)
    *bytes = v->bytes;
  return emu_leave(0);
}

struct emulator_control *emu_control(const struct CUmod_st *module)
{
  return module->control;
}

void emu_shared_forget(const struct CUmod_st *module)
{
  for (const struct variable *v = module->shared; v; v = v->next)
    emu_fill(module->base + v->address, v->bytes);
}

int emu_function_valid(const struct CUfunc_st *function)
{
  for (const struct CUmod_st *m = modules; m; m = m->next)
    for (const struct CUfunc_st *f = m->functions; f; f = f->next)
      if (f == function)
        return 1;
  return 0;
}

int emu_module_reaches(uint64_t address, uint64_t bytes)
{
  for (const struct CUmod_st *m = modules; m; m = m->next)
    for (const struct variable *v = m->variables; v; v = v->next)
      if (address >= v->address && address - v->address <= v->bytes && bytes <= v->bytes - (address - v->address))
        return 1;
  return 0;
}

unsigned emu_modules_alive(void)
{
  unsigned n = 0;
  for (const struct CUmod_st *m = modules; m; m = m->next)
    n++;
  return n;
}

void emu_modules_drop(void)
{
  while (modules) {
    struct CUmod_st *next = modules->next;
    module_free(modules);
    modules = next;
  }
}
