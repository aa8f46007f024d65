// Devices and streams: where kernels run. A device is an NVIDIA GPU or the virtual GPU, which runs
// the same PTX on the CPU and checks every access.
//
//   Device dev = Device::best();
//   Stream stream = dev.stream();
//   auto a = dev.tensor<float>({1000}, values), b = dev.tensor<float>({1000});
//   scale.consts(256)(stream, a, b, 0.5f);
//   stream.synchronize();
//
// Work of one stream runs in the order in which it was submitted; work of two streams runs at any
// time, and concurrently. If one stream reads or writes what another writes, it has to wait, or
// results are right only sometimes:
//
//   Stream copies = dev.stream();
//   next.uploadAsync(copies, values);       // while `stream` computes
//   stream.wait(copies);                    // later work of `stream` comes after the upload
//   scale.consts(256)(stream, next, b, 0.5f);
//
//   Event half = dev.event();               // a point in a stream's work
//   half.record(stream);
//   copies.wait(half);                      // may be waited for by streams and by the host
//
// The host orders as well: what it submits to any stream after it has waited for work comes after
// that work. It waits in synchronize(), in downloads and in uploads that are not asynchronous. The
// virtual GPU reports work that touches the same bytes without such an order, as a `race` that
// names both calls and both streams; with TILE_VGPU_SCHEDULE=lazy it runs the work of a stream only
// when somebody waits for it.
//
// A process that is forked after a CUDA device was opened cannot use the device: each call throws
// ForkedContext without a driver call. Fork before, or start the other process by exec. The virtual
// GPU works in both processes, which have separate memory from there on.
//
// After a kernel's fault that the driver does not survive, the first call that learns of it throws
// ContextLost with the kernel launched last, its line and arguments; all later calls throw it at
// once. Destructors are quiet then, and another process gets a new device.
//
// Handles are values: copies name the same device or stream. All functions throw tile::Error. The
// tensors they make are in Tensor.h.
#pragma once

#include <tile/Error.h>
#include <tile/Types.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tile {

class Device;
class Event;
class Tensor;
template <class T> class TensorOf;

namespace device {
class Device;
} // namespace device
namespace detail {
struct DeviceState;
struct StreamState;
struct EventState;
} // namespace detail

/// What the tensors made by Stream::tensor hold of the device's memory.
struct StreamUsage {
  size_t usedBytes = 0;     ///< by live tensors
  size_t keptBytes = 0;     ///< unused, kept for later tensors
  uint64_t allocations = 0; ///< how often the device was asked for memory so far
};

/// A queue of work of one device, which runs in the order of submission. Device::stream() makes it;
/// it ends, after its work, with the last copy of the handle. A moved-from, default constructed or
/// closed stream may only be assigned to: all else throws InvalidHandle.
class Stream {
public:
  Stream() = default;

  /// Waits until all work submitted to the stream so far has finished. Throws that work's errors.
  void synchronize() const;
  /// The same, for at most `mostSeconds`. Error: Timeout, naming the kernel launched last; the work
  /// continues and nothing is reset, so that the caller may wait again, give up or end the process.
  /// The virtual GPU does the work itself, for as long as that takes.
  void synchronize(double mostSeconds) const;
  /// Later work of this stream starts after all work that `other` has been given so far; the host
  /// does not wait. Error: WrongDevice.
  void wait(const Stream &other) const;
  /// The same for the work that a stream had been given when `event` was last recorded; no effect
  /// if it never was.
  void wait(const Event &event) const;
  /// From here on kernels of the stream may start while the previous one ends, which hides the cost
  /// of a launch. They wait for it before they touch memory, so results stay the same. They are
  /// compiled again for it, at the first launch. A device before sm_90 launches as before. Off for
  /// a new stream; all copies of the handle share it.
  void overlapLaunches(bool overlap = true) const;
  /// Waits, then ends the stream for all copies of the handle. An adopted one is only released.
  void close() const;
  /// The device the stream belongs to.
  Device device() const;
  /// The CUstream, for libraries of others; on the virtual GPU something that only
  /// Device::externalStream knows.
  void *native() const;

  /// A row-major tensor whose elements are not set, for work of this stream; another stream that
  /// uses it waits for this one first. Later tensors of the stream reuse its memory as soon as the
  /// last copy of the tensor is gone, without waiting: if another stream uses it too, let this one
  /// wait for that before. A loop that makes the same tensors in each iteration asks the device for
  /// memory in the first iteration only. Errors: those of Device::tensor; InvalidHandle.
  Tensor tensor(DType dtype, std::span<const int64_t> shape, Loc where = Loc::here()) const;
  template <class T> TensorOf<T> tensor(std::vector<int64_t> shape, Loc where = Loc::here()) const;
  /// What such tensors hold of the device's memory.
  StreamUsage usage() const;
  /// Waits for the stream, and frees the memory that it keeps for later tensors.
  void trim() const;

  /// For the runtime: the live state, or InvalidHandle.
  detail::StreamState &state() const;
  const std::shared_ptr<detail::StreamState> &shared() const { return state_; }

private:
  friend class Device;
  explicit Stream(std::shared_ptr<detail::StreamState> state) : state_(std::move(state)) {}
  std::shared_ptr<detail::StreamState> state_;
};

/// A point in the work of a stream: wait for it on the host or in other streams, or measure the
/// time between two. Device::event() makes it. A default constructed one may only be assigned to:
/// all else throws InvalidHandle.
class Event {
public:
  Event() = default;

  /// From here on the event is the end of the work that the stream has been given so far. Error:
  /// WrongDevice.
  void record(const Stream &stream) const;
  /// The host waits until the event has been reached; not at all if it was never recorded. Throws
  /// the errors of the work before it.
  void synchronize() const;
  /// The same, for at most `mostSeconds`, as for a stream. Error: Timeout.
  void synchronize(double mostSeconds) const;
  /// Whether it has been reached, without waiting; true if it was never recorded.
  bool query() const;
  /// Milliseconds from this event to `end`, for both of which the host waits. Error: InvalidHandle
  /// if one was never recorded.
  float elapsedMs(const Event &end) const;
  Device device() const;

  /// For the runtime: the state, or InvalidHandle.
  const detail::EventState &state() const;

private:
  friend class Device;
  explicit Event(std::shared_ptr<detail::EventState> state) : state_(std::move(state)) {}
  std::shared_ptr<detail::EventState> state_;
};

/// A device that runs kernels. Opening one twice gives the same device.
class Device {
public:
  /// The device that TILE_DEVICE names; by default an NVIDIA GPU if there is one, otherwise the
  /// virtual GPU.
  static Device best();
  /// "cuda", "cuda:1", "virtual" (sm_80), "virtual:sm_90a" or "auto". Errors: InvalidArgument for
  /// other names, NoDevice with the driver's message if the GPU is missing.
  static Device open(std::string_view name);
  /// Every device present: the virtual GPU first, then NVIDIA GPUs. Tests loop over it.
  static std::vector<Device> all();
  /// The device of an existing CUcontext, such as a library's; null is the one current to this
  /// thread. A device's primary context is open("cuda:N"). The context belongs to its creator, who
  /// keeps it until the last handle of the device, its streams and tensors is gone. Errors:
  /// NoDevice; InvalidHandle if none is current.
  static Device ofContext(void *context = nullptr);
  /// A device opened through the private device seam, with options of its own.
  static Device wrap(std::shared_ptr<device::Device> device, std::string name);

  /// What open() would take: "cuda:0", "virtual:sm_80".
  const std::string &name() const;
  /// The product: "NVIDIA H200", "virtual GPU ...".
  const std::string &product() const;
  bool isVirtual() const;
  /// The PTX target that kernels are compiled for: "sm_80", "sm_90a".
  const std::string &target() const;
  /// The number of multiprocessors (SMs): 132 on an H200. The virtual GPU has as many as a GPU of
  /// its target.
  int multiprocessors() const;
  /// A number that no other device of this process has; 0 is none.
  uint64_t handle() const;

  /// A new stream. Reports of the virtual GPU name it by its number on the device and by this line.
  Stream stream(Loc where = Loc::here()) const;
  /// Adopts an existing CUstream of this device, to be used as any stream. It belongs to its
  /// creator, who keeps it until the last handle is gone; that handle does not wait for it. Two
  /// handles of one CUstream are one stream. Errors: WrongDevice; InvalidHandle on the virtual GPU,
  /// which takes what Stream::native() returned.
  Stream externalStream(void *native, Loc where = Loc::here()) const;
  /// A new event.
  Event event() const;
  /// Waits for all work of the device.
  void synchronize() const;

  /// A row-major tensor whose elements are not set. Errors: InvalidShape for negative extents,
  /// more than kMaxRank of them, or a size beyond 64 bits; OutOfMemory.
  template <class T> TensorOf<T> tensor(std::vector<int64_t> shape, Loc where = Loc::here()) const;
  /// A row-major tensor with these elements. Error: InvalidArgument if their number differs.
  template <class T>
  TensorOf<T> tensor(std::vector<int64_t> shape, std::span<const T> data,
                     Loc where = Loc::here()) const;

  /// For the runtime.
  const std::shared_ptr<detail::DeviceState> &state() const { return state_; }
  explicit Device(std::shared_ptr<detail::DeviceState> state) : state_(std::move(state)) {}

private:
  std::shared_ptr<detail::DeviceState> state_;
};

/// Where a kernel is going to be called, for `prepare`: on streams of a device, or on a stream with
/// its options (Stream::overlapLaunches). Both convert to it implicitly.
struct CallPlace {
  CallPlace(const Device &device) : device(device) {}
  CallPlace(const Stream &stream);

  Device device;
  bool overlapsLaunches = false;
};

} // namespace tile
