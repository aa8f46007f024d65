// Finding out that it is the simple case; and fetching ahead.
#include "runtime/vgpu/isa/async/QuickCopy.h"

#include "runtime/vgpu/isa/memory/SharedLanes.h"
#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/access/Access.h"

namespace tile::vgpu {
namespace {

// The bytes that the lanes take from their sources; the others are zeros.
enum class Taken { All, None, Some };

Taken takenBytes(Warp &warp, const Op &op, const CopyForm &form) {
  if (form.third == CopyForm::Third::None)
    return Taken::All;
  uint32_t any = 0, missing = 0; // bits
  if (form.third == CopyForm::Third::IgnoresSource) {
    missing = warp.predicate(op.rows[2]);
    any = ~missing;
  }
  if (form.third == CopyForm::Third::SourceSize)
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      uint32_t size = warp.row<uint32_t>(op.rows[2])[lane];
      any |= size;
      missing |= size ^ form.bytes;
    }
  return !missing ? Taken::All : !any ? Taken::None : Taken::Some;
}

// The host addresses that the lanes read, all in one allocation.
struct Sources {
  uintptr_t base = 0; // of what registers hold
  const uint64_t *registers = nullptr;

  const uint8_t *operator[](unsigned lane) const {
    return reinterpret_cast<const uint8_t *>(base + registers[lane]);
  }
};

// Finds the sources only in an allocation that was seen lately: a look-up would take as long as the copy.
std::optional<Sources> findSources(Warp &warp, const Op &op, uint32_t bytes) {
  const uint64_t *registers = warp.row<uint64_t>(op.rows[1]);
  auto offset = static_cast<uint64_t>(op.imm >> 32);
  const RecentBlocks::Range *block = warp.cta->recent.of(registers[0] + offset);
  if (!block || block->end - block->base < bytes)
    return std::nullopt;
  uint64_t last = block->end - block->base - bytes;
  if (block->base & (bytes - 1) ||
      !arePlacesInside(registers, kLanes, offset - block->base, last, bytes))
    return std::nullopt;
  return Sources{warp.cta->launch->memory().origin() + offset, registers};
}

// Without sources: zeros.
template <uint32_t Bytes> void fillLanes(const OwnShared &targets, const Sources *sources) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (sources)
      std::memcpy(targets[lane], (*sources)[lane], Bytes);
    else
      std::memset(targets[lane], 0, Bytes);
}

void fillLanes(uint32_t bytes, const OwnShared &targets, const Sources *sources) {
  if (bytes == 16)
    fillLanes<16>(targets, sources);
  else if (bytes == 8)
    fillLanes<8>(targets, sources);
  else
    fillLanes<4>(targets, sources);
}

} // namespace

bool copyUnchecked(Warp &warp, const Op &op) {
  auto form = formOf<CopyForm>(op);
  uint32_t bytes = form.bytes;
  Cluster &cluster = *warp.cta->cluster;
  if (cluster.launch->setup().schedule != Schedule::Eager || !form.wideSource || form.wideTarget)
    return false;
  auto targets = findOwnShared(warp, op.rows[0], static_cast<int32_t>(op.imm), bytes, kLanes);
  Taken taken = targets ? takenBytes(warp, op, form) : Taken::Some;
  if (taken == Taken::Some)
    return false;
  std::optional<Sources> sources;
  if (taken == Taken::All) {
    sources = findSources(warp, op, bytes);
    if (!sources)
      return false;
    if (auto step = warp.copies.stepTo(op, sources->registers[0]))
      prefetchLanes(warp, bytes, [base = sources->base + *step, &sources](unsigned lane) {
        return base + sources->registers[lane];
      });
  }
  fillLanes(bytes, *targets, sources ? &*sources : nullptr);
  ++*cluster.events, ++*cluster.effects;
  return true;
}

} // namespace tile::vgpu
