// EMULATOR_NVRTC: images that begin as a GPU's, and texts that only the machine's compiler takes. Skipped where there is no NVRTC.
#include <elf.h>

#include "cuda/program.h"
#include "emulator.h"

static const char *const options[] = {"--gpu-architecture=sm_90", "--fmad=false"};
static const char good[] = "extern \"C\" __global__ void twice(int *a) { a[threadIdx.x] *= 2; }",
                  only_here[] = "extern \"C\" __global__ void wait() { asm volatile(\"pause\"); }";

static char *compile(const char *text, int *code, char log[4000])
{
  return emulator_compile(text, 0, NULL, NULL, 2, options, code, log, 4000);
}

/* Without the variable, in a process of its own: whether it is read is settled once. */
static int taken_without(void)
{
  int status;
  const pid_t child = fork();
  if (child == 0) {
    char log[4000];
    int code;
    unsetenv("EMULATOR_NVRTC");
    compile(only_here, &code, log);
    _exit(code);
  }
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void runs(void)
{
  const int numbers[] = {3, 4, 5};
  int got[3] = {0};
  load();
  mill_cu_address a = put(numbers, sizeof numbers);
  void *parameters[] = {&a};
  ok(launch("twice", 1, 3, 0, NULL, parameters) == 0 && cu.synchronize() == 0, "the emulated GPU takes it");
  get(got, a, sizeof got);
  ok(got[0] == 6 && got[1] == 8 && got[2] == 10, "and its kernel runs");
  cu.release(a);
  unload();
}

int main(void)
{
  struct mill_compiler *compiler;
  struct mill_error error;
  char log[4000];
  int code, major, minor, without;
  plan_later();
  unsetenv("SPIKEMILL_NVRTC");
  if (mill_compiler_open(&compiler, &error)) {
    skip(1, "%s", error.text);
    return done_testing();
  }
  diag("%s", compiler->library_path);
  setenv("EMULATOR_NVRTC", compiler->library_path, 1);
  emulator_open();
  if ((without = taken_without()) == 7) {
    skip(1, "there is no C++ compiler for the emulator");
    mill_compiler_close(compiler);
    return done_testing();
  }
  is_int(without, 0, "without NVRTC: what the machine's compiler takes");
  ok(rtc.version(&major, &minor) == 0 && major == compiler->major && minor == compiler->minor, "its version");
  free(compile(only_here, &code, log));
  ok(code == 6 && strstr(log, "ptxas"), "is not taken by NVRTC, in its words: %.60s", log);
  image = compile(good, &code, log);
  Elf64_Ehdr head = {.e_machine = 0};
  if (image)
    memcpy(&head, image, sizeof head);
  ok(code == 0 && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_machine == EM_CUDA, "an image begins as a GPU's");
  if (code == 0)
    runs();
  free(image);
  mill_compiler_close(compiler);
  return done_testing();
}
