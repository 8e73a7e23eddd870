// The driver and NVRTC of the emulated GPU: streams, graphs, what they refuse, and what they find that a GPU would find or leave unsaid:
// barriers that not all threads reach, memory that is never given back.
#include "emulator.h"
#include "cuda-emulator/guarded.h"

static char said[4000];

static void test_properties(void)
{
  int value[4], count = 0;
  char name[20] = "";
  size_t bytes = 0;
  ok(cu.device_count(&count) == 0 && count == 1, "one device");
  ok(cu.device_name(name, sizeof name, 0) == 0 && strcmp(name, "emulated") == 0, "its name");
  ok(cu.device_memory(&bytes, 0) == 0 && bytes == (size_t)2 << 30, "its memory");
  ok(cu.device_attribute(&value[0], MILL_CU_MAJOR, 0) == 0 && cu.device_attribute(&value[1], MILL_CU_MINOR, 0) == 0 &&
         cu.device_attribute(&value[2], MILL_CU_MULTIPROCESSORS, 0) == 0 &&
         cu.device_attribute(&value[3], MILL_CU_SHARED_PER_BLOCK_OPTIN, 0) == 0 && value[0] == 9 && value[1] == 0 &&
         value[2] == 4 && value[3] == 232448,
     "its size");
  ok(cu.occupancy(&count, function("sum"), 256, 0) == 0 && count == 8, "blocks that it takes at a time");
  const char *text = NULL;
  ok(cu.error_name(719, &text) == 0 && strcmp(text, "CUDA_ERROR_LAUNCH_FAILED") == 0, "an error's name");
  ok(cu.error_text(12345, &text) == 1 && !text, "an error that is none");
}

// a = 3 (a factor + b) + b in a graph of two streams: the second computes b = b + b before the first goes on.
static void test_graphs(void)
{
  mill_cu_stream one, two;
  mill_cu_event start, joined;
  mill_cu_graph graph = NULL;
  mill_cu_graph_exec exec = NULL;
  int a[32], b[32], got[32], factor = 5, three = 3, twice = 1, bad;
  for (int i = 0; i < 32; i++) {
    a[i] = i;
    b[i] = 100 + i;
  }
  mill_cu_address da = put(a, sizeof a), db = put(b, sizeof b), dc = put(b, sizeof b);
  if (cu.stream_create(&one, MILL_CU_STREAM_NON_BLOCKING) || cu.stream_create(&two, MILL_CU_STREAM_NON_BLOCKING) ||
      cu.event_create(&start, MILL_CU_EVENT_DISABLE_TIMING) || cu.event_create(&joined, MILL_CU_EVENT_DISABLE_TIMING))
    bail("streams");
  is_int(cu.capture_begin(NULL, MILL_CU_CAPTURE_THREAD_LOCAL), 900, "the default stream can't be captured");
  is_int(cu.capture_begin(one, MILL_CU_CAPTURE_THREAD_LOCAL), 0, "a capture begins");
  cu.event_record(start, one);
  cu.stream_wait(two, start, 0);
  launch("step", 1, 32, 0, one, (void *[]){&da, &dc, &factor});
  launch("step", 1, 32, 0, two, (void *[]){&db, &db, &twice});
  cu.event_record(joined, two);
  cu.stream_wait(one, joined, 0);
  launch("step", 1, 32, 0, one, (void *[]){&da, &db, &three});
  factor = three = 1000; /* parameters were copied */
  is_int(cu.capture_end(two, &graph), 903, "it does not end in another stream");
  is_int(cu.capture_end(one, &graph), 901, "and is spoiled by the attempt");
  get(got, da, sizeof got);
  is_int(memcmp(got, a, sizeof a), 0, "nothing has been done");
  for (int again = 0; again < 2; again++) {
    factor = 5;
    three = 3;
    cu.capture_begin(one, MILL_CU_CAPTURE_THREAD_LOCAL);
    cu.event_record(start, one);
    cu.stream_wait(two, start, 0);
    launch("step", 1, 32, 0, one, (void *[]){&da, &dc, &factor});
    launch("step", 1, 32, 0, two, (void *[]){&db, &db, &twice});
    if (again) {
      cu.event_record(joined, two);
      cu.stream_wait(one, joined, 0);
    }
    launch("step", 1, 32, 0, one, (void *[]){&da, &db, &three});
    factor = three = 1000;
    is_int(cu.capture_end(one, &graph), again ? 0 : 904,
           again ? "a graph of two streams" : "a stream that did not come back is found");
  }
  is_int(cu.graph_instantiate(&exec, graph, 0), 0, "it is instantiated");
  is_int(cu.graph_destroy(graph), 0, "it may go then");
  for (int order = 0; order < 12; order++) {
    set("EMULATOR_ORDER", order);
    cu.upload(da, a, sizeof a);
    cu.upload(db, b, sizeof b);
    if (cu.graph_launch(exec, one) || cu.stream_synchronize(one))
      bail("cuGraphLaunch");
    get(got, da, sizeof got);
    bad = 0;
    for (int i = 0; i < 32; i++)
      bad += got[i] != (a[i] * 5 + b[i]) * 3 + 2 * b[i];
    if (bad)
      break;
  }
  unsetenv("EMULATOR_ORDER");
  is_int(bad, 0, "it does the same in every order that its events allow");
  mill_cu_address extra;
  cu.capture_begin(one, MILL_CU_CAPTURE_THREAD_LOCAL);
  is_int(cu.allocate(&extra, 64), 900, "no memory is allocated during a capture");
  is_int(launch("step", 1, 32, 0, one, (void *[]){&da, &db, &twice}), 901, "which that spoils");
  is_int(cu.capture_end(one, &graph), 901, "and which ends so");
  is_int(cu.graph_exec_destroy(exec), 0, "a graph goes");
  is_int(cu.graph_exec_destroy(exec), 400, "once");
  cu.release(da);
  cu.release(db);
  cu.release(dc);
  cu.event_destroy(start);
  cu.event_destroy(joined);
  cu.stream_destroy(one);
  cu.stream_destroy(two);
}

// Nothing is done before somebody waits for it.
static void test_lazy(void)
{
  mill_cu_stream stream, other;
  mill_cu_event event;
  int a[32], b[32], factor = 2, *pinned = NULL;
  for (int i = 0; i < 32; i++)
    a[i] = b[i] = i;
  set("EMULATOR_LAZY", 1);
  mill_cu_address da = put(a, sizeof a), db = put(b, sizeof b);
  cu.stream_create(&stream, MILL_CU_STREAM_NON_BLOCKING);
  cu.stream_create(&other, MILL_CU_STREAM_NON_BLOCKING);
  cu.event_create(&event, MILL_CU_EVENT_DISABLE_TIMING);
  if (cu.host_allocate((void **)&pinned, sizeof a, 0))
    bail("cuMemHostAlloc");
  memset(pinned, 0, sizeof a);
  launch("step", 1, 32, 0, stream, (void *[]){&da, &db, &factor});
  cu.download_async(pinned, da, sizeof a, stream);
  is_int(pinned[7], 0, "a copy that nobody waits for is not there");
  cu.stream_synchronize(other);
  is_int(pinned[7], 0, "nor when another stream is waited for");
  cu.event_record(event, stream);
  cu.stream_wait(other, event, 0);
  cu.stream_synchronize(other);
  is_int(pinned[7], 21, "but when that one waits for an event");
  a[7] = 1;
  cu.upload_async(da, a, sizeof a, stream);
  a[7] = 2; /* of ordinary memory, what it held is kept */
  launch("step", 1, 32, 0, stream, (void *[]){&da, &db, &factor});
  cu.download_async(a, da, sizeof a, stream);
  is_int(a[7], 9, "a copy to ordinary memory is finished on return");
  pinned[7] = 1;
  cu.upload_async(da, pinned, sizeof a, stream);
  pinned[7] = 5; /* of pinned memory, what it holds when the copy is made */
  cu.event_record(event, stream);
  is_int(cu.event_synchronize(event), 0, "an event is waited for");
  get(a, da, sizeof a);
  is_int(a[7], 5, "and what came before it is done");
  launch("step", 1, 32, 0, NULL, (void *[]){&da, &db, &factor});
  get(a, da, sizeof a);
  is_int(a[7], 17, "a copy that is finished on return waits for the default stream");
  launch("step", 1, 32, 0, stream, (void *[]){&da, &db, &factor});
  cu.synchronize();
  unsetenv("EMULATOR_LAZY");
  get(a, da, sizeof a);
  is_int(a[7], 41, "the context waits for all");
  cu.release(da);
  cu.release(db);
  cu.host_release(pinned);
  cu.event_destroy(event);
  cu.stream_destroy(stream);
  cu.stream_destroy(other);
}

// ---- What must be refused or found ----

static void test_refusals(void)
{
  mill_cu_address d, far;
  mill_cu_function f;
  mill_cu_module none;
  int a[64] = {0}, n = 8;
  size_t free_bytes, total;
  cu.allocate(&d, sizeof a);
  is_int(cu.upload(d + 4, a, sizeof a), 1, "a copy beyond the end");
  is_int(cu.download(a, d - 256, 4), 1, "a copy before the beginning");
  is_int(cu.fill_async(d + 256, 0, 1, NULL), 1, "a fill behind the end");
  is_int(cu.upload((uint64_t)(uintptr_t)a, a, 4), 1, "a copy to what is no device memory");
  is_int(cu.release(d + 4), 1, "a block is given back at its beginning");
  is_int(cu.release(d), 0, "there it is");
  is_int(cu.release(d), 1, "once");
  is_int(cu.upload(d, a, 4), 1, "a copy to a block that is gone");
  is_int(cu.allocate(&d, 0), 1, "no bytes");
  set("EMULATOR_MEMORY", 1 << 20);
  ok(cu.memory_info(&free_bytes, &total) == 0 && free_bytes == 1 << 20 && total == 1 << 20, "a device of 1 MiB");
  is_int(cu.allocate(&d, (1 << 20) - 256), 0, "nearly all of it");
  is_int(cu.allocate(&far, 257), 2, "no more");
  is_int(cu.allocate(&far, 256), 0, "but the rest");
  ok(cu.memory_info(&free_bytes, &total) == 0 && free_bytes == 0, "then it is full");
  cu.release(far);
  unsetenv("EMULATOR_MEMORY");
  is_int(cu.module_function(&f, module, "subtract"), 500, "a kernel that does not exist");
  is_int(cu.module_function(&f, module, "no_c_linkage"), 500, "a kernel whose name is another");
  void *parameters[] = {&d, &d, &d, &n};
  is_int(launch("add", 1, 257, 0, NULL, parameters), 701, "more threads than its bounds");
  is_int(launch("sum", 1, 1025, 0, NULL, parameters), 1, "more threads than a block has");
  is_int(launch("sum", 0, 32, 0, NULL, parameters), 1, "no blocks");
  is_int(cu.launch(function("sum"), 1, 65536, 1, 1, 1, 1, 0, NULL, parameters, NULL), 1, "too high a grid");
  is_int(launch("sum", 1, 32, 49153, NULL, parameters), 1, "too much shared memory");
  is_int(launch("sum", 1, 32, 0, NULL, NULL), 1, "no parameters");
  cu.release(d);
  image[0] ^= 1;
  is_int(cu.module_load(&none, image), 200, "an image that is none");
  image[0] ^= 1;
  set("EMULATOR_ARCHITECTURE", 80);
  is_int(cu.module_load(&none, image), 209, "an image for a later device");
  static const char *const options[] = {"--gpu-architecture=sm_89", "--fmad=false"};
  static const int devices[][2] = {{86, 209}, {89, 0}, {90, 209}};
  char log[400], *other = emulator_compile("\n", 0, NULL, NULL, 2, options, &n, log, sizeof log);
  for (int i = 0; i < 3; i++) {
    set("EMULATOR_ARCHITECTURE", devices[i][0]);
    is_int(cu.module_load(&none, other), devices[i][1], "an image of sm_89 on a device of %d", devices[i][0]);
  }
  cu.module_unload(none);
  free(other);
  unsetenv("EMULATOR_ARCHITECTURE");
}

static const char *failing;
static unsigned failing_threads;
static int launched, found, later;

static void fail_now(void)
{
  int a[64] = {0};
  mill_cu_address d = put(a, sizeof a);
  launched = launch(failing, 2, failing_threads, 0, NULL, (void *[]){&d});
  found = cu.synchronize();
  later = cu.download(a, d, 4);
  cu.release(d);
}

static bool works(void)
{
  int a[32] = {1}, three = 3;
  mill_cu_address d = put(a, sizeof a);
  int code = launch("step", 1, 32, 0, NULL, (void *[]){&d, &d, &three});
  get(a, d, sizeof a);
  cu.release(d);
  return code == 0 && a[0] == 4;
}

static void test_failures(void)
{
  static const struct {
    const char *kernel;
    unsigned threads;
    const char *says;
  } cases[] = {
      {"ends_early", 64, "63 threads, the first (0, 0, 0), at the barrier of program.cu("},
      {"two_barriers", 64, "32 threads, the first (32, 0, 0), at the barrier of program.cu("},
      {"two_kinds", 64, "32 threads, the first (32, 0, 0), at the barrier of program.cu("},
      {"other_masks", 32, "16 threads, the first (0, 0, 0), for the mask 0xffffffff at program.cu("},
      {"not_in_mask", 32, "its lane 16 is not in the mask 0x0000ffff at program.cu("},
      {"trap", 64, "trap: block (1, 0, 0), thread (33, 0, 0): __trap() at program.cu("},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    failing = cases[i].kernel;
    failing_threads = cases[i].threads;
    emulator_listen(fail_now, said, sizeof said);
    ok(launched == 0 && found == 719 && later == 719, "%s fails, and all that follows (%d %d %d)", failing, launched, found, later);
    ok(strstr(said, cases[i].says) != NULL, "%s: where its threads stand", failing);
    if (!strstr(said, cases[i].says))
      diag("%s", said);
    unload();
    load();
    ok(works(), "a new context works");
  }
}

static void overrun(const char *kernel, unsigned at)
{
  int a[8] = {0};
  mill_cu_address d = put(a, sizeof a);
  launch(kernel, 1, 1, 0, NULL, (void *[]){&d, &at});
}

static void overrun_global(void)
{
  overrun("beyond", 8);
}

static void overrun_shared(void)
{
  overrun("beyond_shared", 8);
}

static void misaligned(void)
{
  int a[8] = {0}, at = 0;
  mill_cu_address d = put(a, sizeof a), odd = d + 2;
  launch("beyond", 1, 1, 0, NULL, (void *[]){&odd, &at});
}

/* Of 64 bytes to the host nobody has written the last ones. */
static void download(uint64_t written)
{
  char bytes[64] = {0};
  mill_cu_address d;
  set("EMULATOR_STRICT", 1);
  cu.allocate(&d, sizeof bytes);
  cu.upload(d, bytes, written);
  cu.download(bytes, d, sizeof bytes);
  cu.release(d);
  unload();
}

static void download_unwritten(void)
{
  download(32);
}

static void download_padding(void)
{
  download(40);
}

/* Numbers that a program writes are not taken for it, whatever they are. */
static void download_all(void)
{
  char bytes[256];
  for (int value = 0; value < 256; value++) {
    mill_cu_address d;
    memset(bytes, value, sizeof bytes);
    cu.allocate(&d, sizeof bytes);
    cu.upload(d, bytes, sizeof bytes);
    cu.download(bytes, d, sizeof bytes);
    cu.release(d);
  }
  set("EMULATOR_STRICT", 1);
  unload();
}

static void leak_all(void)
{
  mill_cu_address d;
  mill_cu_stream stream;
  set("EMULATOR_STRICT", 1);
  cu.allocate(&d, 12345);
  cu.stream_create(&stream, 0);
  cu.context_release(0);
}

static void leak_context(void)
{
  set("EMULATOR_STRICT", 1);
  cu.module_unload(module);
}

static void leak_nothing(void)
{
  set("EMULATOR_STRICT", 1);
  unload();
}

static void test_children(void)
{
  if (EMU_GUARDED) {
    ok(!emulator_survives(overrun_global, said, sizeof said) && strstr(said, "heap-buffer-overflow"),
       "a kernel that leaves its memory");
    ok(!emulator_survives(overrun_shared, said, sizeof said) && strstr(said, "program.cu"), "a kernel that leaves shared memory");
    ok(!emulator_survives(misaligned, said, sizeof said) && strstr(said, "misaligned"),
       "a kernel with an address that is not its type's");
  } else
    skip(3, "only AddressSanitizer sees where a kernel leaves its memory");
  ok(!emulator_survives(leak_all, said, sizeof said), "what is left alive ends the process");
  ok(strstr(said, "1 blocks of device memory") && strstr(said, "12345 bytes") && strstr(said, "1 streams") &&
         strstr(said, "1 modules") && !strstr(said, "events"),
     "which says what it was");
  ok(!emulator_survives(leak_context, said, sizeof said) && strstr(said, "still retained"), "so does the context");
  ok(!emulator_survives(download_unwritten, said, sizeof said) && strstr(said, "a copy of 64 bytes"),
     "so does a copy to the host of what nobody wrote");
  ok(emulator_survives(download_padding, said, sizeof said) && !*said, "less than 32 bytes of that may be a structure's padding");
  ok(emulator_survives(download_all, said, sizeof said) && !*said, "and bytes that are all alike are somebody's");
  ok(emulator_survives(leak_nothing, said, sizeof said) && !*said, "nothing is said when nothing is left");
}

static void test_compiler(void)
{
  static const char *const options[] = {"--gpu-architecture=sm_90", "--fmad=false"};
  static const char *const bad_options[] = {"--fmad=false", "--use_fast_math"};
  static const char *const texts[] = {"inline __device__ int twice(int a)\n{\n  return a * 2 + missing;\n}\n"};
  static const char *const names[] = {"parts/twice.h"};
  static const struct {
    const char *text, *says;
    int count, code;
    const char *const *options;
  } cases[] = {
      {"extern \"C\" __global__ void f(int *a)\n{\n  *a = b;\n}\n", "program.cu(3): error: ", 2, 6, options},
      {"#include <parts/twice.h>\nextern \"C\" __global__ void f(int *a) { *a = twice(*a); }\n", "parts/twice.h(3): error: ", 2, 6,
       options},
      {"#include <math.h>\n", "program.cu(1): error: ", 2, 6, options},
      {"#line 70 \"model.c\"\nint x = ;\n", "model.c(70): error: ", 2, 6, options},
      {"extern \"C\" __global__ void f(double *a) { *a = exp(*a); }\n", "exp", 2, 6, options},
      {"int later(int);\nextern \"C\" __global__ void f(int *a) { *a = later(*a); }\n", EMU_GUARDED ? "" : "later", 2,
       EMU_GUARDED ? 0 : 6, options},
      {"\n", "--fmad=false", 1, 6, options},
      {"\n", "--use_fast_math", 2, 5, bad_options},
  };
  char log[4000];
  const char *folder = getenv("TMPDIR");
  int code;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *made = emulator_compile(cases[i].text, 1, texts, names, cases[i].count, cases[i].options, &code, log, sizeof log);
    ok(code == cases[i].code && strstr(log, cases[i].says), "%s", cases[i].says);
    ok(!strstr(log, folder && *folder ? folder : "/tmp"), "without the folder's name");
    if (code != cases[i].code || !strstr(log, cases[i].says))
      diag("%d: %s", code, log);
    free(made);
  }
}

int main(void)
{
  plan_later();
  unsetenv("EMULATOR_STRICT");
  emulator_open();
  is_int(cu.synchronize(), 3, "nothing works before cuInit");
  if (!emulator_kernels())
    return done_testing();
  load();
  test_properties();
  test_graphs();
  test_lazy();
  test_refusals();
  test_failures();
  test_children();
  test_compiler();
  set("EMULATOR_STRICT", 1);
  unload();
  free(image);
  return done_testing();
}
