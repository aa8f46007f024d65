// Tensor maps: recorded, and encoded as their number among all.
#include "tests/runtime/device/fakecuda/FakeDriver.h"

#include <cstring>

namespace fakecuda {

FAKE_API cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, CUdeviceptr address,
                                const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
                                const uint32_t *elementStrides, int interleave, int swizzle,
                                int l2Promotion, int fill) {
  constexpr uintptr_t kMapAlignment = 64;
  constexpr size_t kMapBytes = 128;
  FAKE_ENTER("cuTensorMapEncodeTiled", Needs::Context);
  if (reinterpret_cast<uintptr_t>(map) % kMapAlignment || rank < 1 || rank > 5 || address % 16)
    return kInvalidValue;
  auto &maps = state().tensorMaps;
  maps.push_back({type,
                  address,
                  {dims, dims + rank},
                  {strides, strides + rank - 1},
                  {box, box + rank},
                  {elementStrides, elementStrides + rank},
                  interleave,
                  swizzle,
                  l2Promotion,
                  fill});
  std::memset(map, static_cast<int>(maps.size()), kMapBytes);
  return kSuccess;
}

} // namespace fakecuda
