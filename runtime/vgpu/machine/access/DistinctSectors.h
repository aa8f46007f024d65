// Which sectors of global memory a launch loads and stores, each counted once: what a memory behind
// an ideal cache moves.
//
// One bit a sector, in spans that are made when first touched. All host threads mark the same bits.
#pragma once

#include "runtime/vgpu/machine/Counters.h"
#include "runtime/vgpu/machine/Memory.h"

#include <atomic>
#include <memory>

namespace tile::vgpu {

enum class SectorUse : uint8_t { Load = 1, Store = 2, Both = 3 };

class DistinctSectors {
public:
  /// For a memory that reserves so many bytes of addresses.
  explicit DistinctSectors(uint64_t memoryBytes);
  ~DistinctSectors();
  DistinctSectors(const DistinctSectors &) = delete;
  DistinctSectors &operator=(const DistinctSectors &) = delete;

  /// Marks the sector that holds `address`.
  void mark(uint64_t address, SectorUse use) {
    uint64_t sector = (address - kGlobalBase) / Counters::kSectorBytes;
    Span &span = spanOf(sector / kSpanSectors);
    uint64_t at = sector % kSpanSectors, bit = uint64_t{1} << at % 64;
    if (static_cast<uint8_t>(use) & static_cast<uint8_t>(SectorUse::Load))
      set(span.loaded[at / 64], bit);
    if (static_cast<uint8_t>(use) & static_cast<uint8_t>(SectorUse::Store))
      set(span.stored[at / 64], bit);
  }
  /// Marks those that hold any of `bytes` bytes from `address` on.
  void markRange(uint64_t address, uint64_t bytes, SectorUse use);
  /// Adds how many there are to the counters of a launch. No host thread marks any.
  void addTo(Counters &counters) const;
  void clear();

private:
  static constexpr uint64_t kSpanSectors = 1 << 15; // of a mebibyte
  using Word = std::atomic<uint64_t>;
  struct Span {
    Word loaded[kSpanSectors / 64] = {}, stored[kSpanSectors / 64] = {};
  };

  // Most have been marked before: a look costs less than a change.
  static void set(Word &word, uint64_t bit) {
    if (!(word.load(std::memory_order_relaxed) & bit))
      word.fetch_or(bit, std::memory_order_relaxed);
  }
  Span &spanOf(uint64_t index) {
    Span *span = spans_[index].load(std::memory_order_acquire);
    return span ? *span : makeSpan(index);
  }
  Span &makeSpan(uint64_t index);

  uint64_t count_;
  std::unique_ptr<std::atomic<Span *>[]> spans_;
};

} // namespace tile::vgpu
