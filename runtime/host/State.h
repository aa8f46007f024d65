// What stands behind the public handles: a device with its loaded kernels, a stream, the memory of
// tensors.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/host/StreamMemory.h"

#include <tile/Tensor.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace tile::jit {
class Jit;
} // namespace tile::jit

namespace tile::detail {

struct DeviceState {
  DeviceState(std::shared_ptr<device::Device> device, std::string name);
  ~DeviceState();

  std::shared_ptr<device::Device> device;
  std::string name;
  uint64_t id; ///< never reused in this process
  std::unique_ptr<jit::Jit> jit;

  /// Streams of others that have handles: one state a stream, whose memory all handles share.
  std::mutex externalMutex;
  std::map<void *, std::weak_ptr<StreamState>> externalStreams;
};

struct StreamState {
  StreamState(std::shared_ptr<DeviceState> owner, Loc where)
      : owner(std::move(owner)), handle(this->owner->device->createStream(where)) {}
  /// Adopts a stream that others made.
  StreamState(std::shared_ptr<DeviceState> owner, void *native, Loc where)
      : owner(std::move(owner)), handle(this->owner->device->adoptStream(native, where)),
        isExternal(true) {}
  /// Waits for the stream's work, but of a stream of others; what it did wrong a later call tells.
  ~StreamState();
  StreamState(const StreamState &) = delete;
  StreamState &operator=(const StreamState &) = delete;

  std::shared_ptr<DeviceState> owner;
  device::Stream handle;
  const bool isExternal = false;
  std::atomic<bool> isClosed = false;
  StreamMemory memory;
};

struct EventState {
  explicit EventState(std::shared_ptr<DeviceState> owner)
      : owner(std::move(owner)), handle(this->owner->device->createEvent()) {}
  ~EventState();
  EventState(const EventState &) = delete;
  EventState &operator=(const EventState &) = delete;

  std::shared_ptr<DeviceState> owner;
  device::Event handle;
};

struct Storage {
  Storage(std::shared_ptr<DeviceState> owner, size_t bytes)
      : owner(std::move(owner)), base(this->owner->device->alloc(bytes)), bytes(bytes) {}
  /// Memory of a stream, which gets it back.
  Storage(const std::shared_ptr<StreamState> &stream, size_t bytes)
      : owner(stream->owner), stream(stream), bytes(bytes) {
    StreamMemory::Block block = stream->memory.take(*owner->device, stream->handle, bytes);
    base = block.base, blockBytes = block.bytes;
  }
  /// Memory of others, who get it back by the end of `foreign`.
  Storage(std::shared_ptr<DeviceState> owner, device::DevicePtr base, size_t bytes,
          std::shared_ptr<void> foreign)
      : owner(std::move(owner)), foreign(std::move(foreign)), base(base), bytes(bytes) {}
  /// Memory of the device is freed after all its work: any stream may still use it.
  ~Storage();
  Storage(const Storage &) = delete;
  Storage &operator=(const Storage &) = delete;

  std::shared_ptr<DeviceState> owner;
  std::shared_ptr<StreamState> stream; ///< null for memory of the device itself
  std::shared_ptr<void> foreign;       ///< null for memory of ours
  device::DevicePtr base = 0;
  size_t bytes;          ///< that tensors may use
  size_t blockBytes = 0; ///< of memory of a stream
  std::atomic<uint64_t> version = 0;
};

} // namespace tile::detail
