// The memory of a CUDA device: what has been allocated, and what has been freed lately.
#pragma once

#include "runtime/device/CudaContext.h"
#include "runtime/device/Device.h"

#include <map>
#include <mutex>
#include <optional>

namespace tile::device {

/// Whoever calls it has made the context current, but for questions about what is allocated.
class CudaMemory {
public:
  explicit CudaMemory(const CudaContext &context);

  /// In the order of a stream, or for every stream at once (`on` is the default stream then).
  DevicePtr alloc(size_t bytes, bool isOrdered, cuda::CUstream on);
  void free(DevicePtr pointer, bool isOrdered, cuda::CUstream on);
  /// Gives everything back, when the device ends.
  void freeAll();

  std::optional<Allocation> allocationOf(DevicePtr pointer) const;
  /// Refuses bytes that are not inside an allocation; `what` is the operation that asks.
  void checkRange(const char *what, DevicePtr pointer, size_t bytes) const;

private:
  struct Block {
    size_t bytes;
    // Freed blocks stay until their address is given out again, to recognise a use after free.
    bool live;
    bool pooled; // allocated in stream order
  };

  const CudaContext &context_;
  bool usesPool_ = false;
  mutable std::mutex mutex_;
  std::map<DevicePtr, Block> blocks_;
};

} // namespace tile::device
