// The CUDA driver as a table of functions found by dlopen, so that neither building nor starting needs CUDA.
//
// The types and constants are declared here as the driver's ABI has them (CUDA driver API, version 12); suffixes such as
// _v2 name the version of a function's ABI and are part of the symbol.
#pragma once

#include <tile/Error.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace tile::device::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUgraph = struct CUgraph_st *;
using CUgraphNode = struct CUgraphNode_st *;
using CUgraphExec = struct CUgraphExec_st *;

enum : CUresult {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kDeinitialized = 4,
  kDeviceUnavailable = 46,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kEccUncorrectable = 214,
  kInvalidPtx = 218,
  kNvlinkUncorrectable = 220,
  kJitCompilerNotFound = 221,
  kUnsupportedPtxVersion = 222,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchTimeout = 702,
  kContextDestroyed = 709,
  kAssert = 710,
  kHardwareStackError = 714,
  kIllegalInstruction = 715,
  kMisalignedAddress = 716,
  kInvalidAddressSpace = 717,
  kInvalidPc = 718,
  kLaunchFailed = 719,
  kNotSupported = 801,
  kCaptureImplicit = 906,
  kGraphUpdateFailure = 910,
  kUnknown = 999,
};

/// CUdevice_attribute.
enum Attribute : int {
  kMaxThreadsPerBlock = 1,
  kMaxBlockX = 2,
  kMaxBlockY = 3,
  kMaxBlockZ = 4,
  kMaxGridX = 5,
  kMaxGridY = 6,
  kMaxGridZ = 7,
  kSharedPerBlock = 8,
  kWarpSize = 10,
  kMultiprocessorCount = 16,
  kL2CacheSize = 38,
  kComputeMajor = 75,
  kComputeMinor = 76,
  kSharedPerMultiprocessor = 81,
  kRegistersPerMultiprocessor = 82,
  kSharedPerBlockOptin = 97,
  kMemoryPoolsSupported = 115,
};

/// CUfunction_attribute.
enum FunctionAttribute : int {
  kFunctionMaxThreads = 0,
  kFunctionSharedBytes = 1,
  kFunctionLocalBytes = 3,
  kFunctionRegisters = 4,
  kFunctionMaxDynamicShared = 8,
  kFunctionNonPortableCluster = 14,
};

/// CUjit_option.
enum JitOption : int {
  kJitInfoLog = 3,
  kJitInfoLogBytes = 4,
  kJitErrorLog = 5,
  kJitErrorLogBytes = 6
};

/// CUlaunchAttribute: an id and 64 bytes of value.
struct LaunchAttribute {
  int id;
  char pad[4];
  union {
    struct {
      unsigned x, y, z;
    } cluster;
    int programmaticStreamSerialization;
    char bytes[64];
  } value;
};
enum LaunchAttributeId : int { kLaunchClusterDimension = 4, kLaunchProgrammaticSerialization = 6 };

struct LaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  CUstream stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};

enum CaptureMode : int { kCaptureThreadLocal = 1 };
enum CaptureStatus : int { kNotCaptured = 0 };

/// CUgraphExecUpdateResultInfo.
struct GraphUpdateInfo {
  int result;
  CUgraphNode node, nodeBefore;
};

/// Every driver function in use. Those marked optional are missing from old drivers and may be null.
struct Driver {
  CUresult (*init)(unsigned);
  CUresult (*driverGetVersion)(int *);
  CUresult (*getErrorName)(CUresult, const char **);
  CUresult (*getErrorString)(CUresult, const char **);
  CUresult (*deviceGetCount)(int *);
  CUresult (*deviceGet)(CUdevice *, int);
  CUresult (*deviceGetName)(char *, int, CUdevice);
  CUresult (*deviceGetAttribute)(int *, int, CUdevice);
  CUresult (*deviceGetPciBusId)(char *, int, CUdevice); // optional
  CUresult (*deviceTotalMem)(size_t *, CUdevice);
  CUresult (*primaryRetain)(CUcontext *, CUdevice);
  CUresult (*primaryRelease)(CUdevice);
  CUresult (*primaryState)(CUdevice, unsigned *flags, int *isActive);
  CUresult (*contextPush)(CUcontext);
  CUresult (*contextPop)(CUcontext *);
  CUresult (*contextCurrent)(CUcontext *);
  CUresult (*contextDevice)(CUdevice *); // of the current context
  CUresult (*contextSynchronize)();
  CUresult (*contextIdentity)(CUcontext, unsigned long long *); // optional
  CUresult (*memAlloc)(CUdeviceptr *, size_t);
  CUresult (*memFree)(CUdeviceptr);
  CUresult (*memAllocAsync)(CUdeviceptr *, size_t, CUstream); // optional
  CUresult (*memFreeAsync)(CUdeviceptr, CUstream);            // optional
  CUresult (*memGetInfo)(size_t *, size_t *);
  CUresult (*copyToDevice)(CUdeviceptr, const void *, size_t, CUstream);
  CUresult (*copyToHost)(void *, CUdeviceptr, size_t, CUstream);
  CUresult (*copyOnDevice)(CUdeviceptr, CUdeviceptr, size_t, CUstream);
  CUresult (*memset8)(CUdeviceptr, unsigned char, size_t, CUstream);
  CUresult (*moduleLoadDataEx)(CUmodule *, const void *, unsigned, int *, void **);
  CUresult (*moduleUnload)(CUmodule);
  CUresult (*moduleGetFunction)(CUfunction *, CUmodule, const char *);
  CUresult (*functionGetAttribute)(int *, int, CUfunction);
  CUresult (*functionSetAttribute)(CUfunction, int, int);
  CUresult (*functionGetParamInfo)(CUfunction, size_t, size_t *, size_t *); // optional, 12.4
  CUresult (*launchKernelEx)(const LaunchConfig *, CUfunction, void **, void **);
  CUresult (*occupancyMaxActiveClusters)(int *, CUfunction, const LaunchConfig *); // optional
  CUresult (*tensorMapEncodeTiled)(void *, int, uint32_t, CUdeviceptr, const uint64_t *,
                                   const uint64_t *, const uint32_t *, const uint32_t *, int, int,
                                   int, int);
  CUresult (*streamCreate)(CUstream *, unsigned);
  CUresult (*streamDestroy)(CUstream);
  CUresult (*streamContext)(CUstream, CUcontext *);
  CUresult (*streamSynchronize)(CUstream);
  CUresult (*streamWaitEvent)(CUstream, CUevent, unsigned);
  CUresult (*eventCreate)(CUevent *, unsigned);
  CUresult (*eventDestroy)(CUevent);
  CUresult (*eventRecord)(CUevent, CUstream);
  CUresult (*eventSynchronize)(CUevent);
  CUresult (*eventQuery)(CUevent);
  CUresult (*eventElapsed)(float *, CUevent, CUevent);
  // Graphs, all of them optional.
  CUresult (*streamBeginCapture)(CUstream, int mode);
  CUresult (*streamEndCapture)(CUstream, CUgraph *);
  CUresult (*streamIsCapturing)(CUstream, int *status);
  CUresult (*graphInstantiate)(CUgraphExec *, CUgraph, unsigned long long flags);
  CUresult (*graphExecUpdate)(CUgraphExec, CUgraph, GraphUpdateInfo *);
  CUresult (*graphLaunch)(CUgraphExec, CUstream);
  CUresult (*graphExecDestroy)(CUgraphExec);
  CUresult (*graphDestroy)(CUgraph);
  bool hasGraphs() const {
    return streamBeginCapture && streamEndCapture && graphInstantiate && graphExecUpdate &&
           graphLaunch && graphExecDestroy && graphDestroy;
  }

  /// The loaded driver, initialised: the library TILE_LIBCUDA names, else libcuda.so.1. Throws NoDevice with the
  /// loader's or driver's words, and tries again on the next call; ForkedContext in a child of the process that loaded it.
  static const Driver &get();

  /// "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered".
  std::string describe(CUresult result) const;
};

/// Must be called once a context is there: from the moment the process exits, isExiting() is true. A driver takes itself
/// down at exit and must not be called afterwards, while static variables may still own streams and memory.
void watchExit();
bool isExiting();

/// True for results after which the context answers every call with an error.
bool isSticky(CUresult result);
/// True for those that no process could go on after with this GPU.
bool isOfHardware(CUresult result);
/// What calls throw after a sticky result: ContextLost, or DeviceLost where the hardware is at fault.
ErrorCode lostCode(CUresult result);

/// The error of a failed call: `what` says what was tried, with values; `facts` come behind the driver's words.
[[nodiscard]] Error driverError(CUresult result, const std::string &what,
                                const std::string &facts = {});

/// The error of a call in a process that was forked after the driver was loaded.
[[nodiscard]] Error forkedError();

} // namespace tile::device::cuda
