// What stands behind the public handles: a device with its loaded kernels, a stream, the memory of
// tensors.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/jit/StreamMemory.h"

#include <tile/Device.h>

#include <atomic>
#include <memory>
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
};

struct StreamState {
  explicit StreamState(std::shared_ptr<DeviceState> owner)
      : owner(std::move(owner)), handle(this->owner->device->createStream()) {}
  /// Waits for the stream's work; what that throws has no one left to hear it.
  ~StreamState();
  StreamState(const StreamState &) = delete;
  StreamState &operator=(const StreamState &) = delete;

  std::shared_ptr<DeviceState> owner;
  device::Stream handle;
  std::atomic<bool> isClosed = false;
  StreamMemory memory;
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
  /// Memory of the device is freed after all its work: any stream may still use it.
  ~Storage();
  Storage(const Storage &) = delete;
  Storage &operator=(const Storage &) = delete;

  std::shared_ptr<DeviceState> owner;
  std::shared_ptr<StreamState> stream; ///< null for memory of the device itself
  device::DevicePtr base = 0;
  size_t bytes;          ///< that tensors may use
  size_t blockBytes = 0; ///< of memory of a stream
  std::atomic<uint64_t> version = 0;
};

} // namespace tile::detail
