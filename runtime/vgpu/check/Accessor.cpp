// Predicates on kinds of accesses, and the tests of records against clocks that others than the
// rules need.
#include "runtime/vgpu/check/Accessor.h"

#include "runtime/vgpu/check/Ordering.h"

namespace tile::vgpu {

bool isWrite(AccessKind kind) {
  return kind != AccessKind::Read && kind != AccessKind::StrongRead &&
         kind != AccessKind::NarrowRead && kind != AccessKind::ProxyRead;
}

bool isStrong(AccessKind kind) {
  return (kind >= AccessKind::Atomic && kind <= AccessKind::NarrowWrite) ||
         kind == AccessKind::ProxyReduction;
}

bool isNarrow(AccessKind kind) {
  return kind >= AccessKind::NarrowAtomic && kind <= AccessKind::NarrowWrite;
}

bool isStrongOnDevice(AccessKind kind) { return isStrong(kind) && !isNarrow(kind); }

bool isProxied(AccessKind kind) {
  return kind == AccessKind::ProxyRead || kind == AccessKind::ProxyWrite ||
         kind == AccessKind::ProxyReduction;
}

bool happenedBefore(AccessRecord earlier, const Accessor &accessor) {
  return isOrdered(earlier, accessor.cluster(), accessor);
}

bool coversAll(ManyReads many, const WarpClock &clock) {
  const VectorClock &known = clock.current.own.ordered;
  for (uint64_t left = many.mask; left; left &= left - 1)
    if (known.at(many.group * 16 + static_cast<unsigned>(std::countr_zero(left))) < many.clock)
      return false;
  return true;
}

bool mergeReads(AccessRecord &slot, AccessRecord record) {
  bool fits = slot.clock == record.clock && slot.clock < (1u << 23) &&
              slot.kindBits == record.kindBits && slot.actor / 16 == record.actor / 16 &&
              record.actor < 64 &&
              (slot.kind() == AccessKind::Read || slot.kind() == AccessKind::ProxyRead);
  if (!fits)
    return false;
  ManyReads many;
  many.clock = record.clock;
  many.proxy = record.kind() == AccessKind::ProxyRead;
  many.instruction = record.instruction;
  many.mask = (1u << record.actor % 16) | (1u << slot.actor % 16);
  many.group = record.actor / 16;
  slot = std::bit_cast<AccessRecord>(many);
  return true;
}

} // namespace tile::vgpu
