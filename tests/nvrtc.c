// Every neuron model compiles for a GPU at run time, in both precisions, from the text that the CPU's compiler reads. That needs NVRTC
// but no GPU. NVRTC is opened here with prototypes of our own, as spikemill's build must not need a toolkit.
#include <dirent.h>
#include <dlfcn.h>
#include "tap.h"

typedef struct nvrtc_program *program_t;
static struct {
  int (*create)(program_t *, const char *source, const char *name, int headers, const char *const *texts, const char *const *names);
  int (*compile)(program_t, int count, const char *const *options);
  int (*log_size)(program_t, size_t *);
  int (*log)(program_t, char *);
  int (*destroy)(program_t *);
} nvrtc;

static const struct {
  void *slot;
  const char *name;
} entries[] = {
  {&nvrtc.create, "nvrtcCreateProgram"},
  {&nvrtc.compile, "nvrtcCompileProgram"},
  {&nvrtc.log_size, "nvrtcGetProgramLogSize"},
  {&nvrtc.log, "nvrtcGetProgramLog"},
  {&nvrtc.destroy, "nvrtcDestroyProgram"},
};

struct files {
  int count;
  char *name[64], *text[64];
};

static void open_nvrtc(void)
{
  const char *places[] = {getenv("SPIKEMILL_NVRTC"), "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                          "/usr/local/cuda/lib64/libnvrtc.so"};
  void *library = NULL;
  for (size_t i = 0; i < sizeof places / sizeof *places && !library; i++)
    if (places[i] && *places[i])
      library = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return;
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    void *function = dlsym(library, entries[i].name);
    if (!function)
      bail("libnvrtc has no %s", entries[i].name);
    memcpy(entries[i].slot, &function, sizeof function);
  }
}

static char *text_of(const char *path)
{
  FILE *file = fopen(path, "rb");
  size_t size = 0, got;
  char *text = NULL, *more;
  if (!file)
    bail("cannot read %s", path);
  do {
    if (!(more = realloc(text, size + 65536 + 1)))
      bail("no memory");
    text = more;
    size += got = fread(text + size, 1, 65536, file);
  } while (got);
  fclose(file);
  text[size] = 0;
  return text;
}

// The files of a source folder that end so, named "prefix" + name.
static void read_folder(struct files *files, const char *folder, const char *ending, const char *prefix)
{
  const char *top = getenv("top_srcdir");
  char path[4096], name[512];
  snprintf(path, sizeof path, "%s/%s", top ? top : ".", folder);
  DIR *directory = opendir(path);
  if (!directory)
    bail("cannot list %s", path);
  for (struct dirent *entry; (entry = readdir(directory));) {
    size_t length = strlen(entry->d_name), end = strlen(ending);
    if (length <= end || strcmp(entry->d_name + length - end, ending) != 0 || files->count == 64)
      continue;
    snprintf(path, sizeof path, "%s/%s/%s", top ? top : ".", folder, entry->d_name);
    snprintf(name, sizeof name, "%s%s", prefix, entry->d_name);
    files->name[files->count] = strdup(name);
    files->text[files->count++] = text_of(path);
  }
  closedir(directory);
}

static void forget(struct files *files)
{
  for (int i = 0; i < files->count; i++) {
    free(files->name[i]);
    free(files->text[i]);
  }
}

// Compiles a model's text as a device program would hold it. Shows the log when that was expected to work and did not.
static bool compiles(const struct files *headers, const char *model, const char *real, bool expected)
{
  static const char *const options[] = {"--gpu-architecture=sm_90", "-default-device", "--fmad=false", "--std=c++17"};
  char source[2000], *log;
  const char *texts[65], *names[65];
  size_t size = 0;
  program_t program;
  snprintf(source, sizeof source,
           "#include <spikemill/device.h>\n"
           "%s"
           "#define mill_real %s\n"
           "namespace m {\n"
           "#include \"model.c\"\n"
           "}\n"
           "extern \"C\" __global__ void advance(m::mill_state *s, const m::mill_param *p, const m::mill_input *in, int *fired, int n)\n"
           "{\n"
           "  int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);\n"
           "  if (i < n)\n"
           "    fired[i] = m::mill_step(&s[i], p, &in[i]);\n"
           "}\n",
           strcmp(real, "float") == 0 ? "#define MILL_SINGLE 1\n" : "", real);
  for (int i = 0; i < headers->count; i++) {
    texts[i] = headers->text[i];
    names[i] = headers->name[i];
  }
  texts[headers->count] = model;
  names[headers->count] = "model.c";
  if (nvrtc.create(&program, source, "program.cu", headers->count + 1, texts, names))
    bail("nvrtcCreateProgram failed");
  bool good = nvrtc.compile(program, sizeof options / sizeof *options, options) == 0;
  if (good != expected && nvrtc.log_size(program, &size) == 0 && size > 1 && (log = malloc(size))) {
    if (nvrtc.log(program, log) == 0)
      for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n"))
        diag("%s", line);
    free(log);
  }
  nvrtc.destroy(&program);
  return good;
}

int main(void)
{
  struct files headers = {0}, models = {0};
  plan_later();
  read_folder(&headers, "core/spikemill", ".h", "spikemill/");
  read_folder(&models, "neuron-models", ".c", "");
  ok(headers.count > 0 && models.count > 0, "%d headers and %d models to compile", headers.count, models.count);
  open_nvrtc();
  if (!nvrtc.destroy) {
    skip(2 * models.count + 1, "no libnvrtc here (looked at SPIKEMILL_NVRTC, the loader's path, /usr/local/cuda/lib64)");
  } else {
    for (int i = 0; i < models.count; i++) {
      ok(compiles(&headers, models.text[i], "float", true), "%s in single precision", models.name[i]);
      ok(compiles(&headers, models.text[i], "double", true), "%s in double precision", models.name[i]);
    }
    char *text = malloc(strlen(models.text[0]) + 100);
    if (!text)
      bail("no memory");
    sprintf(text, "#include <math.h>\n%s", models.text[0]);
    ok(!compiles(&headers, text, "float", false), "%s is refused when it asks for libc", models.name[0]);
    free(text);
  }
  forget(&headers);
  forget(&models);
  return done_testing();
}
