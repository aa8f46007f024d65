// The device seam: everything the rest of tilec knows about the machine that runs a kernel.
//
// Two implementations stand behind it, the CUDA driver (`openCuda`) and the virtual GPU (`openVirtual`). Who calls it
// need not know which it is; `DeviceProps` says what differs, such as that the virtual GPU wants no machine code. All
// functions throw `tile::Error`; after an error the device stays usable unless the code is `ContextLost`. A device may
// be used from several threads.
#pragma once

#include "runtime/device/TensorMap.h"

#include <tile/Error.h>
#include <tile/Types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tile::device {

/// An address in device memory; 0 is null.
using DevicePtr = uint64_t;

/// Extents of a grid, block or cluster.
struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  constexpr uint64_t count() const { return uint64_t{x} * y * z; }
  bool operator==(const Dim3 &) const = default;
};

/// A name for an object of the device. The generation tells a destroyed object from its successor in the same place, so
/// a stale handle is an `InvalidHandle` error and never a crash. Default-constructed handles are null.
template <class Tag> struct Handle {
  uint32_t index = 0;
  uint32_t generation = 0;
  explicit operator bool() const { return generation != 0; }
  bool operator==(const Handle &) const = default;
};
using Module = Handle<struct ModuleTag>;
using Function = Handle<struct FunctionTag>;
/// The null stream is the device's default stream, which always exists.
using Stream = Handle<struct StreamTag>;
using Event = Handle<struct EventTag>;
using Graph = Handle<struct GraphTag>;

struct GraphWork;

/// What a device is and how much of everything it has.
struct DeviceProps {
  std::string name;
  int arch = 0;       // 80 for sm_80
  std::string target; // "sm_80", "sm_90a": the best PTX target it accepts
  int smCount = 0;
  int warpSize = 32;
  int maxThreadsPerBlock = 1024;
  int registersPerSm = 65536;
  size_t sharedPerBlock = 48 * 1024; // without opting in
  size_t sharedPerBlockOptin = 0;    // the most a launch may ask for, static and dynamic together
  size_t sharedPerSm = 0;
  size_t totalMemory = 0;
  size_t l2Bytes = 0;
  Dim3 maxGrid;
  Dim3 maxBlock;
  int maxClusterSize = 1;
  int ordinal = 0;
  bool isVirtual = false;       // for users; the runtime asks what follows from it
  bool runsMachineCode = false; // else PTX is all that it needs
  bool checksBounds = false;    // an allocation has the bytes that were asked for and no more
  bool countsWork = false;      // and has no time
};

/// What a device that has no time counts of the work it does.
struct Work {
  uint64_t launches = 0;
  uint64_t instructions = 0;  // of warps
  uint64_t multiplyAdds = 0;  // of tensor cores
  uint64_t accessedBytes = 0; // of the sectors that loads and stores of warps touch
  uint64_t copiedBytes = 0;   // by copies that go on by themselves
  uint64_t distinctBytes = 0; // of sectors read and written, each counted once a launch
  uint64_t bankConflicts = 0; // cycles of shared memory
};

/// The shape of a launch.
struct LaunchConfig {
  Dim3 grid, block, cluster;
  uint32_t dynamicSharedBytes = 0;
  /// The kernel may start before its predecessor in the stream has finished (griddepcontrol).
  bool programmaticDependent = false;
  /// The line of the host's program that launches, for reports.
  Loc where = {};
};

/// One kernel parameter: `size` bytes at `data`, in the order of the kernel's `.param`s.
struct Arg {
  const void *data = nullptr;
  size_t size = 0;
};

/// What is known about a function once it is loaded.
struct FunctionInfo {
  std::string name;
  std::vector<size_t> paramSizes; // empty if the driver cannot tell, as of a cubin without PTX
  size_t staticSharedBytes = 0;
  size_t localBytes = 0; // per thread
  int registers = 0;     // per thread; 0 on the virtual GPU
  int maxThreadsPerBlock = 0;
};

/// An allocation, as `allocationOf` finds it.
struct Allocation {
  DevicePtr base = 0;
  size_t bytes = 0;
};

/// `where` is the line of the host's program that asks, for reports; a device that checks no order has no use for it.
///
/// Work of one stream runs in order. Work of different streams has no order but what `wait`, and the host, by waiting
/// for one before it gives work to the other, make between them; the default stream is one more of them. What waits for
/// nothing else: copies from and to host memory wait for their own stream.
class Device {
public:
  virtual ~Device() = default;

  virtual const DeviceProps &props() const = 0;

  /// Allocates `bytes`, aligned to 256; zero bytes give a valid, distinct pointer. Memory of the default stream may be
  /// used by any stream at once, that of another one after this call in its order. Throws OutOfMemory, naming sizes.
  virtual DevicePtr alloc(size_t bytes, Stream stream = {}, Loc where = {}) = 0;
  /// Frees in stream order what was allocated for a stream; waits for the whole device without a stream, and for memory of
  /// the default stream. Null is a no-op. A second free throws UseAfterFree, a foreign pointer InvalidArgument.
  virtual void free(DevicePtr pointer, Stream stream = {}, Loc where = {}) = 0;
  /// The live allocation that holds `pointer` (which may point inside), or nothing: what checked mode asks.
  virtual std::optional<Allocation> allocationOf(DevicePtr pointer) const = 0;

  /// Copies from host memory; `source` may be reused when the call returns.
  virtual void copyToDevice(DevicePtr target, const void *source, size_t bytes, Stream stream = {},
                            Loc where = {}) = 0;
  /// Copies to host memory after all earlier work of the stream; the data are there when the call returns.
  virtual void copyToHost(void *target, DevicePtr source, size_t bytes, Stream stream = {},
                          Loc where = {}) = 0;
  /// Copies without waiting: the host leaves its memory alone until the stream has done it.
  virtual void copyToDeviceAsync(DevicePtr target, const void *source, size_t bytes, Stream stream,
                                 Loc where = {}) = 0;
  virtual void copyToHostAsync(void *target, DevicePtr source, size_t bytes, Stream stream,
                               Loc where = {}) = 0;
  virtual void copyOnDevice(DevicePtr target, DevicePtr source, size_t bytes, Stream stream = {},
                            Loc where = {}) = 0;
  /// What the bytes hold is of no use from here on: a device that checks reports reading them before they are written.
  virtual void discard(DevicePtr, size_t, Stream = {}) {}
  /// The host has read these elements, at `where`; extents and strides are in elements. A device that follows what has been
  /// written may say that some never were.
  virtual void noteRead(DevicePtr, size_t /*elementBytes*/, std::span<const int64_t> /*extents*/,
                        std::span<const int64_t> /*strides*/, Loc /*where*/) {}
  /// Sets each byte to `value`.
  virtual void fill(DevicePtr target, uint8_t value, size_t bytes, Stream stream = {},
                    Loc where = {}) = 0;

  /// Loads PTX text; a `cubin` compiled from it is preferred where the device can use one. `name` is how messages refer
  /// to the text, e.g. a file name.
  virtual Module loadModule(std::string_view ptx, std::span<const std::byte> cubin = {},
                            std::string_view name = "module.ptx") = 0;
  /// Unloads the module; its functions become invalid handles.
  virtual void unloadModule(Module module) = 0;
  /// The kernel of that name. An unknown name throws InvalidArgument and lists the kernels there are.
  virtual Function getFunction(Module module, std::string_view name) = 0;
  virtual FunctionInfo functionInfo(Function function) const = 0;
  /// How many clusters of a launch run at once; nothing if the device cannot tell. The grid does not matter.
  virtual std::optional<int64_t> clustersAtOnce(Function, const LaunchConfig &) const {
    return std::nullopt;
  }
  /// Starts the kernel. Bad shapes and argument sizes throw before anything runs.
  virtual void launch(Function function, const LaunchConfig &config, std::span<const Arg> args,
                      Stream stream = {}) = 0;

  /// Encodes a tensor map for kernels of this device, sm_90 or newer. A broken rule throws InvalidArgument and names it, with
  /// values; an older device, or a layout the virtual GPU does not model, Unsupported. The memory need not be allocated yet.
  virtual TensorMap encodeTensorMap(const TensorMapParams &params) = 0;

  virtual Stream createStream(Loc where = {}) = 0;
  /// A handle of a stream that others made and end (a CUstream), which must be of this device. WrongDevice, InvalidHandle.
  virtual Stream adoptStream(void *native, Loc where = {}) = 0;
  /// What adoptStream takes: the CUstream; on the virtual GPU a name of the stream for this device.
  virtual void *nativeOf(Stream stream) const = 0;
  /// Ends the stream after its work; of an adopted one only the handle.
  virtual void destroyStream(Stream stream) = 0;
  /// Waits for the work of one stream.
  virtual void synchronize(Stream stream) = 0;
  /// Waits for all work of the device.
  virtual void synchronize() = 0;
  /// Waits for those who have nobody to tell of errors: a later call throws what the work did wrong.
  virtual void drain(Stream stream) noexcept = 0;
  virtual void drain() noexcept = 0;

  virtual Event createEvent() = 0;
  virtual void destroyEvent(Event event) = 0;
  /// The event is what the stream has been given so far; what it was before is forgotten.
  virtual void record(Event event, Stream stream = {}) = 0;
  /// Later work of `stream` starts after `event`, as it was recorded last; at once if it never was.
  virtual void wait(Stream stream, Event event) = 0;
  virtual void synchronize(Event event) = 0;
  /// Whether the work is done that the event was recorded after; true if it never was.
  virtual bool isDone(Event event) = 0;
  /// Waits for the event, but not beyond `deadline`; then false, and the work goes on. A device that does its work while it is
  /// waited for takes the time that takes.
  virtual bool waitUntil(Event event, std::chrono::steady_clock::time_point deadline);
  /// Milliseconds between two recorded events; waits for both.
  virtual float elapsedMs(Event start, Event stop) = 0;

  /// Calls `give`, waits for all work of the device, and returns what was counted of it; of a device that has a time nothing.
  virtual Work countWork(const std::function<void()> &give) {
    give();
    return {};
  }

  /// Work to be given as a whole; nothing runs. Unsupported if the driver is too old.
  virtual Graph createGraph(std::shared_ptr<const GraphWork> work) = 0;
  /// Exchanges a graph's work for one of the same topology (GraphWork.h) in later replays. InvalidArgument, and the graph is as it
  /// was, if the device cannot.
  virtual void updateGraph(Graph graph, std::shared_ptr<const GraphWork> work) = 0;
  /// Gives the work to the stream. It starts after the replay before it, on whatever stream that is.
  virtual void replay(Graph graph, Stream stream) = 0;
  /// Replays that were given still end.
  virtual void destroyGraph(Graph graph) = 0;
  /// Whether others capture the stream at present, so that neither waiting nor allocating nor loading is allowed to its user.
  virtual bool isCapturedByOthers(Stream) const { return false; }

  /// How many launches have failed so far and left the device usable, with memory half written. Most devices do not outlive one.
  virtual uint64_t faults() const { return 0; }
  /// What was launched last, with its line and arguments, for messages; empty if that is not known.
  virtual std::string lastLaunch() const { return {}; }
  /// Whether it was opened before this process was forked and does not outlive that: all calls throw ForkedContext.
  virtual bool isOfParent() const { return false; }
};

/// How a virtual GPU is made. The defaults are those of the environment: TILE_VGPU_CHECK, TILE_VGPU_THREADS,
/// TILE_VGPU_SCHEDULE, TILE_VGPU_SEED.
struct VirtualOptions {
  std::string target = "sm_80";
  /// Comma list of all, memory, init, race, sync, async, strict, proxy; or none. Unset: TILE_VGPU_CHECK, else all.
  std::optional<std::string> checks = {};
  /// Host threads; 0: TILE_VGPU_THREADS, else one a core.
  int threads = 0;
  /// eager, lazy or random: when asynchronous operations complete, and who runs when. Unset: TILE_VGPU_SCHEDULE, else
  /// eager.
  std::optional<std::string> schedule = {};
  /// Recorded with each finding, and the source of every random choice. Unset: TILE_VGPU_SEED, else 0.
  std::optional<uint64_t> seed = {};
};

/// A virtual GPU. Throws InvalidArgument for a target, check or schedule it does not know.
std::shared_ptr<Device> openVirtual(const VirtualOptions &options = {});

/// A CUDA device. Throws NoDevice, with the loader's or driver's words, where there is none.
std::shared_ptr<Device> openCuda(int ordinal = 0);

/// The CUcontext that is current to the calling thread, or null. Throws NoDevice where there is no driver.
void *currentCudaContext();
/// The ordinal of the device whose primary context this is, or nothing: then it is one that somebody made.
std::optional<int> ordinalOfPrimaryContext(void *context);
/// The device of a CUcontext that others made and end, which is used and left alone.
std::shared_ptr<Device> openCudaContext(void *context);

} // namespace tile::device
