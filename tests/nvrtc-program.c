// Programs compiled by NVRTC itself, which needs no GPU: what only it can say of options, messages and images. Skipped with the reason where it is not.
#include "tap.h"
#include "cuda/program.h"

// An image must not depend on options that a source asks for against those that results depend on.
int main(void)
{
  static const char *const contrary[] = {"--fmad=true", "--prec-div=false", "--prec-sqrt=false", "--ftz=true"};
  static const struct mill_program_text broken[] = {{"path/neuron-foo.c", "static int f(int x)\n{\n  int y = x +;\n  return bar(x);\n}\n"}};
  struct mill_program_source source = {
    {"main.cu", "extern \"C\" __global__ void k(float *a) { a[0] = sqrtf(a[1] * a[2] + a[3]) / a[4]; }"}, 0, NULL, 0, NULL, 9, 0};
  struct mill_compiler *compiler;
  struct mill_program_image image, other;
  struct mill_error error = {0};
  setenv("SPIKEMILL_CACHE", "", 1);
  plan_later();
  if (mill_compiler_open(&compiler, &error)) {
    skip(7, "%s", error.text);
    return done_testing();
  }
  diag("%s", compiler->library_path);
  ok(!mill_program_compile(compiler, &source, &image, &error) && image.size > 4 && memcmp(image.bytes, "\177ELF", 4) == 0, "NVRTC compiles");
  source.option = contrary;
  source.option_count = 4;
  ok(!mill_program_compile(compiler, &source, &other, &error), "and with options against ours");
  ok(image.bytes && other.bytes && image.size == other.size && memcmp(image.bytes, other.bytes, image.size) == 0, "to the same image");
  free(image.bytes);
  free(other.bytes);
  source.option_count = 0;
  source.main.text = "#include \"path/neuron-foo.c\"\nint g;\n";
  source.header_count = 1;
  source.header = broken;
  ok(mill_program_compile(compiler, &source, &image, &error) < 0 && error.status == MILL_USAGE, "errors in a header");
  ok(strstr(error.text, "\n  path/neuron-foo.c(3): error: expected an expression\n  path/neuron-foo.c(4): error: identifier \"bar\" is undefined"),
     "are told with its name and lines");
  source.main.text = "#include <math.h>\nint g;\n";
  ok(mill_program_compile(compiler, &source, &image, &error) < 0 && error.status == MILL_USAGE && strstr(error.text, "main.cu(1): ") &&
       strstr(error.text, "math.h"),
     "a header of libc");
  source.main.text = "int g;\n";
  source.major = 1;
  ok(mill_program_compile(compiler, &source, &image, &error) < 0 && error.status == MILL_RESOURCES && strstr(error.text, "for sm_10: "),
     "an architecture that it does not know");
  mill_compiler_close(compiler);
  return done_testing();
}
