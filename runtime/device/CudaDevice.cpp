// A real GPU through the CUDA driver API: the primary context, stream-ordered memory, modules from cubin or PTX.
//
// Every driver call goes through check(), which turns results into errors and remembers when the context is lost: from
// then on each call fails at once with ContextLost, naming the kernel launched last.
#include "runtime/device/CudaDriver.h"
#include "runtime/device/Device.h"
#include "runtime/device/Handles.h"
#include "runtime/device/PtxEntries.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

namespace tile::device {
namespace {

using namespace cuda;

[[noreturn]] void fail(ErrorCode code, const std::string &message) {
  throw Error(Fault::User, code, message);
}

constexpr unsigned kNonBlockingStream = 1;
constexpr int kPortableClusterSize = 8;

struct CudaModule {
  CUmodule handle = nullptr;
  std::string name, ptx;
  std::atomic<bool> loaded = true;
};
struct CudaFunction {
  std::shared_ptr<CudaModule> module;
  CUfunction handle = nullptr;
  std::string name;
  // An old driver cannot tell, nor can any how many they are: of a cubin without PTX they are unknown.
  std::optional<std::vector<size_t>> paramSizes;
  size_t staticShared = 0;
  std::mutex mutex;
  size_t dynamicShared = 0; // what the function has been allowed so far
  bool largeClusters = false;
};
struct CudaStream {
  CUstream handle = nullptr;
  bool isOwned = true; // else others made it, and end it
};
struct CudaEvent {
  CUevent handle = nullptr;
  std::atomic<bool> recorded = false;
};

class CudaDevice final : public Device {
public:
  /// On the primary context of the device.
  explicit CudaDevice(int ordinal) : driver_(Driver::get()) {
    int count = 0;
    check(driver_.deviceGetCount(&count), "counting CUDA devices");
    if (ordinal < 0 || ordinal >= count)
      throw Error(Fault::User, ErrorCode::NoDevice,
                  "there is no CUDA device " + std::to_string(ordinal) + ": the driver has " +
                      std::to_string(count));
    check(driver_.deviceGet(&device_, ordinal), "opening CUDA device " + std::to_string(ordinal));
    readProps(ordinal);
    // Last: a constructor that throws has nothing to give back.
    check(driver_.primaryRetain(&context_, device_), "creating the CUDA context");
    watchExit();
  }

  /// On a context of others.
  explicit CudaDevice(CUcontext context)
      : driver_(Driver::get()), context_(context), isOwner_(false) {
    check(driver_.contextPush(context), "using the CUDA context");
    CUresult result = driver_.contextDevice(&device_);
    CUcontext popped = nullptr;
    driver_.contextPop(&popped);
    check(result, "asking for the device of the CUDA context");
    readProps(device_); // the driver's devices are their ordinals
    watchExit();
  }

  ~CudaDevice() override {
    if (isExiting())
      return;
    // Nothing is left to be freed in a lost context.
    if (!lost_ && driver_.contextPush(context_) == kSuccess) {
      driver_.contextSynchronize();
      for (const auto &stream : streams_.all())
        if (stream->isOwned)
          driver_.streamDestroy(stream->handle);
      for (const auto &event : events_.all())
        driver_.eventDestroy(event->handle);
      for (const auto &module : modules_.all())
        driver_.moduleUnload(module->handle);
      for (const auto &[pointer, block] : blocks_)
        if (block.live)
          driver_.memFree(pointer);
      CUcontext popped = nullptr;
      driver_.contextPop(&popped);
    }
    if (isOwner_)
      driver_.primaryRelease(device_);
  }

  const DeviceProps &props() const override { return props_; }

  DevicePtr alloc(size_t bytes, Stream stream, Loc) override {
    Current current(*this);
    CUstream on = streamOf(stream);
    CUdeviceptr pointer = 0;
    // The driver refuses zero bytes; a distinct pointer is promised.
    size_t size = std::max<size_t>(bytes, 1);
    // On the default stream memory must be usable by every stream at once, which stream-ordered memory is not.
    bool pooled = usesPool_ && stream;
    CUresult result =
        pooled ? driver_.memAllocAsync(&pointer, size, on) : driver_.memAlloc(&pointer, size);
    if (result == kOutOfMemory) {
      size_t free = 0, total = 0;
      driver_.memGetInfo(&free, &total);
      throw Error(Fault::User, ErrorCode::OutOfMemory,
                  "out of memory: " + std::to_string(bytes) + " bytes asked for, " +
                      std::to_string(free) + " of " + std::to_string(total) + " are free");
    }
    check(result, "allocating " + std::to_string(bytes) + " bytes");
    std::lock_guard lock(memoryMutex_);
    blocks_.erase(blocks_.lower_bound(pointer), blocks_.lower_bound(pointer + size));
    blocks_[pointer] = {bytes, true, pooled};
    return pointer;
  }

  void free(DevicePtr pointer, Stream stream, Loc) override {
    if (pointer == 0)
      return;
    Current current(*this);
    CUstream on = streamOf(stream);
    bool pooled = false;
    {
      std::lock_guard lock(memoryMutex_);
      auto found = blocks_.find(pointer);
      if (found == blocks_.end())
        fail(ErrorCode::InvalidArgument, "free: the pointer was not returned by alloc");
      if (!found->second.live)
        fail(ErrorCode::UseAfterFree, "free: the pointer has been freed already");
      found->second.live = false;
      pooled = found->second.pooled && stream;
    }
    if (pooled)
      return check(driver_.memFreeAsync(pointer, on), "freeing memory");
    // cuMemFree may, but need not, wait for whatever still uses the memory; for pooled memory it never does.
    check(driver_.contextSynchronize(), "waiting for the device to free memory");
    check(driver_.memFree(pointer), "freeing memory");
  }

  std::optional<Allocation> allocationOf(DevicePtr pointer) const override {
    std::lock_guard lock(memoryMutex_);
    auto after = blocks_.upper_bound(pointer);
    if (after == blocks_.begin())
      return std::nullopt;
    auto [base, block] = *std::prev(after);
    if (!block.live || pointer - base >= std::max<size_t>(block.bytes, 1))
      return std::nullopt;
    return Allocation{base, block.bytes};
  }

  void copyToDevice(DevicePtr target, const void *source, size_t bytes, Stream stream,
                    Loc) override {
    copyAndWait("copyToDevice", target, source, bytes, stream,
                [&](CUstream on) { return driver_.copyToDevice(target, source, bytes, on); });
  }
  void copyToHost(void *target, DevicePtr source, size_t bytes, Stream stream, Loc) override {
    copyAndWait("copyToHost", source, target, bytes, stream,
                [&](CUstream on) { return driver_.copyToHost(target, source, bytes, on); });
  }
  void copyToDeviceAsync(DevicePtr target, const void *source, size_t bytes, Stream stream,
                         Loc) override {
    copy("copyToDeviceAsync", target, source, bytes, stream,
         [&](CUstream on) { return driver_.copyToDevice(target, source, bytes, on); });
  }
  void copyToHostAsync(void *target, DevicePtr source, size_t bytes, Stream stream, Loc) override {
    copy("copyToHostAsync", source, target, bytes, stream,
         [&](CUstream on) { return driver_.copyToHost(target, source, bytes, on); });
  }

  void copyOnDevice(DevicePtr target, DevicePtr source, size_t bytes, Stream stream, Loc) override {
    checkRange("copyOnDevice: target", target, bytes);
    checkRange("copyOnDevice: source", source, bytes);
    Current current(*this);
    CUstream on = streamOf(stream);
    if (bytes)
      check(driver_.copyOnDevice(target, source, bytes, on),
            "copying " + std::to_string(bytes) + " bytes");
  }

  void fill(DevicePtr target, uint8_t value, size_t bytes, Stream stream, Loc) override {
    checkRange("fill: target", target, bytes);
    Current current(*this);
    CUstream on = streamOf(stream);
    if (bytes)
      check(driver_.memset8(target, value, bytes, on),
            "filling " + std::to_string(bytes) + " bytes");
  }

  Module loadModule(std::string_view ptx, std::span<const std::byte> cubin,
                    std::string_view name) override {
    Current current(*this);
    auto module = std::make_shared<CudaModule>();
    module->name = name;
    module->ptx = ptx;
    std::vector<std::string> notes;
    CUresult result = kNoBinaryForGpu;
    if (!cubin.empty())
      result = loadImage(*module, cubin.data(), notes);
    // A cubin for another architecture or of a newer format is no fault as long as there is PTX.
    if ((result == kNoBinaryForGpu || result == kInvalidImage) && !ptx.empty())
      result = loadImage(*module, module->ptx.c_str(), notes);
    if (result == kInvalidPtx || result == kInvalidImage)
      throw Error(Fault::Compiler, ErrorCode::Parse,
                  "loading " + module->name + ": " + driver_.describe(result), {}, notes);
    if (result == kUnsupportedPtxVersion || result == kNoBinaryForGpu)
      throw Error(Fault::Device, ErrorCode::Unsupported,
                  "loading " + module->name + ": " + driver_.describe(result) +
                      ": update the driver, or install ptxas so that machine code is loaded",
                  {}, notes);
    check(result, "loading " + module->name);
    return modules_.insert(module);
  }

  void unloadModule(Module handle) override {
    auto module = modules_.remove(handle);
    module->loaded = false;
    Current current(*this);
    check(driver_.moduleUnload(module->handle), "unloading " + module->name);
  }

  Function getFunction(Module handle, std::string_view name) override {
    auto module = modules_.get(handle);
    Current current(*this);
    auto function = std::make_shared<CudaFunction>();
    function->module = module;
    function->name = name;
    CUresult result =
        driver_.moduleGetFunction(&function->handle, module->handle, function->name.c_str());
    if (result == kNotFound)
      fail(ErrorCode::InvalidArgument, "module " + module->name + " has no kernel '" +
                                           function->name + "'" + kernelsOf(module->ptx));
    check(result, "looking up kernel '" + function->name + "'");
    readParameters(*function);
    function->staticShared = static_cast<size_t>(attributeOf(*function, kFunctionSharedBytes));
    // What needs no opt-in is shared between the two kinds.
    function->dynamicShared =
        props_.sharedPerBlock - std::min(props_.sharedPerBlock, function->staticShared);
    return functions_.insert(function);
  }

  FunctionInfo functionInfo(Function handle) const override {
    auto function = loadedFunction(handle);
    Current current(*this);
    FunctionInfo info;
    info.name = function->name;
    info.paramSizes = function->paramSizes.value_or(std::vector<size_t>());
    info.staticSharedBytes = function->staticShared;
    info.localBytes = static_cast<size_t>(attributeOf(*function, kFunctionLocalBytes));
    info.registers = attributeOf(*function, kFunctionRegisters);
    info.maxThreadsPerBlock = attributeOf(*function, kFunctionMaxThreads);
    return info;
  }

  void launch(Function handle, const device::LaunchConfig &config, std::span<const Arg> args,
              Stream stream) override {
    auto function = loadedFunction(handle);
    checkArguments(*function, args);
    Current current(*this);
    CUstream on = streamOf(stream);
    prepareLimits(*function, config);
    LaunchAttribute attributes[2] = {};
    unsigned count = 0;
    if (config.cluster.count() != 1) {
      attributes[count].id = kLaunchClusterDimension;
      attributes[count++].value.cluster = {config.cluster.x, config.cluster.y, config.cluster.z};
    }
    if (config.programmaticDependent) {
      attributes[count].id = kLaunchProgrammaticSerialization;
      attributes[count++].value.programmaticStreamSerialization = 1;
    }
    cuda::LaunchConfig shape{config.grid.x,
                             config.grid.y,
                             config.grid.z,
                             config.block.x,
                             config.block.y,
                             config.block.z,
                             config.dynamicSharedBytes,
                             on,
                             attributes,
                             count};
    constexpr size_t kInlineArgs = 64;
    void *inlinePointers[kInlineArgs];
    std::vector<void *> morePointers;
    void **pointers = inlinePointers;
    if (args.size() > kInlineArgs) {
      morePointers.resize(args.size());
      pointers = morePointers.data();
    }
    for (size_t i = 0; i < args.size(); ++i)
      pointers[i] = const_cast<void *>(args[i].data);
    CUresult result = driver_.launchKernelEx(&shape, function->handle, pointers, nullptr);
    if (result != kSuccess)
      check(result, describeLaunch(*function, config));
    std::lock_guard lock(lastKernelMutex_);
    lastKernel_ = function;
  }

  TensorMap encodeTensorMap(const TensorMapParams &params) override {
    checkTensorMap(params, props_.arch);
    Current current(*this);
    TensorMap map;
    check(driver_.tensorMapEncodeTiled(
              map.bytes.data(), static_cast<int>(params.type), params.rank, params.base,
              params.dims.data(), params.strides.data(), params.box.data(),
              params.elementStrides.data(), static_cast<int>(params.interleave),
              static_cast<int>(params.swizzle), static_cast<int>(params.l2Promotion),
              static_cast<int>(params.fill)),
          "encoding a tensor map");
    return map;
  }

  Stream createStream(Loc) override {
    Current current(*this);
    auto stream = std::make_shared<CudaStream>();
    check(driver_.streamCreate(&stream->handle, kNonBlockingStream), "creating a stream");
    return streams_.insert(stream);
  }
  Stream adoptStream(void *native, Loc) override {
    Current current(*this);
    auto handle = static_cast<CUstream>(native);
    CUcontext context = nullptr;
    check(driver_.streamContext(handle, &context), "using a stream of others");
    if (context != context_)
      throw Error(
          Fault::User, ErrorCode::WrongDevice,
          "the stream of others belongs to another CUDA context than this device: open that "
          "one with Device::ofContext");
    return streams_.insert(std::make_shared<CudaStream>(CudaStream{handle, false}));
  }
  void *nativeOf(Stream stream) const override { return streamOf(stream); }
  void destroyStream(Stream handle) override {
    auto stream = streams_.remove(handle);
    if (!stream->isOwned)
      return;
    Current current(*this);
    check(driver_.streamDestroy(stream->handle), "destroying a stream");
  }
  void synchronize(Stream stream) override {
    Current current(*this);
    check(driver_.streamSynchronize(streamOf(stream)), "waiting for a stream");
  }
  void synchronize() override {
    Current current(*this);
    check(driver_.contextSynchronize(), "waiting for the device");
  }
  // A fault of a kernel stays with the context: each later call meets it.
  void drain(Stream stream) noexcept override {
    try {
      synchronize(stream);
    } catch (const Error &) {
    }
  }
  void drain() noexcept override {
    try {
      synchronize();
    } catch (const Error &) {
    }
  }

  Event createEvent() override {
    Current current(*this);
    auto event = std::make_shared<CudaEvent>();
    check(driver_.eventCreate(&event->handle, 0), "creating an event");
    return events_.insert(event);
  }
  void destroyEvent(Event handle) override {
    auto event = events_.remove(handle);
    Current current(*this);
    check(driver_.eventDestroy(event->handle), "destroying an event");
  }
  void record(Event handle, Stream stream) override {
    auto event = events_.get(handle);
    Current current(*this);
    check(driver_.eventRecord(event->handle, streamOf(stream)), "recording an event");
    event->recorded = true;
  }
  void wait(Stream stream, Event handle) override {
    auto event = events_.get(handle);
    Current current(*this);
    check(driver_.streamWaitEvent(streamOf(stream), event->handle, 0), "making a stream wait");
  }
  void synchronize(Event handle) override {
    auto event = events_.get(handle);
    Current current(*this);
    check(driver_.eventSynchronize(event->handle), "waiting for an event");
  }
  bool isDone(Event handle) override {
    auto event = events_.get(handle);
    Current current(*this);
    CUresult result = driver_.eventQuery(event->handle);
    if (result == kNotReady)
      return false;
    check(result, "asking whether an event has been reached");
    return true;
  }
  float elapsedMs(Event start, Event stop) override {
    auto from = events_.get(start), to = events_.get(stop);
    if (!from->recorded || !to->recorded)
      fail(ErrorCode::InvalidHandle, "elapsedMs: the event has not been recorded");
    Current current(*this);
    check(driver_.eventSynchronize(from->handle), "waiting for an event");
    check(driver_.eventSynchronize(to->handle), "waiting for an event");
    float milliseconds = 0;
    check(driver_.eventElapsed(&milliseconds, from->handle, to->handle), "timing events");
    return milliseconds;
  }

private:
  // Makes the device's context current for the calling thread while it lives.
  class Current {
  public:
    explicit Current(const CudaDevice &device) : driver_(device.driver_) {
      if (isExiting())
        throw Error(Fault::User, ErrorCode::DeviceLost,
                    "the process is exiting: the CUDA driver is no longer called");
      if (device.lost_)
        throw Error(Fault::Device, ErrorCode::ContextLost, device.lostMessage());
      device.check(driver_.contextPush(device.context_), "using the CUDA context");
    }
    ~Current() {
      CUcontext popped = nullptr;
      driver_.contextPop(&popped);
    }
    Current(const Current &) = delete;

  private:
    const Driver &driver_;
  };

  // Of literals no string is made unless there is something to say.
  void check(CUresult result, const char *what) const {
    if (result != kSuccess)
      check(result, std::string(what));
  }
  void check(CUresult result, const std::string &what) const {
    if (result == kSuccess)
      return;
    if (!isSticky(result))
      throw driverError(result, what);
    lost_ = true;
    std::lock_guard lock(lastKernelMutex_);
    throw driverError(
        result, what + (lastKernel_ ? " (last kernel launched: " + lastKernel_->name + ")" : ""));
  }

  std::string lostMessage() const {
    std::lock_guard lock(lastKernelMutex_);
    return "the CUDA context was lost by an earlier fault" +
           (lastKernel_ ? " (last kernel launched: " + lastKernel_->name + ")" : std::string()) +
           ": restart the process";
  }

  // Tries one image; the driver's complaints go to the notes.
  CUresult loadImage(CudaModule &module, const void *image, std::vector<std::string> &notes) {
    constexpr size_t kLogBytes = 16 * 1024;
    std::string log(kLogBytes, '\0');
    int options[] = {kJitErrorLog, kJitErrorLogBytes};
    // The driver replaces the size by the length it has filled: good for one load only.
    void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
    CUresult result = driver_.moduleLoadDataEx(&module.handle, image, 2, options, values);
    if (result != kSuccess && log[0])
      notes.push_back(log.c_str());
    return result;
  }

  std::shared_ptr<CudaFunction> loadedFunction(Function handle) const {
    auto function = functions_.get(handle);
    if (!function->module->loaded)
      fail(ErrorCode::InvalidHandle,
           "the module of kernel '" + function->name + "' has been unloaded");
    return function;
  }

  int attributeOf(const CudaFunction &function, int which) const {
    int value = 0;
    check(driver_.functionGetAttribute(&value, which, function.handle),
          "asking about kernel '" + function.name + "'");
    return value;
  }

  // Asking until there is no further parameter would end with a call that fails, which tools that watch the driver report.
  void readParameters(CudaFunction &function) const {
    std::vector<PtxEntry> entries = ptxEntries(function.module->ptx);
    auto entry = std::ranges::find(entries, function.name, &PtxEntry::name);
    if (!driver_.functionGetParamInfo || entry == entries.end())
      return;
    function.paramSizes.emplace(entry->parameters);
    size_t offset = 0;
    for (size_t i = 0; i < entry->parameters; ++i)
      check(driver_.functionGetParamInfo(function.handle, i, &offset, &(*function.paramSizes)[i]),
            "asking about kernel '" + function.name + "'");
  }

  // "; its kernels are a, b" from the PTX, as the driver cannot be asked before version 12.4.
  static std::string kernelsOf(std::string_view ptx) {
    std::string names;
    for (const PtxEntry &entry : ptxEntries(ptx))
      names += (names.empty() ? "; its kernels are " : ", ") + entry.name;
    return names;
  }

  CUstream streamOf(Stream stream) const { return stream ? streams_.get(stream)->handle : nullptr; }

  void readProps(int ordinal) {
    auto attribute = [&](int which) {
      int value = 0;
      check(driver_.deviceGetAttribute(&value, which, device_),
            "asking for device attribute " + std::to_string(which));
      return value;
    };
    auto size = [&](int which) { return static_cast<size_t>(attribute(which)); };
    auto extent = [&](int which) { return static_cast<uint32_t>(attribute(which)); };
    char name[256] = {};
    check(driver_.deviceGetName(name, sizeof name, device_), "asking for the device's name");
    props_.name = name;
    props_.arch = 10 * attribute(kComputeMajor) + attribute(kComputeMinor);
    // Architecture-specific features exist from 9.0 on.
    props_.target = "sm_" + std::to_string(props_.arch) + (props_.arch >= 90 ? "a" : "");
    props_.smCount = attribute(kMultiprocessorCount);
    props_.warpSize = attribute(kWarpSize);
    props_.maxThreadsPerBlock = attribute(kMaxThreadsPerBlock);
    props_.registersPerSm = attribute(kRegistersPerMultiprocessor);
    props_.sharedPerBlock = size(kSharedPerBlock);
    props_.sharedPerBlockOptin = size(kSharedPerBlockOptin);
    props_.sharedPerSm = size(kSharedPerMultiprocessor);
    props_.l2Bytes = size(kL2CacheSize);
    props_.maxBlock = {extent(kMaxBlockX), extent(kMaxBlockY), extent(kMaxBlockZ)};
    props_.maxGrid = {extent(kMaxGridX), extent(kMaxGridY), extent(kMaxGridZ)};
    props_.maxClusterSize = props_.arch >= 90 ? 2 * kPortableClusterSize : 1;
    props_.ordinal = ordinal;
    props_.runsMachineCode = true;
    check(driver_.deviceTotalMem(&props_.totalMemory, device_), "asking for the device's memory");
    usesPool_ = driver_.memAllocAsync && driver_.memFreeAsync && attribute(kMemoryPoolsSupported);
  }

  // Returns whether there was anything to copy.
  template <class Call>
  bool copy(const char *what, DevicePtr pointer, const void *host, size_t bytes, Stream stream,
            Call call) {
    checkRange(what, pointer, bytes);
    if (bytes && !host)
      fail(ErrorCode::InvalidArgument, std::string(what) + ": the host pointer is null");
    Current current(*this);
    CUstream on = streamOf(stream);
    if (bytes)
      check(call(on), copyText(what, bytes));
    return bytes != 0;
  }
  template <class Call>
  void copyAndWait(const char *what, DevicePtr pointer, const void *host, size_t bytes,
                   Stream stream, Call call) {
    if (!copy(what, pointer, host, bytes, stream, call))
      return;
    Current current(*this);
    check(driver_.streamSynchronize(streamOf(stream)), copyText(what, bytes));
  }
  static std::string copyText(const char *what, size_t bytes) {
    return std::string(what) + " of " + std::to_string(bytes) + " bytes";
  }

  void checkRange(const char *what, DevicePtr pointer, size_t bytes) const {
    if (bytes == 0)
      return;
    auto block = allocationOf(pointer);
    if (block && bytes <= block->base + block->bytes - pointer)
      return;
    std::lock_guard lock(memoryMutex_);
    auto after = blocks_.upper_bound(pointer);
    bool freed = after != blocks_.begin() && !std::prev(after)->second.live &&
                 pointer - std::prev(after)->first < std::prev(after)->second.bytes;
    fail(freed ? ErrorCode::UseAfterFree : ErrorCode::InvalidArgument,
         std::string(what) + ": " + std::to_string(bytes) + " bytes at address " +
             std::to_string(pointer) +
             (freed ? " lie in freed memory" : " are not inside an allocation of this device"));
  }

  static void checkArguments(const CudaFunction &function, std::span<const Arg> args) {
    for (size_t i = 0; i < args.size(); ++i)
      if (!args[i].data)
        fail(ErrorCode::InvalidArgument,
             "launch of " + function.name + ": argument " + std::to_string(i) + " has no data");
    if (!function.paramSizes)
      return;
    const std::vector<size_t> &sizes = *function.paramSizes;
    if (args.size() != sizes.size())
      fail(ErrorCode::InvalidArgument,
           "launch of " + function.name + ": " + std::to_string(args.size()) +
               " arguments, the kernel has " + std::to_string(sizes.size()) + " parameters");
    for (size_t i = 0; i < args.size(); ++i)
      if (args[i].size != sizes[i])
        fail(ErrorCode::InvalidArgument,
             "launch of " + function.name + ": argument " + std::to_string(i) + " has " +
                 std::to_string(args[i].size) + " bytes, the parameter has " +
                 std::to_string(sizes[i]));
  }

  // Shared memory above 48 KB, static and dynamic together, and clusters above 8 blocks must be asked for once per function.
  void prepareLimits(CudaFunction &function, const device::LaunchConfig &config) {
    std::lock_guard lock(function.mutex);
    if (config.dynamicSharedBytes > function.dynamicShared) {
      if (config.dynamicSharedBytes + function.staticShared > props_.sharedPerBlockOptin)
        throw Error(Fault::User, ErrorCode::ResourceExceeded,
                    describeLaunch(function, config) + ": with " +
                        std::to_string(function.staticShared) +
                        " bytes of static shared memory that is more than the device's " +
                        std::to_string(props_.sharedPerBlockOptin) + " a block");
      check(driver_.functionSetAttribute(function.handle, kFunctionMaxDynamicShared,
                                         static_cast<int>(config.dynamicSharedBytes)),
            describeLaunch(function, config));
      function.dynamicShared = config.dynamicSharedBytes;
    }
    if (config.cluster.count() > kPortableClusterSize && !function.largeClusters) {
      check(driver_.functionSetAttribute(function.handle, kFunctionNonPortableCluster, 1),
            describeLaunch(function, config));
      function.largeClusters = true;
    }
  }

  static std::string describeLaunch(const CudaFunction &function,
                                    const device::LaunchConfig &config) {
    auto text = [](const Dim3 &dim) {
      return std::to_string(dim.x) + "x" + std::to_string(dim.y) + "x" + std::to_string(dim.z);
    };
    return "launch of " + function.name + " (grid " + text(config.grid) + ", block " +
           text(config.block) + ", cluster " + text(config.cluster) + ", " +
           std::to_string(config.dynamicSharedBytes) + " bytes of dynamic shared memory)";
  }

  struct Block {
    size_t bytes;
    // Freed blocks stay until their address is given out again, to recognise a use after free.
    bool live;
    bool pooled; // allocated in stream order
  };

  const Driver &driver_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  bool isOwner_ = true; // of a reference to the context, else it is left alone
  DeviceProps props_;
  bool usesPool_ = false;
  mutable std::atomic<bool> lost_ = false;
  mutable std::mutex memoryMutex_, lastKernelMutex_;
  std::map<DevicePtr, Block> blocks_;
  std::shared_ptr<CudaFunction> lastKernel_;
  HandleTable<ModuleTag, CudaModule> modules_{"module"};
  HandleTable<FunctionTag, CudaFunction> functions_{"function"};
  HandleTable<StreamTag, CudaStream> streams_{"stream"};
  HandleTable<EventTag, CudaEvent> events_{"event"};
};

} // namespace

std::shared_ptr<Device> openCuda(int ordinal) { return std::make_shared<CudaDevice>(ordinal); }

static void require(CUresult result, const char *what) {
  if (result != kSuccess)
    throw driverError(result, what);
}

void *currentCudaContext() {
  CUcontext context = nullptr;
  require(Driver::get().contextCurrent(&context), "asking for the current CUDA context");
  return context;
}

std::optional<int> ordinalOfPrimaryContext(void *context) {
  const Driver &driver = Driver::get();
  int count = 0;
  require(driver.deviceGetCount(&count), "counting CUDA devices");
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CUdevice device = 0;
    CUcontext primary = nullptr;
    unsigned flags = 0;
    int isActive = 0;
    require(driver.deviceGet(&device, ordinal), "opening a CUDA device");
    require(driver.primaryState(device, &flags, &isActive), "asking for a primary context");
    if (!isActive)
      continue; // to retain it would make it
    require(driver.primaryRetain(&primary, device), "asking for a primary context");
    driver.primaryRelease(device);
    if (primary == context)
      return ordinal;
  }
  return std::nullopt;
}

std::shared_ptr<Device> openCudaContext(void *context) {
  return std::make_shared<CudaDevice>(static_cast<CUcontext>(context));
}

} // namespace tile::device
