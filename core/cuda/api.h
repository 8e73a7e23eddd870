/* What is used of the CUDA driver and of NVRTC, as tables: one line a function, with the name of the symbol in the library (the versioned
   one: a bare `cuMemAlloc` is the old 32-bit entry) and its parameters. Nothing of the toolkit is needed to build; the types are those of its
   headers in other words, which tests/cuda-prototypes.test compares where the toolkit is installed. */
#ifndef MILL_CUDA_API_H
#define MILL_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t mill_cu_address;          /* CUdeviceptr */
typedef struct CUctx_st *mill_cu_context;
typedef struct CUmod_st *mill_cu_module;
typedef struct CUfunc_st *mill_cu_function;
typedef struct CUstream_st *mill_cu_stream;
typedef struct CUevent_st *mill_cu_event;
typedef struct CUgraph_st *mill_cu_graph;
typedef struct CUgraphExec_st *mill_cu_graph_exec;
typedef struct _nvrtcProgram *mill_nvrtc_program;

/* Values of enumerations that are used. */
enum {
  MILL_CU_SUCCESS = 0,
  MILL_CU_OUT_OF_MEMORY = 2,
  MILL_CU_NOT_READY = 600,
  MILL_CU_THREADS_PER_BLOCK = 1,            /* CUdevice_attribute */
  MILL_CU_CLOCK_RATE = 13,                  /* kHz */
  MILL_CU_MULTIPROCESSORS = 16,
  MILL_CU_L2_BYTES = 38,
  MILL_CU_THREADS_PER_MULTIPROCESSOR = 39,
  MILL_CU_MAJOR = 75,
  MILL_CU_MINOR = 76,
  MILL_CU_SHARED_PER_MULTIPROCESSOR = 81,
  MILL_CU_SHARED_PER_BLOCK_OPTIN = 97,
  MILL_CU_FUNCTION_REGISTERS = 4,           /* CUfunction_attribute */
  MILL_CU_FUNCTION_LOCAL_BYTES = 3,
  MILL_CU_FUNCTION_DYNAMIC_SHARED = 8,
  MILL_CU_STREAM_NON_BLOCKING = 1,
  MILL_CU_EVENT_DISABLE_TIMING = 2,
  MILL_CU_CAPTURE_THREAD_LOCAL = 1,         /* CUstreamCaptureMode */
  MILL_NVRTC_OUT_OF_MEMORY = 1,             /* nvrtcResult */
  MILL_NVRTC_CREATION = 2,
  MILL_NVRTC_INPUT = 3,
  MILL_NVRTC_OPTION = 5,
  MILL_NVRTC_COMPILATION = 6,
  MILL_NVRTC_BUILTINS = 7,
  MILL_NVRTC_INTERNAL = 11
};

/* F(name in the table, symbol, parameters); all return an int, 0 for success. */
#define MILL_CUDA_DRIVER_TABLE(F)                                                                                                 \
  F(init, cuInit, (unsigned flags))                                                                                              \
  F(version, cuDriverGetVersion, (int *version))                                                                                 \
  F(error_name, cuGetErrorName, (int code, const char **text))                                                                   \
  F(error_text, cuGetErrorString, (int code, const char **text))                                                                 \
  F(device_count, cuDeviceGetCount, (int *count))                                                                                \
  F(device_get, cuDeviceGet, (int *device, int ordinal))                                                                         \
  F(device_name, cuDeviceGetName, (char *name, int size, int device))                                                            \
  F(device_attribute, cuDeviceGetAttribute, (int *value, int attribute, int device))                                             \
  F(device_memory, cuDeviceTotalMem_v2, (size_t *bytes, int device))                                                             \
  F(context_retain, cuDevicePrimaryCtxRetain, (mill_cu_context *context, int device))                                            \
  F(context_release, cuDevicePrimaryCtxRelease_v2, (int device))                                                                 \
  F(context_set, cuCtxSetCurrent, (mill_cu_context context))                                                                     \
  F(synchronize, cuCtxSynchronize, (void))                                                                                       \
  F(memory_info, cuMemGetInfo_v2, (size_t *free, size_t *total))                                                                 \
  F(allocate, cuMemAlloc_v2, (mill_cu_address *address, size_t bytes))                                                           \
  F(release, cuMemFree_v2, (mill_cu_address address))                                                                            \
  F(host_allocate, cuMemHostAlloc, (void **memory, size_t bytes, unsigned flags))                                                \
  F(host_release, cuMemFreeHost, (void *memory))                                                                                 \
  F(upload, cuMemcpyHtoD_v2, (mill_cu_address to, const void *from, size_t bytes))                                               \
  F(download, cuMemcpyDtoH_v2, (void *to, mill_cu_address from, size_t bytes))                                                   \
  F(upload_async, cuMemcpyHtoDAsync_v2, (mill_cu_address to, const void *from, size_t bytes, mill_cu_stream stream))             \
  F(download_async, cuMemcpyDtoHAsync_v2, (void *to, mill_cu_address from, size_t bytes, mill_cu_stream stream))                 \
  F(copy_async, cuMemcpyDtoDAsync_v2, (mill_cu_address to, mill_cu_address from, size_t bytes, mill_cu_stream stream))           \
  F(fill_async, cuMemsetD8Async, (mill_cu_address to, unsigned char value, size_t bytes, mill_cu_stream stream))                 \
  F(stream_create, cuStreamCreate, (mill_cu_stream *stream, unsigned flags))                                                     \
  F(stream_destroy, cuStreamDestroy_v2, (mill_cu_stream stream))                                                                 \
  F(stream_synchronize, cuStreamSynchronize, (mill_cu_stream stream))                                                            \
  F(stream_wait, cuStreamWaitEvent, (mill_cu_stream stream, mill_cu_event event, unsigned flags))                                \
  F(event_create, cuEventCreate, (mill_cu_event *event, unsigned flags))                                                         \
  F(event_destroy, cuEventDestroy_v2, (mill_cu_event event))                                                                     \
  F(event_record, cuEventRecord, (mill_cu_event event, mill_cu_stream stream))                                                   \
  F(event_synchronize, cuEventSynchronize, (mill_cu_event event))                                                                \
  F(module_load, cuModuleLoadData, (mill_cu_module *module, const void *image))                                                  \
  F(module_unload, cuModuleUnload, (mill_cu_module module))                                                                      \
  F(module_function, cuModuleGetFunction, (mill_cu_function *function, mill_cu_module module, const char *name))                 \
  F(module_global, cuModuleGetGlobal_v2, (mill_cu_address *address, size_t *bytes, mill_cu_module module, const char *name))     \
  F(function_get, cuFuncGetAttribute, (int *value, int attribute, mill_cu_function function))                                    \
  F(function_set, cuFuncSetAttribute, (mill_cu_function function, int attribute, int value))                                     \
  F(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor,                                                                      \
    (int *blocks, mill_cu_function function, int threads, size_t shared_bytes))                                                  \
  F(launch, cuLaunchKernel,                                                                                                      \
    (mill_cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,           \
     unsigned block_z, unsigned shared_bytes, mill_cu_stream stream, void **parameters, void **extra))                           \
  F(capture_begin, cuStreamBeginCapture_v2, (mill_cu_stream stream, int mode))                                                   \
  F(capture_end, cuStreamEndCapture, (mill_cu_stream stream, mill_cu_graph *graph))                                              \
  F(graph_instantiate, cuGraphInstantiateWithFlags,                                                                              \
    (mill_cu_graph_exec *exec, mill_cu_graph graph, unsigned long long flags))                                                   \
  F(graph_launch, cuGraphLaunch, (mill_cu_graph_exec exec, mill_cu_stream stream))                                               \
  F(graph_destroy, cuGraphDestroy, (mill_cu_graph graph))                                                                        \
  F(graph_exec_destroy, cuGraphExecDestroy, (mill_cu_graph_exec exec))

#define MILL_NVRTC_TABLE(F)                                                                                                       \
  F(version, nvrtcVersion, (int *major, int *minor))                                                                             \
  F(create, nvrtcCreateProgram,                                                                                                  \
    (mill_nvrtc_program *program, const char *text, const char *name, int headers, const char *const *header_texts,              \
     const char *const *header_names))                                                                                           \
  F(destroy, nvrtcDestroyProgram, (mill_nvrtc_program *program))                                                                 \
  F(compile, nvrtcCompileProgram, (mill_nvrtc_program program, int options, const char *const *option))                          \
  F(log_size, nvrtcGetProgramLogSize, (mill_nvrtc_program program, size_t *bytes))                                               \
  F(log, nvrtcGetProgramLog, (mill_nvrtc_program program, char *log))                                                            \
  F(cubin_size, nvrtcGetCUBINSize, (mill_nvrtc_program program, size_t *bytes))                                                  \
  F(cubin, nvrtcGetCUBIN, (mill_nvrtc_program program, char *cubin))

#define MILL_CUDA_MEMBER_(name, symbol, parameters) int(*name) parameters;
struct mill_cuda_driver { MILL_CUDA_DRIVER_TABLE(MILL_CUDA_MEMBER_) };
struct mill_nvrtc { MILL_NVRTC_TABLE(MILL_CUDA_MEMBER_) };

#endif
