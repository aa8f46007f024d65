// What an access orders and what it must be ordered after: releases, acquires, and the race check.
#include "runtime/vgpu/machine/access/Access.h"

#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/access/SharedAddress.h"

namespace tile::vgpu {

namespace {

// The words by which a strong access synchronises: one for accesses of wide scopes, one for those
// of cta scope, which only the own block sees.
struct SyncWord {
  SyncVariables *variables;
  SyncVariables::Key wide, narrow;
};

SyncWord syncWord(Warp &warp, const Access &access, unsigned lane) {
  Cta &cta = *warp.cta;
  uint64_t address = access.address[lane];
  bool isShared = access.space == Space::Shared;
  if (isShared) {
    SharedAddress where = sharedAddressOf(warp, address);
    address = mapAddress(where.address, where.cta->rank);
  }
  return {isShared ? &cta.cluster->sync : &cta.launch->globalSync(),
          {address, 0},
          {address, cta.index + 1}};
}

void acquire(Warp &warp, const Access &access) {
  bool acquiresNow =
      access.order == MemoryOrder::Acquire || access.order == MemoryOrder::AcquireRelease;
  auto take = [&](const ReleasedClocks *released) {
    if (!released)
      return;
    if (acquiresNow)
      warp.clock.acquire(*released, access.mask);
    else
      join(warp.clock.seen, *released);
  };
  forLanes(access.mask, [&](unsigned lane) {
    SyncWord word = syncWord(warp, access, lane);
    if (word.variables->empty())
      return;
    take(word.variables->read(word.narrow));
    if (!isNarrow(access.kind))
      take(word.variables->read(word.wide));
  });
}

void release(Warp &warp, const Access &access) {
  bool releasesNow =
      access.order == MemoryOrder::Release || access.order == MemoryOrder::AcquireRelease;
  bool adds = access.kind == AccessKind::Atomic || access.kind == AccessKind::NarrowAtomic;
  ReleasedClocks released =
      releasesNow ? warp.clock.released(access.mask) : warp.clock.current.fenced;
  forLanes(access.mask, [&](unsigned lane) {
    SyncWord word = syncWord(warp, access, lane);
    if (released.empty() && (adds || word.variables->empty()))
      return;
    word.variables->write(word.narrow, released, adds);
    if (!isNarrow(access.kind))
      word.variables->write(word.wide, released, adds);
  });
  if (releasesNow)
    warp.clock.advance();
}

bool readsMemory(AccessKind kind) {
  return kind != AccessKind::StrongWrite && kind != AccessKind::NarrowWrite;
}

} // namespace

// Checks an access by lanes that have the same clock.
static void checkAlike(Warp &warp, const Op &op, const Access &access, uint32_t same) {
  Cta &cta = *warp.cta;
  // An acquire comes before the check, as it is what orders the access after the writes it sees;
  // a release comes after it, since it covers the access itself.
  bool strong = isStrong(access.kind);
  if (strong && readsMemory(access.kind))
    acquire(warp, access);
  auto first = static_cast<unsigned>(std::countr_zero(access.mask));
  Accessor accessor = accessorOf(warp, op, first, access.kind);
  if (access.space == Space::Global) {
    cta.cluster->globalRaces->access(accessor, access.mask, access.address, access.bytes, same);
  } else {
    forLanes(access.mask, [&](unsigned lane) {
      accessor.setLane(lane);
      SharedAddress where = sharedAddressOf(warp, access.address[lane]);
      where.cta->races->access(accessor, where.address - kSharedBase, access.bytes,
                               same >> lane & 1);
    });
  }
  if (strong && access.isWrite())
    release(warp, access);
}

void checkRaces(Warp &warp, const Op &op, const Access &access, uint32_t same) {
  if (!warp.cta->races || (access.space != Space::Shared && access.space != Space::Global))
    return;
  warp.clock.touch(access.mask);
  if (warp.cta->launch->checks().strict)
    same = 0;
  // Lanes that lag have a clock of their own, and an accessor has one clock.
  uint32_t behind = access.mask & warp.clock.lagging;
  if (!behind || behind == access.mask)
    return checkAlike(warp, op, access, same);
  for (uint32_t lanes : {behind, access.mask & ~behind}) {
    Access part = access;
    part.mask = lanes;
    checkAlike(warp, op, part, same);
  }
}

} // namespace tile::vgpu
