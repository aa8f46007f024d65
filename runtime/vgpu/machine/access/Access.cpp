// Translates addresses. Every access of every handler goes through resolve(), so a check here holds
// for all instructions.
#include "runtime/vgpu/machine/access/Access.h"

#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/access/AccessFault.h"
#include "runtime/vgpu/machine/access/CountAccess.h"
#include "runtime/vgpu/machine/access/SharedAddress.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

constexpr uint64_t kWindowBytes = uint64_t{1} << 40;

void checkAlignment(Warp &warp, const Op &op, const Access &access) {
  uint64_t low = 0;
  if (access.mask == kFullMask)
    for (uint64_t address : access.address)
      low |= address;
  else
    forLanes(access.mask, [&](unsigned lane) { low |= access.address[lane]; });
  if ((low & (access.bytes - 1)) == 0)
    return;
  fault(
      warp, op, access,
      [&](unsigned lane) { return (access.address[lane] & (access.bytes - 1)) != 0; },
      FindingKind::Misaligned, "is not aligned to " + std::to_string(access.bytes) + " bytes");
}

// Looks each lane up in the allocations, where the ones found last do not hold all lanes.
void lookUpGlobal(Warp &warp, const Op &op, const Access &access) {
  GlobalMemory &memory = warp.cta->launch->memory();
  auto blockOf = [&](uint64_t address) {
    const GlobalMemory::Block *block = memory.find(address);
    return block && address + access.bytes <= block->base + block->bytes ? block : nullptr;
  };
  forLanes(access.mask, [&](unsigned lane) {
    uint64_t address = access.address[lane];
    if (const GlobalMemory::Block *block = blockOf(address)) {
      if (!warp.cta->recent.hold(address, address, access.bytes))
        warp.cta->recent.add(block->base, block->base + block->bytes);
      return;
    }
    const GlobalMemory::Block *near = memory.near(address);
    bool freed = near && !near->live && address - near->base < near->bytes;
    fault(
        warp, op, access, [&](unsigned each) { return !blockOf(access.address[each]); },
        freed ? FindingKind::UseAfterFree : FindingKind::OutOfBounds,
        freed ? "after its memory was freed" : "is out of bounds");
  });
}

// The lowest and the highest address of the active lanes.
struct AddressRange {
  uint64_t least = ~uint64_t{0}, most = 0;
};
AddressRange rangeOf(const Access &access) {
  AddressRange range;
  if (access.mask == kFullMask) {
    for (uint64_t address : access.address) {
      range.least = std::min(range.least, address);
      range.most = std::max(range.most, address);
    }
    return range;
  }
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    bool active = access.mask >> lane & 1;
    range.least = std::min(range.least, active ? access.address[lane] : range.least);
    range.most = std::max(range.most, active ? access.address[lane] : range.most);
  }
  return range;
}

// True if all 32 lanes take part and lie in [begin, end). Asking this is quicker than finding their
// range.
bool areAllInside(const Access &access, uint64_t begin, uint64_t end) {
  if (access.mask != kFullMask || end - begin < access.bytes)
    return false;
  uint64_t last = end - access.bytes, outside = 0;
  for (uint64_t address : access.address)
    outside |= (address - begin) | (last - address); // one of them is negative
  return static_cast<int64_t>(outside) >= 0;
}

// Host addresses where address 0 would be at `origin`. In integers, since inactive lanes may hold
// anything.
void translate(Access &access, uintptr_t origin) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    access.host[lane] = reinterpret_cast<uint8_t *>(origin + access.address[lane]);
}

void resolveGlobal(Warp &warp, const Op &op, Access &access) {
  Cta &cta = *warp.cta;
  // Lanes mostly share an allocation, so the first one's is tried for all of them at once.
  const RecentBlocks::Range *block = cta.recent.of(access.address[0]);
  if (!block || !areAllInside(access, block->base, block->end)) {
    AddressRange range = rangeOf(access);
    if (!cta.recent.hold(range.least, range.most, access.bytes))
      lookUpGlobal(warp, op, access);
  }
  translate(access, cta.launch->memory().origin());
}

// Reports accesses to the bytes of a memory barrier, which are opaque: their layout differs between
// GPUs.
void checkOpaque(Warp &warp, const Op &op, const Access &access, unsigned lane,
                 const SharedAddress &where) {
  const Mbarriers &barriers = where.cta->mbarriers;
  auto next = barriers.upper_bound(where.address + access.bytes - 1);
  if (next == barriers.begin() || !warp.cta->launch->checks().async)
    return;
  auto barrier = std::prev(next);
  if (barrier->first + 8 > where.address)
    warp.report(op, FindingKind::Async, lane,
                std::string(access.isWrite() ? "writes to" : "reads") + " the bytes of " +
                    describe(barrier->first, barrier->second) + ": mbarrier.inval it first");
}

// True if the block's own shared memory holds [least, most + bytes), and no memory barrier is
// there.
bool isOwnShared(const Cta &cta, const AddressRange &range, uint32_t bytes) {
  uint64_t begin = cta.sharedBegin(), size = cta.launch->sharedBytes();
  if (range.least < begin || bytes > size || range.most - begin > size - bytes)
    return false;
  const Mbarriers &barriers = cta.mbarriers;
  uint64_t window = sharedWindowOf(cta.rank);
  return barriers.empty() || range.most - window + bytes <= barriers.begin()->first ||
         range.least - window >= barriers.rbegin()->first + 8;
}

void resolveShared(Warp &warp, const Op &op, Access &access) {
  const Cta &cta = *warp.cta;
  uint64_t begin = cta.sharedBegin();
  if ((cta.mbarriers.empty() && areAllInside(access, begin, begin + cta.launch->sharedBytes())) ||
      isOwnShared(cta, rangeOf(access), access.bytes)) {
    translate(access, reinterpret_cast<uintptr_t>(cta.shared.data()) - begin);
    return;
  }
  uint64_t bytes = warp.cta->launch->sharedBytes();
  uint64_t last = bytes - access.bytes; // wraps if the window is smaller than the access
  auto isOutside = [&](unsigned lane) {
    SharedAddress where = sharedAddressOf(warp, access.address[lane]);
    return !where.cta || access.bytes > bytes || uint64_t{where.address} - kSharedBase > last;
  };
  forLanes(access.mask, [&](unsigned lane) {
    SharedAddress where = sharedAddressOf(warp, access.address[lane]);
    uint64_t offset = uint64_t{where.address} - kSharedBase;
    if (isOutside(lane))
      fault(warp, op, access, isOutside, FindingKind::OutOfBounds, "is out of bounds");
    if (where.cta->hasExited)
      fault(
          warp, op, access,
          [&](unsigned each) {
            return sharedAddressOf(warp, access.address[each]).cta == where.cta;
          },
          FindingKind::UseAfterFree,
          "after block " + warp.cta->launch->blockText(where.cta->index) +
              " of the cluster has exited");
    if (!where.cta->mbarriers.empty())
      checkOpaque(warp, op, access, lane, where);
    access.host[lane] = where.cta->shared.data() + offset;
  });
}

void resolveWindow(Warp &warp, const Op &op, Access &access, uint8_t *base, uint64_t begin,
                   uint64_t bytes, uint64_t laneStride) {
  uint64_t last = bytes - access.bytes; // wraps if the window is smaller than the access
  auto isOutside = [&](unsigned lane) {
    return access.bytes > bytes || access.address[lane] - begin > last;
  };
  forLanes(access.mask, [&](unsigned lane) {
    uint64_t offset = access.address[lane] - begin;
    if (isOutside(lane))
      fault(warp, op, access, isOutside, FindingKind::OutOfBounds, "is out of bounds");
    access.host[lane] = base + lane * laneStride + offset;
  });
}

} // namespace

void readAddresses(Warp &warp, uint32_t row, bool wide, int64_t offset,
                   uint64_t (&address)[kLanes]) {
  if (wide) {
    const uint64_t *base = warp.row<uint64_t>(row);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      address[lane] = base[lane] + static_cast<uint64_t>(offset);
    return;
  }
  const uint32_t *base = warp.row<uint32_t>(row);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    address[lane] = base[lane] + static_cast<uint32_t>(offset);
}

Space takeSpace(Access &access, uint32_t mask, uint32_t &taken) {
  auto spaceOf = [](uint64_t address, uint64_t &base) {
    for (auto [window, space] :
         {std::pair(kSharedWindow, Space::Shared), std::pair(kLocalWindow, Space::Local),
          std::pair(kParamWindow, Space::Param)})
      if (address - window < kWindowBytes) {
        base = window;
        return space;
      }
    base = 0;
    return Space::Global;
  };
  uint64_t base = 0;
  Space space = spaceOf(access.address[std::countr_zero(mask)], base);
  taken = 0;
  forLanes(mask, [&](unsigned lane) {
    uint64_t other = 0;
    if (spaceOf(access.address[lane], other) == space) {
      taken |= 1u << lane;
      access.address[lane] -= base;
    }
  });
  return space;
}

// Memory of the cluster's own is a part of its state.
static void countWrite(Cta &cta, const Access &access, uint64_t times) {
  *cta.cluster->events += times;
  if (access.space == Space::Global)
    *cta.cluster->effects += times;
}

void takeBackWrite(Warp &warp, const Access &access) {
  countWrite(*warp.cta, access, ~uint64_t{0});
}

void resolve(Warp &warp, const Op &op, Access &access) {
  if (access.bytes > 1)
    checkAlignment(warp, op, access);
  Cta &cta = *warp.cta;
  Launch &launch = *cta.launch;
  const Program &program = launch.program();
  switch (access.space) {
  case Space::Shared:
    resolveShared(warp, op, access);
    break;
  case Space::Local:
    resolveWindow(warp, op, access,
                  cta.local.data() + size_t{warp.index} * kLanes * program.localStride(), 0,
                  program.localBytes, program.localStride());
    break;
  case Space::Param:
    if (access.isWrite())
      fault(
          warp, op, access, [](unsigned) { return true; }, FindingKind::OutOfBounds,
          "changes a kernel parameter");
    resolveWindow(warp, op, access, launch.params().data(), 0, launch.params().size(), 0);
    break;
  default:
    resolveGlobal(warp, op, access);
  }
  // A warp that spins may be waiting for this write.
  if (access.isWrite())
    countWrite(cta, access, 1);
  if (DistinctSectors *distinct = launch.distinctSectors())
    countAccess(cta.countersOf(op), access, *distinct);
}

void requireOwnShared(Warp &warp, const Op &op, Access &access) {
  if (warp.cta->cluster->ctas.size() == 1)
    return; // there is no other window
  auto isForeign = [&](unsigned lane) {
    return sharedAddressOf(warp, access.address[lane]).cta != warp.cta;
  };
  forLanes(access.mask, [&](unsigned lane) {
    if (isForeign(lane))
      fault(warp, op, access, isForeign, FindingKind::OutOfBounds,
            "is in another block of the cluster, which this instruction does not reach");
  });
  forLanes(access.mask, [&](unsigned lane) { access.address[lane] &= kOffsetMask; });
}

void requireGlobal(Warp &warp, const Op &op, unsigned lane, uint64_t address, uint32_t bytes) {
  if (warp.cta->recent.hold(address, address, bytes))
    return;
  Access access;
  access.mask = 1u << lane;
  access.bytes = bytes;
  access.address[lane] = address;
  lookUpGlobal(warp, op, access);
}

ValidBits *validBits(Warp &warp, Space space, uint64_t address, unsigned lane, uint64_t &bit) {
  Cta &cta = *warp.cta;
  switch (space) {
  case Space::Shared: {
    SharedAddress where = sharedAddressOf(warp, address);
    bit = where.address - kSharedBase;
    return &where.cta->sharedValid;
  }
  case Space::Local:
    bit = (uint64_t{warp.index} * kLanes + lane) * cta.launch->program().localStride() + address;
    return &cta.localValid;
  case Space::Global:
    bit = address - kGlobalBase;
    return &cta.launch->memory().valid();
  default:
    return nullptr;
  }
}

} // namespace tile::vgpu
