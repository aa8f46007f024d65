// Counting of accesses. Called for every access while counters are on, so nothing is allocated.
//
// Shared memory has 32 banks of 4 bytes; a request is served in phases of 128 bytes: 32 lanes of up to 4 bytes, 16 of 8,
// 8 of 16. A phase takes as many cycles as the busiest bank has distinct words; lanes that name the same word share it.
#include "runtime/vgpu/machine/access/CountAccess.h"

#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/access/DistinctSectors.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

constexpr unsigned kBanks = 32, kBankBytes = 4;
constexpr unsigned kSectorsPerLine = 4;

// The distinct words of one phase by bank.
class Banks {
public:
  void add(uint64_t word) {
    unsigned bank = word % kBanks;
    auto *begin = words_[bank], *end = begin + count_[bank];
    if (std::find(begin, end, word) != end)
      return;
    *end = word;
    busiest_ = std::max<unsigned>(busiest_, ++count_[bank]);
  }
  unsigned cycles() const { return busiest_; }

private:
  uint8_t count_[kBanks] = {};
  unsigned busiest_ = 0;
  uint64_t words_[kBanks][kBanks]; // no phase has more than 32 words
};

void countShared(Counters &counters, const Access &access) {
  unsigned words = std::max(access.bytes / kBankBytes, 1u);
  unsigned lanesPerPhase = std::max(kBanks / words, 1u);
  ++counters.sharedRequests;
  for (unsigned first = 0; first < kLanes; first += lanesPerPhase) {
    Banks banks;
    for (unsigned lane = first; lane < first + lanesPerPhase; ++lane)
      if (access.mask >> lane & 1)
        for (unsigned word = 0; word < words; ++word)
          banks.add(access.address[lane] / kBankBytes + word);
    counters.sharedWavefronts += banks.cycles();
    counters.sharedIdeal += banks.cycles() != 0; // 128 bytes fit into one cycle
  }
  uint64_t end = 0;
  forLanes(access.mask, [&](unsigned lane) {
    end = std::max(end, (access.address[lane] & kOffsetMask) + access.bytes);
  });
  counters.sharedTouched = std::max(counters.sharedTouched, end - kSharedBase);
}

SectorUse useOf(AccessKind kind) {
  if (!isWrite(kind))
    return SectorUse::Load;
  bool isAtomic = kind == AccessKind::Atomic || kind == AccessKind::NarrowAtomic ||
                  kind == AccessKind::ProxyReduction;
  return isAtomic ? SectorUse::Both : SectorUse::Store;
}

// An access is aligned to its size, so one of at most 32 bytes lies in one sector, and two either coincide or are apart.
void countGlobal(Counters &counters, const Access &access, DistinctSectors &distinct) {
  uint64_t starts[kLanes];
  unsigned count = 0;
  forLanes(access.mask, [&](unsigned lane) { starts[count++] = access.address[lane]; });
  if (!std::is_sorted(starts, starts + count))
    std::sort(starts, starts + count);
  ++counters.globalRequests;
  SectorUse use = useOf(access.kind);
  uint32_t bytes = access.countedBytes.value_or(access.bytes);
  uint64_t lastStart = ~uint64_t{0}, lastSector = lastStart, lastLine = lastStart;
  for (unsigned i = 0; i < count; ++i) {
    uint64_t sector = starts[i] / Counters::kSectorBytes, line = sector / kSectorsPerLine;
    counters.globalBytesUsed += starts[i] != lastStart ? bytes : 0;
    if (sector != lastSector) {
      ++counters.globalSectors;
      distinct.mark(starts[i], use);
    }
    counters.globalLines += line != lastLine;
    lastStart = starts[i], lastSector = sector, lastLine = line;
  }
}

} // namespace

void countAccess(Counters &counters, const Access &access, DistinctSectors &distinct) {
  if (access.kind == AccessKind::Atomic)
    counters.atomics += static_cast<uint64_t>(std::popcount(access.mask));
  if (access.space == Space::Shared)
    countShared(counters, access);
  else if (access.space == Space::Global && access.countedBytes != 0)
    countGlobal(counters, access, distinct);
}

void countAsyncBytes(Warp &warp, const Op &op, uint64_t bytes) {
  if (warp.cta->launch->setup().counting)
    warp.cta->countersOf(op).asyncBytes += bytes;
}

void countRange(Launch &launch, AccessKind kind, uint64_t address, uint64_t bytes) {
  if (DistinctSectors *distinct = launch.distinctSectors())
    distinct->markRange(address, bytes, useOf(kind));
}

void countSharedTouched(Cta &cta, uint64_t address, uint64_t bytes) {
  if (cta.launch->setup().counting)
    cta.counters.sharedTouched =
        std::max(cta.counters.sharedTouched, address + bytes - kSharedBase);
}

} // namespace tile::vgpu
