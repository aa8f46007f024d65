// Pages as bits, and the comparison of what clusters have touched.
#include "runtime/vgpu/check/Footprints.h"

#include <algorithm>
#include <bit>

namespace tile::vgpu {

void setBits(PageBits &bits, uint32_t begin, uint32_t count) {
  for (uint32_t end = begin + count; begin < end;) {
    uint32_t first = begin % 64, part = std::min(end - begin, 64 - first);
    bits[begin / 64] |= ~uint64_t{0} >> (64 - part) << first;
    begin += part;
  }
}

void appendBits(ByteRanges &ranges, uint64_t page, const PageBits &bits) {
  constexpr uint64_t kAll = ~uint64_t{0};
  uint64_t address = page * kShadowPageBytes, any = 0, every = kAll;
  for (uint64_t word : bits)
    any |= word, every &= word;
  if (any == 0)
    return;
  if (every == kAll)
    return ranges.append({address, address + kShadowPageBytes});
  for (uint64_t word : bits) {
    if (word == kAll)
      ranges.append({address, address + 64});
    for (uint64_t rest = word == kAll ? 0 : word; rest;) {
      auto begin = static_cast<unsigned>(std::countr_zero(rest));
      auto count = static_cast<unsigned>(std::countr_one(rest >> begin));
      ranges.append({address + begin, address + begin + count});
      rest &= begin + count == 64 ? 0 : kAll << (begin + count);
    }
    address += 64;
  }
}

static bool overlap(const PageBits &a, const PageBits &b) {
  uint64_t both = 0;
  for (size_t i = 0; i < a.size(); ++i)
    both |= a[i] & b[i];
  return both != 0;
}

static void unite(PageBits &into, const PageBits &from) {
  for (size_t i = 0; i < into.size(); ++i)
    into[i] |= from[i];
}

void Footprints::merge(Merged &merged, const PageFootprint &footprint) {
  if (merged.written &&
      (overlap(footprint.read, *merged.written) || overlap(footprint.written, *merged.written)))
    haveConflict_ = true;
  if (footprint.isWritten) {
    if (overlap(footprint.written, merged.read))
      haveConflict_ = true;
    if (!merged.written)
      merged.written = std::make_unique<PageBits>();
    unite(*merged.written, footprint.written);
  }
  unite(merged.read, footprint.read);
}

void Footprints::add(std::span<const Touched> pages) {
  // Other clusters' pages have passed through the caches since: a few are asked for at a time.
  constexpr size_t kAhead = 8;
  std::lock_guard lock(mutex_);
  for (size_t i = 0; i < pages.size() + kAhead; ++i) {
    if (i < pages.size()) {
      auto *merged = reinterpret_cast<const char *>(&merged_[pages[i].page]);
      for (size_t at = 0; at < sizeof(Merged); at += 64)
        __builtin_prefetch(merged + at, 1);
      __builtin_prefetch(pages[i].footprint);
    }
    if (i >= kAhead)
      mergePage(pages[i - kAhead]);
  }
}

void Footprints::mergePage(const Touched &touched) {
  Merged &merged = merged_[touched.page];
  if (merged.empty())
    pages_.push_back(touched.page);
  merge(merged, *touched.footprint);
}

TouchedBytes Footprints::touched() {
  TouchedBytes all;
  std::ranges::sort(pages_);
  for (uint64_t page : pages_) {
    const Merged &merged = merged_[page];
    appendBits(all[TouchKind::Read], page, merged.read);
    if (merged.written)
      appendBits(all[TouchKind::Write], page, *merged.written);
  }
  return all;
}

} // namespace tile::vgpu
