#include "runtime/device/CudaMemory.h"

#include <algorithm>

namespace tile::device {

using namespace cuda;

CudaMemory::CudaMemory(const CudaContext &context) : context_(context) {
  const Driver &driver = context.driver();
  int hasPools = 0;
  context.check(driver.deviceGetAttribute(&hasPools, kMemoryPoolsSupported, context.device()),
                "asking for device attribute " + std::to_string(kMemoryPoolsSupported));
  usesPool_ = driver.memAllocAsync && driver.memFreeAsync && hasPools;
}

DevicePtr CudaMemory::alloc(size_t bytes, bool isOrdered, CUstream on) {
  const Driver &driver = context_.driver();
  CUdeviceptr pointer = 0;
  // The driver refuses zero bytes; a distinct pointer is promised.
  size_t size = std::max<size_t>(bytes, 1);
  // On the default stream memory must be usable by every stream at once, which stream-ordered memory is not.
  bool pooled = usesPool_ && isOrdered;
  CUresult result =
      pooled ? driver.memAllocAsync(&pointer, size, on) : driver.memAlloc(&pointer, size);
  if (result == kOutOfMemory) {
    size_t free = 0, total = 0;
    driver.memGetInfo(&free, &total);
    throw Error(Fault::User, ErrorCode::OutOfMemory,
                "out of memory: " + std::to_string(bytes) + " bytes asked for, " +
                    std::to_string(free) + " of " + std::to_string(total) + " are free");
  }
  context_.check(result, "allocating " + std::to_string(bytes) + " bytes");
  std::lock_guard lock(mutex_);
  blocks_.erase(blocks_.lower_bound(pointer), blocks_.lower_bound(pointer + size));
  blocks_[pointer] = {bytes, true, pooled};
  return pointer;
}

void CudaMemory::free(DevicePtr pointer, bool isOrdered, CUstream on) {
  const Driver &driver = context_.driver();
  bool pooled = false;
  {
    std::lock_guard lock(mutex_);
    auto found = blocks_.find(pointer);
    if (found == blocks_.end())
      refuse(ErrorCode::InvalidArgument, "free: the pointer was not returned by alloc");
    if (!found->second.live)
      refuse(ErrorCode::UseAfterFree, "free: the pointer has been freed already");
    found->second.live = false;
    pooled = found->second.pooled && isOrdered;
  }
  if (pooled)
    return context_.check(driver.memFreeAsync(pointer, on), "freeing memory");
  // cuMemFree may, but need not, wait for whatever still uses the memory; for pooled memory it never does.
  context_.synchronize("waiting for the device to free memory");
  context_.check(driver.memFree(pointer), "freeing memory");
}

std::optional<Allocation> CudaMemory::allocationOf(DevicePtr pointer) const {
  std::lock_guard lock(mutex_);
  auto after = blocks_.upper_bound(pointer);
  if (after == blocks_.begin())
    return std::nullopt;
  auto [base, block] = *std::prev(after);
  if (!block.live || pointer - base >= std::max<size_t>(block.bytes, 1))
    return std::nullopt;
  return Allocation{base, block.bytes};
}

void CudaMemory::freeAll() {
  for (const auto &[pointer, block] : blocks_)
    if (block.live)
      context_.driver().memFree(pointer);
}

void CudaMemory::checkRange(const char *what, DevicePtr pointer, size_t bytes) const {
  if (bytes == 0)
    return;
  auto block = allocationOf(pointer);
  if (block && bytes <= block->base + block->bytes - pointer)
    return;
  std::lock_guard lock(mutex_);
  auto after = blocks_.upper_bound(pointer);
  bool freed = after != blocks_.begin() && !std::prev(after)->second.live &&
               pointer - std::prev(after)->first < std::prev(after)->second.bytes;
  refuse(freed ? ErrorCode::UseAfterFree : ErrorCode::InvalidArgument,
         std::string(what) + ": " + std::to_string(bytes) + " bytes at address " +
             std::to_string(pointer) +
             (freed ? " lie in freed memory" : " are not inside an allocation of this device"));
}

} // namespace tile::device
