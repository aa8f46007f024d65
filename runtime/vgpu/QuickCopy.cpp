// Finding out that it is the simple case; and fetching ahead.
#include "runtime/vgpu/QuickCopy.h"

#include "runtime/vgpu/Access.h"
#include "runtime/vgpu/Lanes.h"
#include "runtime/vgpu/SharedLanes.h"

namespace tile::vgpu {
namespace {

// Whether each lane copies as many bytes as there are.
bool areAllWhole(Warp &warp, const Op &op, uint32_t bytes) {
  if (op.b == 2)
    return warp.predicate(op.rows[2]) == 0;
  uint32_t differs = 0;
  for (unsigned lane = 0; op.b && lane < kLanes; ++lane)
    differs |= warp.row<uint32_t>(op.rows[2])[lane] ^ bytes;
  return differs == 0;
}

// Where the lanes read, if all of it lies in an allocation seen lately.
bool findSources(Warp &warp, const Op &op, uint32_t bytes, const uint8_t *(&sources)[kLanes]) {
  uint64_t address[kLanes];
  readAddresses(warp, op.rows[1], op.a & kWideSource, op.imm >> 32, address);
  const RecentBlocks::Range *block = warp.cta->recent.of(address[0]);
  if (!block || block->end - block->base < bytes)
    return false;
  const uint8_t *memory = warp.cta->launch->memory().host(kGlobalBase);
  uint64_t last = block->end - bytes, outside = 0, low = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    outside |= (address[lane] - block->base) | (last - address[lane]); // one of them is negative
    low |= address[lane];
    sources[lane] = reinterpret_cast<const uint8_t *>(reinterpret_cast<uint64_t>(memory) -
                                                      kGlobalBase + address[lane]);
  }
  return static_cast<int64_t>(outside) >= 0 && (low & (bytes - 1)) == 0; // 4, 8 or 16
}

template <uint32_t Bytes>
void copyLanes(uint8_t *shared, const uint32_t (&places)[kLanes],
               const uint8_t *const (&sources)[kLanes]) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    std::memcpy(shared + places[lane], sources[lane], Bytes);
}

} // namespace

void prefetchSources(Warp &warp, uint32_t bytes, const uint8_t *const (&sources)[kLanes],
                     uint64_t distance) {
  constexpr uint32_t kLineBytes = 64;
  const GlobalMemory &memory = warp.cta->launch->memory();
  uint64_t line = 0, begin = reinterpret_cast<uint64_t>(memory.host(kGlobalBase));
  // Neighbours mostly read what adjoins.
  for (unsigned lane = 0; lane < kLanes; lane += kLineBytes / bytes) {
    uint64_t place = reinterpret_cast<uint64_t>(sources[lane]) + distance;
    if (place / kLineBytes == line)
      continue;
    line = place / kLineBytes;
    __builtin_prefetch(reinterpret_cast<const void *>(place));
    if (warp.shadow)
      memory.valid().prefetch(place - begin);
  }
}

bool copyUnchecked(Warp &warp, const Op &op) {
  uint32_t bytes = op.a & 0xff, places[kLanes];
  const uint8_t *sources[kLanes];
  Cluster &cluster = *warp.cta->cluster;
  if (cluster.launch->setup().schedule != Schedule::Eager || op.a & kWideTarget ||
      !findOwnShared(warp, op.rows[0], static_cast<int32_t>(op.imm), bytes, kLanes, places) ||
      !areAllWhole(warp, op, bytes) || !findSources(warp, op, bytes, sources))
    return false;
  if (auto step = warp.copies.stepTo(op, reinterpret_cast<uint64_t>(sources[0])))
    prefetchSources(warp, bytes, sources, *step);
  uint8_t *shared = warp.cta->shared.data();
  if (bytes == 16)
    copyLanes<16>(shared, places, sources);
  else if (bytes == 8)
    copyLanes<8>(shared, places, sources);
  else
    copyLanes<4>(shared, places, sources);
  ++*cluster.events;
  return true;
}

} // namespace tile::vgpu
