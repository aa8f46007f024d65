// A real GPU through the CUDA driver API: the primary context, stream-ordered memory, modules from cubin or PTX. Here are
// copies, streams and events; contexts, memory and kernels have files of their own. Each call asks for the context before it locks
// anything: in a process that was forked, a lock may be held for ever by a thread that is not there.
#include "runtime/device/CudaGraphs.h"
#include "runtime/device/CudaKernels.h"
#include "runtime/device/CudaMemory.h"
#include "runtime/device/CudaProps.h"

namespace tile::device {
namespace {

using namespace cuda;

constexpr unsigned kNonBlockingStream = 1;

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
  explicit CudaDevice(int ordinal) : context_(ordinal), props_(cudaProps(context_, ordinal)) {
    watchExit();
  }
  /// On a context of others; the driver's devices are their ordinals.
  explicit CudaDevice(CUcontext context)
      : context_(context), props_(cudaProps(context_, context_.device())) {
    watchExit();
  }

  ~CudaDevice() override {
    context_.useLast([&] {
      driver_.contextSynchronize();
      for (const auto &stream : streams_.all())
        if (stream->isOwned)
          driver_.streamDestroy(stream->handle);
      for (const auto &event : events_.all())
        driver_.eventDestroy(event->handle);
      graphs_.destroyAll();
      kernels_.unloadAll();
      memory_.freeAll();
    });
  }

  const DeviceProps &props() const override { return props_; }

  DevicePtr alloc(size_t bytes, Stream stream, Loc) override {
    Current current(context_);
    return memory_.alloc(bytes, bool(stream), streamOf(stream));
  }
  void free(DevicePtr pointer, Stream stream, Loc) override {
    if (pointer == 0)
      return;
    Current current(context_);
    memory_.free(pointer, bool(stream), streamOf(stream));
  }
  std::optional<Allocation> allocationOf(DevicePtr pointer) const override {
    if (context_.isOfParent())
      throw forkedError();
    return memory_.allocationOf(pointer);
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
    Current current(context_);
    memory_.checkRange("copyOnDevice: target", target, bytes);
    memory_.checkRange("copyOnDevice: source", source, bytes);
    CUstream on = streamOf(stream);
    if (bytes)
      context_.check(driver_.copyOnDevice(target, source, bytes, on),
                     "copying " + std::to_string(bytes) + " bytes");
  }

  void fill(DevicePtr target, uint8_t value, size_t bytes, Stream stream, Loc) override {
    Current current(context_);
    memory_.checkRange("fill: target", target, bytes);
    CUstream on = streamOf(stream);
    if (bytes)
      context_.check(driver_.memset8(target, value, bytes, on),
                     "filling " + std::to_string(bytes) + " bytes");
  }

  Module loadModule(std::string_view ptx, std::span<const std::byte> cubin,
                    std::string_view name) override {
    return kernels_.load(ptx, cubin, name);
  }
  void unloadModule(Module module) override { kernels_.unload(module); }
  Function getFunction(Module module, std::string_view name) override {
    return kernels_.find(module, name);
  }
  FunctionInfo functionInfo(Function function) const override { return kernels_.infoOf(function); }
  std::optional<int64_t> clustersAtOnce(Function function,
                                        const device::LaunchConfig &config) const override {
    return kernels_.clustersAtOnce(function, config);
  }
  void launch(Function handle, const device::LaunchConfig &config, std::span<const Arg> args,
              Stream stream) override {
    Current current(context_);
    kernels_.launch(kernels_.loaded(handle), config, args, streamOf(stream));
  }

  TensorMap encodeTensorMap(const TensorMapParams &params) override {
    checkTensorMap(params, props_.arch);
    Current current(context_);
    TensorMap map;
    context_.check(driver_.tensorMapEncodeTiled(
                       map.bytes.data(), static_cast<int>(params.type), params.rank, params.base,
                       params.dims.data(), params.strides.data(), params.box.data(),
                       params.elementStrides.data(), static_cast<int>(params.interleave),
                       static_cast<int>(params.swizzle), static_cast<int>(params.l2Promotion),
                       static_cast<int>(params.fill)),
                   "encoding a tensor map");
    return map;
  }

  Stream createStream(Loc) override {
    Current current(context_);
    auto stream = std::make_shared<CudaStream>();
    context_.check(driver_.streamCreate(&stream->handle, kNonBlockingStream), "creating a stream");
    return streams_.insert(stream);
  }
  Stream adoptStream(void *native, Loc) override {
    Current current(context_);
    auto handle = static_cast<CUstream>(native);
    CUcontext context = nullptr;
    context_.check(driver_.streamContext(handle, &context), "using a stream of others");
    if (context != context_.handle())
      throw Error(
          Fault::User, ErrorCode::WrongDevice,
          "the stream of others belongs to another CUDA context than this device: open that "
          "one with Device::ofContext");
    return streams_.insert(std::make_shared<CudaStream>(CudaStream{handle, false}));
  }
  void *nativeOf(Stream stream) const override { return streamOf(stream); }
  void destroyStream(Stream handle) override {
    Current current(context_);
    auto stream = streams_.remove(handle);
    if (!stream->isOwned)
      return;
    context_.check(driver_.streamDestroy(stream->handle), "destroying a stream");
  }
  void synchronize(Stream stream) override {
    Current current(context_);
    context_.check(driver_.streamSynchronize(streamOf(stream)), "waiting for a stream");
  }
  void synchronize() override {
    Current current(context_);
    context_.synchronize("waiting for the device");
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
    Current current(context_);
    auto event = std::make_shared<CudaEvent>();
    context_.check(driver_.eventCreate(&event->handle, 0), "creating an event");
    return events_.insert(event);
  }
  void destroyEvent(Event handle) override {
    Current current(context_);
    auto event = events_.remove(handle);
    context_.check(driver_.eventDestroy(event->handle), "destroying an event");
  }
  void record(Event handle, Stream stream) override {
    Current current(context_);
    auto event = events_.get(handle);
    context_.check(driver_.eventRecord(event->handle, streamOf(stream)), "recording an event");
    event->recorded = true;
  }
  void wait(Stream stream, Event handle) override {
    Current current(context_);
    auto event = events_.get(handle);
    context_.check(driver_.streamWaitEvent(streamOf(stream), event->handle, 0),
                   "making a stream wait");
  }
  void synchronize(Event handle) override {
    Current current(context_);
    auto event = events_.get(handle);
    context_.check(driver_.eventSynchronize(event->handle), "waiting for an event");
  }
  bool isDone(Event handle) override {
    Current current(context_);
    auto event = events_.get(handle);
    CUresult result = driver_.eventQuery(event->handle);
    if (result == kNotReady)
      return false;
    context_.check(result, "asking whether an event has been reached");
    return true;
  }
  float elapsedMs(Event start, Event stop) override {
    Current current(context_);
    auto from = events_.get(start), to = events_.get(stop);
    if (!from->recorded || !to->recorded)
      refuse(ErrorCode::InvalidHandle, "elapsedMs: the event has not been recorded");
    context_.check(driver_.eventSynchronize(from->handle), "waiting for an event");
    context_.check(driver_.eventSynchronize(to->handle), "waiting for an event");
    float milliseconds = 0;
    context_.check(driver_.eventElapsed(&milliseconds, from->handle, to->handle), "timing events");
    return milliseconds;
  }

  Graph createGraph(std::shared_ptr<const GraphWork> work) override {
    return graphs_.create(*this, std::move(work));
  }
  void updateGraph(Graph graph, std::shared_ptr<const GraphWork> work) override {
    graphs_.update(*this, graph, std::move(work));
  }
  void replay(Graph graph, Stream stream) override {
    Current current(context_);
    graphs_.replay(graph, streamOf(stream));
  }
  void destroyGraph(Graph graph) override { graphs_.destroy(graph); }
  std::string lastLaunch() const override { return context_.lastLaunch().describe(); }
  bool isOfParent() const override { return context_.isOfParent(); }
  bool isCapturedByOthers(Stream stream) const override {
    if (!driver_.streamIsCapturing)
      return false;
    Current current(context_);
    int status = kNotCaptured;
    CUresult result = driver_.streamIsCapturing(streamOf(stream), &status);
    if (result == kCaptureImplicit) // of a stream that the default stream would wait for
      return true;
    context_.check(result, "asking whether a stream is captured");
    return status != kNotCaptured;
  }

private:
  using Current = CudaContext::Current;

  CUstream streamOf(Stream stream) const {
    if (!stream)
      return nullptr;
    return streams_.read(stream, [](const CudaStream &object) { return object.handle; });
  }

  // Returns whether there was anything to copy.
  template <class Call>
  bool copy(const char *what, DevicePtr pointer, const void *host, size_t bytes, Stream stream,
            Call call) {
    Current current(context_);
    memory_.checkRange(what, pointer, bytes);
    if (bytes && !host)
      refuse(ErrorCode::InvalidArgument, std::string(what) + ": the host pointer is null");
    CUstream on = streamOf(stream);
    if (bytes)
      context_.check(call(on), copyText(what, bytes));
    return bytes != 0;
  }
  template <class Call>
  void copyAndWait(const char *what, DevicePtr pointer, const void *host, size_t bytes,
                   Stream stream, Call call) {
    if (!copy(what, pointer, host, bytes, stream, call))
      return;
    Current current(context_);
    context_.check(driver_.streamSynchronize(streamOf(stream)), copyText(what, bytes));
  }
  static std::string copyText(const char *what, size_t bytes) {
    return std::string(what) + " of " + std::to_string(bytes) + " bytes";
  }

  CudaContext context_;
  const Driver &driver_ = context_.driver();
  DeviceProps props_;
  CudaMemory memory_{context_};
  CudaKernels kernels_{context_, props_};
  CudaGraphs graphs_{context_};
  HandleTable<StreamTag, CudaStream> streams_{"stream"};
  HandleTable<EventTag, CudaEvent> events_{"event"};
};

} // namespace

std::shared_ptr<Device> openCuda(int ordinal) { return std::make_shared<CudaDevice>(ordinal); }

std::shared_ptr<Device> openCudaContext(void *context) {
  return std::make_shared<CudaDevice>(static_cast<CUcontext>(context));
}

} // namespace tile::device
