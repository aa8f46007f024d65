// Device memory: host memory behind addresses of its own.
#include "tests/runtime/device/fakecuda/FakeDriver.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fakecuda {
namespace {

constexpr size_t kAlignment = 256;

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
  // Of captured work the order is that of the replay.
  if (block.isStreamOrdered && !captureOf(stream) && !block.orderedAfter.count(stream))
    state().hazards.push_back(std::string(user) + " uses memory in a stream that is not ordered "
                                                  "after the stream of its allocation");
  return block.bytes.data() + (pointer - base);
}

// Mapping large memory takes longer than all else that is done with it, so that of the last one freed is kept.
constexpr size_t kLarge = size_t{16} << 20;

std::vector<unsigned char> takeBytes(size_t bytes) {
  constexpr unsigned char kUnwritten = 0xcd;
  if (state().spare.size() != bytes)
    return std::vector<unsigned char>(bytes, kUnwritten);
  std::memset(state().spare.data(), kUnwritten, bytes);
  return std::exchange(state().spare, {});
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
  driver.memory[address] = {takeBytes(bytes), isStreamOrdered, {stream}};
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
  if (bytes >= kLarge)
    state().spare = std::move(found->second.bytes);
  state().memory.erase(found);
  return kSuccess;
}

} // namespace

CUdeviceptr memoryAt(CUdeviceptr pointer) {
  auto after = state().memory.upper_bound(pointer);
  if (after == state().memory.begin())
    return 0;
  const auto &[base, block] = *std::prev(after);
  return pointer - base < block.bytes.size() ? base : 0;
}

FAKE_API cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
  FAKE_ENTER("cuMemAlloc_v2", Needs::Context);
  if (CUresult result = refuseUnsafe(); result != kSuccess)
    return result;
  return allocate(pointer, bytes, false, nullptr);
}
FAKE_API cuMemFree_v2(CUdeviceptr pointer) {
  FAKE_ENTER("cuMemFree_v2", Needs::Context);
  if (CUresult result = refuseUnsafe(); result != kSuccess)
    return result;
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
  // Legal, but the memory would be the graph's, and its address good within replays only.
  if (captureOf(stream))
    state().hazards.push_back("memory of a captured stream is allocated or freed");
  submit(stream);
  return allocate(pointer, bytes, true, stream);
}
FAKE_API cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
  FAKE_ENTER("cuMemFreeAsync", Needs::Context);
  if (!isStream(stream))
    return kInvalidHandle;
  // Legal, but the memory would be the graph's, and its address good within replays only.
  if (captureOf(stream))
    state().hazards.push_back("memory of a captured stream is allocated or freed");
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
  return perform(
      stream,
      {FakeNode::Copy, [=](CUstream) { std::memcpy(to, source, bytes); }, {memoryAt(target)}});
}
FAKE_API cuMemcpyDtoHAsync_v2(void *target, CUdeviceptr source, size_t bytes, CUstream stream) {
  FAKE_ENTER("cuMemcpyDtoHAsync_v2", Needs::Context);
  if (!isStream(stream))
    return kInvalidHandle;
  const unsigned char *from = reach(source, bytes, stream, "a copy to the host");
  if (!from || !target)
    return kInvalidValue;
  return perform(
      stream,
      {FakeNode::Copy, [=](CUstream) { std::memcpy(target, from, bytes); }, {memoryAt(source)}});
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
  return perform(stream, {FakeNode::Copy,
                          [=](CUstream) { std::memmove(to, from, bytes); },
                          {memoryAt(target), memoryAt(source)}});
}
FAKE_API cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t bytes, CUstream stream) {
  FAKE_ENTER("cuMemsetD8Async", Needs::Context);
  if (!isStream(stream))
    return kInvalidHandle;
  unsigned char *to = reach(target, bytes, stream, "a fill");
  if (!to)
    return kInvalidValue;
  return perform(
      stream,
      {FakeNode::Fill, [=](CUstream) { std::memset(to, value, bytes); }, {memoryAt(target)}});
}

} // namespace fakecuda
