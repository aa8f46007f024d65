// The fake driver: the entry points of libcuda that the CUDA device uses, strict about handles, contexts and sizes.
//
// Work is done when it is asked for; a count of submitted and completed steps a stream tells what a real driver might
// still be doing, which is how uses of memory without an order between them are found.
#include "tests/runtime/device/fakecuda/FakeCuda.h"

#include "tests/runtime/device/fakecuda/FakeImage.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <unistd.h>

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
struct CUctx_st {
  int device;
  int retained = 0;
};
struct CUstream_st {
  uint64_t submitted = 0, completed = 0;
  bool isBusy() const { return completed < submitted; }
};
struct CUevent_st {
  CUstream_st *stream = nullptr;
  uint64_t mark = 0;
  double milliseconds = 0;
  bool recorded = false;
};
struct CUfunc_st {
  std::string name;
  fakecuda::KernelImage image;
  long maxDynamicShared;
  bool allowsLargeClusters = false;
};
struct CUmod_st {
  std::map<std::string, std::unique_ptr<CUfunc_st>> functions;
};
using CUcontext = CUctx_st *;
using CUstream = CUstream_st *;
using CUevent = CUevent_st *;
using CUfunction = CUfunc_st *;
using CUmodule = CUmod_st *;

struct CUlaunchAttribute {
  int id;
  char pad[4];
  union {
    struct {
      unsigned x, y, z;
    } clusterDim;
    int programmaticStreamSerializationAllowed;
    void *alignment;
    char bytes[64];
  } value;
};
struct CUlaunchConfig {
  unsigned grid[3], block[3], sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute *attrs;
  unsigned numAttrs;
};

namespace {

enum : CUresult {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kInvalidPtx = 218,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kInvalidClusterSize = 912,
};
const std::map<CUresult, std::pair<const char *, const char *>> kResults = {
    {0, {"CUDA_SUCCESS", "no error"}},
    {1, {"CUDA_ERROR_INVALID_VALUE", "invalid argument"}},
    {2, {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}},
    {3, {"CUDA_ERROR_NOT_INITIALIZED", "initialization error"}},
    {4, {"CUDA_ERROR_DEINITIALIZED", "driver shutting down"}},
    {46, {"CUDA_ERROR_DEVICE_UNAVAILABLE", "device is busy or unavailable"}},
    {100, {"CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}},
    {101, {"CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"}},
    {200, {"CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"}},
    {201, {"CUDA_ERROR_INVALID_CONTEXT", "invalid device context"}},
    {209, {"CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for the device"}},
    {214, {"CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"}},
    {218, {"CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"}},
    {221, {"CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "PTX JIT compiler library not found"}},
    {222, {"CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the PTX has an unsupported version"}},
    {400, {"CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"}},
    {500, {"CUDA_ERROR_NOT_FOUND", "named symbol not found"}},
    {600, {"CUDA_ERROR_NOT_READY", "device not ready"}},
    {700, {"CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"}},
    {701, {"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"}},
    {702, {"CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"}},
    {709, {"CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"}},
    {710, {"CUDA_ERROR_ASSERT", "device-side assert triggered"}},
    {714, {"CUDA_ERROR_HARDWARE_STACK_ERROR", "hardware stack error"}},
    {715, {"CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"}},
    {716, {"CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"}},
    {717, {"CUDA_ERROR_INVALID_ADDRESS_SPACE", "operation not supported on address space"}},
    {718, {"CUDA_ERROR_INVALID_PC", "invalid program counter"}},
    {719, {"CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"}},
    {801, {"CUDA_ERROR_NOT_SUPPORTED", "operation not supported"}},
    {912, {"CUDA_ERROR_INVALID_CLUSTER_SIZE", "cluster misconfiguration"}},
    {999, {"CUDA_ERROR_UNKNOWN", "unknown error"}},
};
const std::set<CUresult> kSticky = {214, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719};

constexpr size_t kTotalMemory = size_t{1} << 30;
constexpr size_t kAlignment = 256;
constexpr CUdeviceptr kFirstAddress = 0x7'0000'0000'0000;
constexpr int kDeviceCount = 2;
constexpr int kAfterExit = 86; // exit status if the driver is called while the process goes down
constexpr int kSharedPerBlock = 8, kSharedPerBlockOptin = 97;

struct Memory {
  std::vector<unsigned char> bytes;
  bool isStreamOrdered = false;
  std::set<CUstream> orderedAfter; // streams in which the allocation has surely happened
};

struct State {
  int registers = 40; ///< of a thread of every function
  std::recursive_mutex mutex;
  bool isInitialised = false, isDown = false, isRecording = true;
  CUresult lost = kSuccess;
  std::map<int, int> attributes = {
      {1, 1024},  {2, 1024},    {3, 1024},   {4, 64},      {5, 2147483647}, {6, 65535},
      {7, 65535}, {8, 49152},   {10, 32},    {16, 132},    {38, 52428800},  {75, 9},
      {76, 0},    {81, 233472}, {82, 65536}, {97, 232448}, {115, 1}};
  CUctx_st contexts[kDeviceCount] = {{0}, {1}};
  std::map<CUdeviceptr, Memory> memory;
  std::multimap<size_t, CUdeviceptr>
      freed; // by rounded size: given out again, as a real driver does
  CUdeviceptr nextAddress = kFirstAddress;
  size_t usedBytes = 0;
  std::set<CUstream> streams;
  std::set<CUevent> events;
  std::map<CUmodule, std::unique_ptr<CUmod_st>> modules;
  std::set<CUfunction> functions;
  CUstream_st nullStream;
  double clockMilliseconds = 0;
  std::map<std::string, std::map<int, CUresult>, std::less<>>
      faults; // function -> calls from now -> result
  uint64_t callCount = 0;
  std::vector<std::string> calls, hazards, images;
  std::vector<FakeLaunch> launches;
};

// Never destroyed: whoever calls too late is told so.
State &state() {
  static State *one = new State;
  return *one;
}

// Without a destructor: threads end, and the main thread's variables go, before the last calls come.
struct ContextStack {
  CUcontext items[16];
  size_t depth;
};
thread_local ContextStack contextStack;

void goDown() { state().isDown = true; }

enum class Needs { Nothing, Start, Context };

// One call of the driver: locks, records, and decides what fails before its arguments are looked at.
class Call {
public:
  Call(const char *name, Needs needs, bool isRecorded = true) : lock_(state().mutex) {
    State &driver = state();
    if (driver.isDown) {
      std::fprintf(stderr, "fake CUDA driver: %s was called after the driver went down\n", name);
      _exit(kAfterExit);
    }
    ++driver.callCount;
    if (isRecorded && driver.isRecording)
      driver.calls.push_back(name);
    result = injected(name);
    if (result != kSuccess || needs == Needs::Nothing)
      return;
    if (!driver.isInitialised)
      result = kNotInitialized;
    else if (needs == Needs::Context)
      result = !contextStack.depth || !contextStack.items[contextStack.depth - 1]->retained
                   ? kInvalidContext
                   : driver.lost;
  }
  CUresult result;

private:
  static CUresult injected(const char *name) {
    auto found = state().faults.find(name);
    if (found == state().faults.end())
      return kSuccess;
    CUresult result = kSuccess;
    std::map<int, CUresult> later;
    for (auto [count, fault] : found->second)
      if (count == 1)
        result = fault;
      else
        later[count - 1] = fault;
    found->second = later;
    if (kSticky.count(result))
      state().lost = result;
    return result;
  }
  std::lock_guard<std::recursive_mutex> lock_;
};

bool isStream(CUstream stream) { return !stream || state().streams.count(stream); }
CUstream_st &queueOf(CUstream stream) { return stream ? *stream : state().nullStream; }
void submit(CUstream stream) { ++queueOf(stream).submitted; }

void complete(CUstream stream, uint64_t mark) {
  CUstream_st &queue = queueOf(stream);
  queue.completed = std::max(queue.completed, mark);
  // What the host has waited for comes before all that it asks for next.
  if (!queue.isBusy())
    for (auto &[base, block] : state().memory)
      if (block.orderedAfter.count(stream))
        block.isStreamOrdered = false;
}

bool isAnythingBusy() {
  auto isBusy = [](CUstream stream) { return stream->isBusy(); };
  return state().nullStream.isBusy() ||
         std::any_of(state().streams.begin(), state().streams.end(), isBusy);
}

// The bytes behind a range of device memory, or null.
unsigned char *reach(CUdeviceptr pointer, size_t bytes, CUstream stream, const char *user) {
  auto after = state().memory.upper_bound(pointer);
  if (after == state().memory.begin())
    return nullptr;
  auto &[base, block] = *std::prev(after);
  if (pointer - base > block.bytes.size() || bytes > block.bytes.size() - (pointer - base))
    return nullptr;
  if (block.isStreamOrdered && !block.orderedAfter.count(stream))
    state().hazards.push_back(std::string(user) + " uses memory in a stream that is not ordered "
                                                  "after the stream of its allocation");
  return block.bytes.data() + (pointer - base);
}

CUresult allocate(CUdeviceptr *pointer, size_t bytes, bool isStreamOrdered, CUstream stream) {
  State &driver = state();
  if (!pointer || bytes == 0)
    return kInvalidValue;
  if (bytes > kTotalMemory - driver.usedBytes)
    return kOutOfMemory;
  size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  CUdeviceptr address = driver.nextAddress;
  if (auto old = driver.freed.find(rounded); old != driver.freed.end()) {
    address = old->second;
    driver.freed.erase(old);
  } else {
    driver.nextAddress += rounded;
  }
  driver.usedBytes += bytes;
  driver.memory[address] = {std::vector<unsigned char>(bytes, 0xcd), isStreamOrdered, {stream}};
  *pointer = address;
  return kSuccess;
}

CUresult release(CUdeviceptr pointer) {
  auto found = state().memory.find(pointer);
  if (found == state().memory.end())
    return kInvalidValue;
  size_t bytes = found->second.bytes.size();
  state().usedBytes -= bytes;
  state().freed.insert({(bytes + kAlignment - 1) / kAlignment * kAlignment, pointer});
  state().memory.erase(found);
  return kSuccess;
}

void dropObjects() {
  State &driver = state();
  for (CUstream stream : driver.streams)
    delete stream;
  for (CUevent event : driver.events)
    delete event;
  driver.streams.clear();
  driver.events.clear();
  driver.functions.clear();
  driver.modules.clear();
  driver.memory.clear();
  driver.usedBytes = 0;
}

// The error log among the options of a load. The driver puts the length it has filled in place of the capacity.
void writeErrorLog(unsigned count, const int *options, void **values, const std::string &text) {
  constexpr int kErrorLog = 5, kErrorLogBytes = 6;
  char *log = nullptr;
  void **capacity = nullptr;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == kErrorLog)
      log = static_cast<char *>(values[i]);
    if (options[i] == kErrorLogBytes)
      capacity = &values[i];
  }
  if (!log || !capacity)
    return;
  size_t room = reinterpret_cast<uintptr_t>(*capacity);
  size_t length = room ? std::min(text.size(), room - 1) : 0;
  if (room) {
    std::memcpy(log, text.data(), length);
    log[length] = '\0';
  }
  *capacity = reinterpret_cast<void *>(length);
}

CUresult checkCluster(const CUfunc_st &function, const CUlaunchConfig &config,
                      const unsigned (&cluster)[3]) {
  constexpr uint64_t kPortable = 8, kLargest = 16;
  uint64_t blocks = uint64_t{cluster[0]} * cluster[1] * cluster[2];
  if (state().attributes[75] < 9)
    return kInvalidValue;
  for (int axis = 0; axis < 3; ++axis)
    if (cluster[axis] == 0 || config.grid[axis] % cluster[axis])
      return kInvalidValue;
  return blocks > (function.allowsLargeClusters ? kLargest : kPortable) ? kInvalidClusterSize
                                                                        : kSuccess;
}

CUresult checkShape(const CUfunc_st &function, const CUlaunchConfig &config) {
  uint64_t threads = uint64_t{config.block[0]} * config.block[1] * config.block[2];
  for (int axis = 0; axis < 3; ++axis)
    if (config.grid[axis] == 0 || config.block[axis] == 0 ||
        config.block[axis] > unsigned(state().attributes[2 + axis]) ||
        config.grid[axis] > unsigned(state().attributes[5 + axis]))
      return kInvalidValue;
  bool isTooBig = threads > 1024 || long{config.sharedMemBytes} > function.maxDynamicShared;
  return isTooBig ? kInvalidValue : kSuccess;
}

CUresult readAttributes(const CUlaunchConfig &config, FakeLaunch &launch) {
  constexpr int kCluster = 4, kProgrammatic = 6;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const CUlaunchAttribute &attribute = config.attrs[i];
    if (attribute.id == kCluster) {
      launch.hasCluster = true;
      launch.cluster[0] = attribute.value.clusterDim.x;
      launch.cluster[1] = attribute.value.clusterDim.y;
      launch.cluster[2] = attribute.value.clusterDim.z;
    } else if (attribute.id == kProgrammatic) {
      launch.isProgrammatic = attribute.value.programmaticStreamSerializationAllowed != 0;
    } else {
      return kInvalidValue;
    }
  }
  return kSuccess;
}

} // namespace

#define FAKE_API extern "C" __attribute__((visibility("default"))) CUresult
#define FAKE_ENTER(name, needs, ...)                                                               \
  Call call(name, needs, ##__VA_ARGS__);                                                           \
  if (call.result != kSuccess)                                                                     \
  return call.result

// --- The driver and its devices ------------------------------------------------------------------

FAKE_API cuInit(unsigned flags) {
  FAKE_ENTER("cuInit", Needs::Nothing);
  if (flags)
    return kInvalidValue;
  if (!state().isInitialised)
    std::atexit(goDown);
  state().isInitialised = true;
  return kSuccess;
}
FAKE_API cuDriverGetVersion(int *version) {
  FAKE_ENTER("cuDriverGetVersion", Needs::Nothing);
  *version = 12080;
  return kSuccess;
}
// Looked up after errors: neither counted nor made to fail.
FAKE_API cuGetErrorName(CUresult result, const char **name) {
  auto found = kResults.find(result);
  *name = found == kResults.end() ? nullptr : found->second.first;
  return *name ? kSuccess : kInvalidValue;
}
FAKE_API cuGetErrorString(CUresult result, const char **text) {
  auto found = kResults.find(result);
  *text = found == kResults.end() ? nullptr : found->second.second;
  return *text ? kSuccess : kInvalidValue;
}
FAKE_API cuDeviceGetCount(int *count) {
  FAKE_ENTER("cuDeviceGetCount", Needs::Start);
  *count = kDeviceCount;
  return kSuccess;
}
FAKE_API cuDeviceGet(CUdevice *device, int ordinal) {
  FAKE_ENTER("cuDeviceGet", Needs::Start);
  if (ordinal < 0 || ordinal >= kDeviceCount)
    return kInvalidDevice;
  *device = ordinal;
  return kSuccess;
}
FAKE_API cuDeviceGetName(char *name, int length, CUdevice device) {
  FAKE_ENTER("cuDeviceGetName", Needs::Start);
  if (device < 0 || device >= kDeviceCount)
    return kInvalidDevice;
  std::snprintf(name, static_cast<size_t>(length), "Fake GPU %d", device);
  return kSuccess;
}
FAKE_API cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
  FAKE_ENTER("cuDeviceGetAttribute", Needs::Start);
  auto found = state().attributes.find(attribute);
  if (device < 0 || device >= kDeviceCount)
    return kInvalidDevice;
  if (found == state().attributes.end())
    return kInvalidValue;
  *value = found->second;
  return kSuccess;
}
FAKE_API cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  FAKE_ENTER("cuDeviceTotalMem_v2", Needs::Start);
  if (device < 0 || device >= kDeviceCount)
    return kInvalidDevice;
  *bytes = kTotalMemory;
  return kSuccess;
}

// --- Contexts ------------------------------------------------------------------------------------

FAKE_API cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  FAKE_ENTER("cuDevicePrimaryCtxRetain", Needs::Start);
  if (device < 0 || device >= kDeviceCount)
    return kInvalidDevice;
  std::atexit(goDown); // parts of a real driver start, and so end, with the first context
  *context = &state().contexts[device];
  ++(*context)->retained;
  return kSuccess;
}
FAKE_API cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  FAKE_ENTER("cuDevicePrimaryCtxRelease_v2", Needs::Start);
  if (device < 0 || device >= kDeviceCount)
    return kInvalidDevice;
  CUctx_st &context = state().contexts[device];
  if (!context.retained)
    return kInvalidContext;
  --context.retained;
  // What could not be freed in a lost context goes with it.
  if (state().lost != kSuccess && fakeCudaLive("context") == 0)
    dropObjects();
  return kSuccess;
}
FAKE_API cuCtxPushCurrent_v2(CUcontext context) {
  FAKE_ENTER("cuCtxPushCurrent_v2", Needs::Start, false);
  if (!context || !context->retained)
    return kInvalidContext;
  if (contextStack.depth == std::size(contextStack.items))
    return kOutOfMemory;
  contextStack.items[contextStack.depth++] = context;
  return kSuccess;
}
FAKE_API cuCtxPopCurrent_v2(CUcontext *context) {
  FAKE_ENTER("cuCtxPopCurrent_v2", Needs::Start, false);
  if (!contextStack.depth)
    return kInvalidContext;
  *context = contextStack.items[--contextStack.depth];
  return kSuccess;
}
FAKE_API cuCtxSynchronize() {
  FAKE_ENTER("cuCtxSynchronize", Needs::Context);
  complete(nullptr, state().nullStream.submitted);
  for (CUstream stream : state().streams)
    complete(stream, stream->submitted);
  return kSuccess;
}

// --- Memory --------------------------------------------------------------------------------------

FAKE_API cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
  FAKE_ENTER("cuMemAlloc_v2", Needs::Context);
  return allocate(pointer, bytes, false, nullptr);
}
FAKE_API cuMemFree_v2(CUdeviceptr pointer) {
  FAKE_ENTER("cuMemFree_v2", Needs::Context);
  // Documented: the driver waits for no one if the memory came from a stream, and promises nothing for the rest.
  if (isAnythingBusy())
    state().hazards.push_back("cuMemFree while streams are busy");
  return pointer ? release(pointer) : kSuccess;
}
FAKE_API cuMemGetInfo_v2(size_t *free, size_t *total) {
  FAKE_ENTER("cuMemGetInfo_v2", Needs::Context);
  *total = kTotalMemory;
  *free = kTotalMemory - state().usedBytes;
  return kSuccess;
}
#ifndef FAKE_CUDA_OLD
FAKE_API cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream stream) {
  FAKE_ENTER("cuMemAllocAsync", Needs::Context);
  if (!isStream(stream))
    return kInvalidHandle;
  submit(stream);
  return allocate(pointer, bytes, true, stream);
}
FAKE_API cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
  FAKE_ENTER("cuMemFreeAsync", Needs::Context);
  if (!isStream(stream))
    return kInvalidHandle;
  submit(stream);
  return release(pointer);
}
#endif
FAKE_API cuMemcpyHtoDAsync_v2(CUdeviceptr target, const void *source, size_t bytes,
                              CUstream stream) {
  FAKE_ENTER("cuMemcpyHtoDAsync_v2", Needs::Context);
  if (!isStream(stream))
    return kInvalidHandle;
  unsigned char *to = reach(target, bytes, stream, "a copy to the device");
  if (!to || !source)
    return kInvalidValue;
  std::memcpy(to, source, bytes);
  submit(stream);
  return kSuccess;
}
FAKE_API cuMemcpyDtoHAsync_v2(void *target, CUdeviceptr source, size_t bytes, CUstream stream) {
  FAKE_ENTER("cuMemcpyDtoHAsync_v2", Needs::Context);
  if (!isStream(stream))
    return kInvalidHandle;
  const unsigned char *from = reach(source, bytes, stream, "a copy to the host");
  if (!from || !target)
    return kInvalidValue;
  std::memcpy(target, from, bytes);
  submit(stream);
  return kSuccess;
}
FAKE_API cuMemcpyDtoDAsync_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes,
                              CUstream stream) {
  FAKE_ENTER("cuMemcpyDtoDAsync_v2", Needs::Context);
  if (!isStream(stream))
    return kInvalidHandle;
  unsigned char *to = reach(target, bytes, stream, "a copy on the device");
  const unsigned char *from = reach(source, bytes, stream, "a copy on the device");
  if (!to || !from)
    return kInvalidValue;
  std::memmove(to, from, bytes);
  submit(stream);
  return kSuccess;
}
FAKE_API cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t bytes, CUstream stream) {
  FAKE_ENTER("cuMemsetD8Async", Needs::Context);
  if (!isStream(stream))
    return kInvalidHandle;
  unsigned char *to = reach(target, bytes, stream, "a fill");
  if (!to)
    return kInvalidValue;
  std::memset(to, value, bytes);
  submit(stream);
  return kSuccess;
}

// --- Modules and launches ------------------------------------------------------------------------

FAKE_API cuModuleLoadDataEx(CUmodule *module, const void *data, unsigned count, int *options,
                            void **values) {
  state().images.push_back(fakecuda::isElf(data) ? "cubin" : "ptx");
  Call call("cuModuleLoadDataEx", Needs::Context);
  if (call.result != kSuccess) {
    writeErrorLog(count, options, values,
                  fakecuda::isElf(data) ? "" : "fake ptxas: the text was refused");
    return call.result;
  }
  fakecuda::Image image;
  std::string complaint;
  bool isRead = fakecuda::isElf(data)
                    ? fakecuda::parseElf(data, image, complaint)
                    : fakecuda::parsePtx(static_cast<const char *>(data), image, complaint);
  writeErrorLog(count, options, values, complaint);
  if (!isRead)
    return fakecuda::isElf(data) ? kInvalidImage : kInvalidPtx;
  auto loaded = std::make_unique<CUmod_st>();
  for (auto &[name, kernel] : image) {
    long room = state().attributes[kSharedPerBlock] - static_cast<long>(kernel.sharedBytes);
    loaded->functions[name].reset(new CUfunc_st{name, kernel, std::max(room, 0L)});
  }
  *module = loaded.get();
  state().modules[loaded.get()] = std::move(loaded);
  return kSuccess;
}
FAKE_API cuModuleUnload(CUmodule module) {
  FAKE_ENTER("cuModuleUnload", Needs::Context);
  auto found = state().modules.find(module);
  if (found == state().modules.end())
    return kInvalidHandle;
  for (auto &[name, function] : module->functions)
    state().functions.erase(function.get());
  state().modules.erase(found);
  return kSuccess;
}
FAKE_API cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  FAKE_ENTER("cuModuleGetFunction", Needs::Context);
  if (!state().modules.count(module))
    return kInvalidHandle;
  auto found = module->functions.find(name);
  if (found == module->functions.end())
    return kNotFound;
  *function = found->second.get();
  state().functions.insert(*function);
  return kSuccess;
}
FAKE_API cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
  FAKE_ENTER("cuFuncGetAttribute", Needs::Context);
  if (!state().functions.count(function))
    return kInvalidHandle;
  const std::map<int, long> values = {{0, 1024},
                                      {1, static_cast<long>(function->image.sharedBytes)},
                                      {3, 16},
                                      {4, state().registers},
                                      {8, function->maxDynamicShared},
                                      {14, function->allowsLargeClusters}};
  auto found = values.find(attribute);
  if (found == values.end())
    return kInvalidValue;
  *value = static_cast<int>(found->second);
  return kSuccess;
}
FAKE_API cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  constexpr int kMaxDynamicShared = 8, kNonPortableCluster = 14;
  FAKE_ENTER("cuFuncSetAttribute", Needs::Context);
  if (!state().functions.count(function))
    return kInvalidHandle;
  long room = state().attributes[kSharedPerBlockOptin] - long(function->image.sharedBytes);
  if (attribute == kMaxDynamicShared && value >= 0 && value <= room)
    function->maxDynamicShared = value;
  else if (attribute == kNonPortableCluster)
    function->allowsLargeClusters = value != 0;
  else
    return kInvalidValue;
  return kSuccess;
}
#ifndef FAKE_CUDA_OLD
FAKE_API cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size) {
  FAKE_ENTER("cuFuncGetParamInfo", Needs::Context);
  if (!state().functions.count(function))
    return kInvalidHandle;
  const std::vector<size_t> &sizes = function->image.paramSizes;
  if (index >= sizes.size())
    return kInvalidValue;
  *size = sizes[index];
  *offset = 0;
  for (size_t i = 0; i <= index; ++i) {
    size_t alignment = std::min<size_t>(sizes[i], 8);
    *offset = (*offset + alignment - 1) / alignment * alignment + (i < index ? sizes[i] : 0);
  }
  return kSuccess;
}
#endif
FAKE_API cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **params,
                          void **extra) {
  FAKE_ENTER("cuLaunchKernelEx", Needs::Context);
  if (!state().functions.count(function) || !isStream(config->hStream))
    return kInvalidHandle;
  FakeLaunch launch{state().isRecording ? function->name : std::string(),
                    {config->grid[0], config->grid[1], config->grid[2]},
                    {config->block[0], config->block[1], config->block[2]},
                    {1, 1, 1},
                    config->sharedMemBytes,
                    false,
                    false,
                    config->hStream,
                    {}};
  CUresult result = checkShape(*function, *config);
  if (result == kSuccess)
    result = readAttributes(*config, launch);
  if (result == kSuccess && launch.hasCluster)
    result = checkCluster(*function, *config, launch.cluster);
  if (result != kSuccess)
    return result;
  const std::vector<size_t> &sizes = function->image.paramSizes;
  if (extra || (!sizes.empty() && !params))
    return kInvalidValue;
  for (size_t i = 0; i < sizes.size() && state().isRecording; ++i) {
    auto *bytes = static_cast<const unsigned char *>(params[i]);
    launch.params.emplace_back(bytes, bytes + sizes[i]);
  }
  if (state().isRecording)
    state().launches.push_back(launch);
  submit(config->hStream);
  return kSuccess;
}

// --- Streams and events --------------------------------------------------------------------------

FAKE_API cuStreamCreate(CUstream *stream, unsigned flags) {
  FAKE_ENTER("cuStreamCreate", Needs::Context);
  if (flags > 1)
    return kInvalidValue;
  *stream = new CUstream_st;
  state().streams.insert(*stream);
  return kSuccess;
}
FAKE_API cuStreamDestroy_v2(CUstream stream) {
  FAKE_ENTER("cuStreamDestroy_v2", Needs::Context);
  if (!state().streams.erase(stream))
    return kInvalidHandle;
  delete stream;
  return kSuccess;
}
FAKE_API cuStreamSynchronize(CUstream stream) {
  FAKE_ENTER("cuStreamSynchronize", Needs::Context);
  if (!isStream(stream))
    return kInvalidHandle;
  complete(stream, queueOf(stream).submitted);
  return kSuccess;
}
FAKE_API cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  FAKE_ENTER("cuStreamWaitEvent", Needs::Context);
  if (flags)
    return kInvalidValue;
  if (!isStream(stream) || !state().events.count(event))
    return kInvalidHandle;
  submit(stream);
  if (event->recorded)
    for (auto &[base, block] : state().memory)
      if (block.orderedAfter.count(event->stream))
        block.orderedAfter.insert(stream);
  return kSuccess;
}
FAKE_API cuEventCreate(CUevent *event, unsigned flags) {
  FAKE_ENTER("cuEventCreate", Needs::Context);
  if (flags > 7)
    return kInvalidValue;
  *event = new CUevent_st;
  state().events.insert(*event);
  return kSuccess;
}
FAKE_API cuEventDestroy_v2(CUevent event) {
  FAKE_ENTER("cuEventDestroy_v2", Needs::Context);
  if (!state().events.erase(event))
    return kInvalidHandle;
  delete event;
  return kSuccess;
}
FAKE_API cuEventRecord(CUevent event, CUstream stream) {
  FAKE_ENTER("cuEventRecord", Needs::Context);
  if (!isStream(stream) || !state().events.count(event))
    return kInvalidHandle;
  submit(stream);
  *event = {stream, queueOf(stream).submitted, state().clockMilliseconds += 0.5, true};
  return kSuccess;
}
FAKE_API cuEventSynchronize(CUevent event) {
  FAKE_ENTER("cuEventSynchronize", Needs::Context);
  if (!state().events.count(event))
    return kInvalidHandle;
  if (event->recorded && isStream(event->stream))
    complete(event->stream, event->mark);
  return kSuccess;
}
FAKE_API cuEventElapsedTime(float *milliseconds, CUevent start, CUevent stop) {
  FAKE_ENTER("cuEventElapsedTime", Needs::Context);
  for (CUevent event : {start, stop}) {
    if (!state().events.count(event) || !event->recorded)
      return kInvalidHandle;
    if (isStream(event->stream) && queueOf(event->stream).completed < event->mark)
      return kNotReady;
  }
  *milliseconds = static_cast<float>(stop->milliseconds - start->milliseconds);
  return kSuccess;
}

// --- The tests' side -----------------------------------------------------------------------------

#define FAKE_CONTROL __attribute__((visibility("default")))

FAKE_CONTROL void fakeCudaReset() {
  State &driver = state();
  std::lock_guard lock(driver.mutex);
  driver.calls.clear();
  driver.images.clear();
  driver.hazards.clear();
  driver.launches.clear();
  driver.faults.clear();
  driver.lost = kSuccess;
  driver.registers = 40;
}
FAKE_CONTROL void fakeCudaSetRegisters(int count) {
  std::lock_guard lock(state().mutex);
  state().registers = count;
}
FAKE_CONTROL void fakeCudaRecord(bool isOn) {
  std::lock_guard lock(state().mutex);
  state().isRecording = isOn;
}
FAKE_CONTROL void fakeCudaFail(const char *function, int nth, int result) {
  std::lock_guard lock(state().mutex);
  state().faults[function][nth] = result;
}
FAKE_CONTROL void fakeCudaSetAttribute(int attribute, int value) {
  std::lock_guard lock(state().mutex);
  state().attributes[attribute] = value;
}
FAKE_CONTROL const std::vector<std::string> &fakeCudaCalls() { return state().calls; }
FAKE_CONTROL uint64_t fakeCudaCallCount() { return state().callCount; }
FAKE_CONTROL const std::vector<FakeLaunch> &fakeCudaLaunches() { return state().launches; }
FAKE_CONTROL const std::vector<std::string> &fakeCudaHazards() { return state().hazards; }
FAKE_CONTROL const std::vector<std::string> &fakeCudaImages() { return state().images; }
FAKE_CONTROL size_t fakeCudaContextDepth() { return contextStack.depth; }
FAKE_CONTROL size_t fakeCudaLive(const char *kind) {
  const State &driver = state();
  std::string which(kind);
  if (which == "stream")
    return driver.streams.size();
  if (which == "event")
    return driver.events.size();
  if (which == "module")
    return driver.modules.size();
  if (which == "memory")
    return driver.memory.size();
  return static_cast<size_t>(driver.contexts[0].retained + driver.contexts[1].retained);
}
