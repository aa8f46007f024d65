// What stands behind the public handles: a device with its loaded kernels, a stream, the memory of
// tensors.
#pragma once

#include "base/ForkLocks.h"
#include "runtime/device/Device.h"
#include "runtime/host/Counters.h"
#include "runtime/host/HeldMemory.h"

#include <tile/Kernel.h>
#include <tile/Tensor.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>

namespace tile::jit {
class Jit;
} // namespace tile::jit

namespace tile::detail {

class Capture;

/// Calls `act` in a destructor: it must not throw, and there is no caller that could be told of an error.
template <class Act> void quietly(Act act) {
  try {
    act();
  } catch (const Error &) {
  }
}

struct DeviceState {
  DeviceState(std::shared_ptr<device::Device> device, std::string name);
  ~DeviceState();

  std::shared_ptr<device::Device> device;
  std::string name;
  uint64_t id; ///< never reused in this process
  HeldMemory held;

  /// Where 16 bytes on the device are 0.
  device::DevicePtr zeros();

  /// The device's compiled kernels, once somebody asks for some: jit::jitOf. A program that launches what was compiled
  /// ahead of time has none, and no compiler.
  std::once_flag jitMade;
  std::shared_ptr<jit::Jit> jit;

  /// Streams of others that have handles: one state a stream, whose memory all handles share.
  base::ForkMutex externalMutex;
  std::map<void *, std::weak_ptr<StreamState>> externalStreams;

  /// All streams there are, for who looks for memory (Room.h).
  base::ForkMutex streamsMutex;
  std::set<StreamState *> streams;

private:
  std::once_flag zerosMade_;
  device::DevicePtr zeros_ = 0; ///< null until asked for
};

/// Throws ForkedContext, before anything is locked, if the device does not outlive a fork that came after it was opened.
void refuseOfParent(const DeviceState &device);

/// Who takes launches of kernels before anything is made of them: RecordedKernel.h.
using LaunchTaker =
    std::function<void(const KernelRecord &, std::span<const HostArg>,
                       std::span<const int64_t> constants, const CompileSettings &)>;

struct StreamState {
  StreamState(std::shared_ptr<DeviceState> owner, Loc where);
  /// Adopts a stream that others made.
  StreamState(std::shared_ptr<DeviceState> owner, void *native, Loc where);
  /// Waits for the stream's work, but of a stream of others; what it did wrong a later call tells.
  ~StreamState();
  StreamState(const StreamState &) = delete;
  StreamState &operator=(const StreamState &) = delete;

  std::shared_ptr<DeviceState> owner;
  device::Stream handle;
  const bool isExternal = false;
  std::atomic<bool> isClosed = false;
  std::atomic<bool> overlapsLaunches = false; ///< of kernels that wait themselves
  std::atomic<Capture *> capture = nullptr;   ///< that its work goes to; ask captureOf
  const LaunchTaker *taker = nullptr;         ///< that kernels go to in place of the device
  StreamMemory memory;
  Counters counters; ///< of its launches
};

struct EventState {
  explicit EventState(std::shared_ptr<DeviceState> owner)
      : owner(std::move(owner)), handle(this->owner->device->createEvent()) {}
  ~EventState();
  EventState(const EventState &) = delete;
  EventState &operator=(const EventState &) = delete;

  std::shared_ptr<DeviceState> owner;
  device::Event handle;
  /// The number of the capture that it was recorded in last; 0: in none.
  mutable std::atomic<uint64_t> capture = 0;
};

struct Storage : Memory {
  Storage(std::shared_ptr<DeviceState> device, size_t bytes);
  /// Memory of a stream, or of the graph that is captured of it.
  Storage(const std::shared_ptr<StreamState> &stream, size_t bytes);
  /// Memory of others, who get it back by the end of `foreign`.
  Storage(std::shared_ptr<DeviceState> owner, device::DevicePtr base, size_t bytes,
          std::shared_ptr<void> foreign);
  /// Gives it back, unless a graph still needs it.
  ~Storage();
  Storage(const Storage &) = delete;
  Storage &operator=(const Storage &) = delete;

  size_t bytes; ///< that tensors may use
  std::atomic<uint64_t> version = 0;
};

} // namespace tile::detail
