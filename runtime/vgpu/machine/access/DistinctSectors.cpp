// Marks sectors in bitmaps, which host threads share, and counts the marks.
#include "runtime/vgpu/machine/access/DistinctSectors.h"

#include <bit>

namespace tile::vgpu {

DistinctSectors::DistinctSectors(uint64_t memoryBytes)
    : count_(memoryBytes / (kSpanSectors * Counters::kSectorBytes) + 1),
      spans_(new std::atomic<Span *>[count_]()) {}

DistinctSectors::~DistinctSectors() { clear(); }

DistinctSectors::Span &DistinctSectors::makeSpan(uint64_t index) {
  auto made = std::make_unique<Span>();
  Span *span = nullptr;
  if (spans_[index].compare_exchange_strong(span, made.get(), std::memory_order_acq_rel))
    return *made.release();
  return *span; // another thread was first
}

void DistinctSectors::markRange(uint64_t address, uint64_t bytes, SectorUse use) {
  constexpr uint64_t kSector = Counters::kSectorBytes;
  for (uint64_t at = address / kSector * kSector; at < address + bytes; at += kSector)
    mark(at, use);
}

void DistinctSectors::addTo(Counters &counters) const {
  auto bits = [](const Word &word) {
    return static_cast<uint64_t>(std::popcount(word.load(std::memory_order_relaxed)));
  };
  for (uint64_t index = 0; index < count_; ++index)
    if (const Span *span = spans_[index].load(std::memory_order_acquire)) {
      for (const Word &word : span->loaded)
        counters.distinctSectorsLoaded += bits(word);
      for (const Word &word : span->stored)
        counters.distinctSectorsStored += bits(word);
    }
}

void DistinctSectors::clear() {
  for (uint64_t index = 0; index < count_; ++index)
    delete spans_[index].exchange(nullptr);
}

} // namespace tile::vgpu
