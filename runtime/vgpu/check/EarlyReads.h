// The reads of a page of global memory that nobody has written: a short list in the place of cells, as kernels read far
// more than they write.
#pragma once

#include "runtime/vgpu/check/AccessRecord.h"

#include <algorithm>
#include <span>
#include <vector>

namespace tile::vgpu {

/// Consecutive lanes that read consecutive elements.
struct EarlyRead {
  uint16_t offset = 0, bytes = 0; ///< of all lanes, within the page
  uint16_t laneBytes = 0;
  uint32_t cluster = 0;
  AccessRecord first; ///< of the first lane

  bool isAgain(const EarlyRead &later) const {
    return offset == later.offset && bytes == later.bytes && cluster == later.cluster &&
           first.actor == later.first.actor;
  }
  /// A hash, to find an equal read without comparing all.
  uint32_t key() const {
    return (offset | uint32_t{bytes} << 16) * 0x9E3779B1u ^ cluster * 0x85EBCA6Bu ^
           static_cast<uint32_t>(first.actor) * 0xC2B2AE35u;
  }
};

class EarlyReads {
public:
  /// Keeps a read, in the place of an earlier one of the same bytes by the same actor.
  void remember(const EarlyRead &read) {
    uint32_t key = read.key();
    if (holdsKey(key)) {
      auto isAgain = [&](const EarlyRead &known) { return known.isAgain(read); };
      if (auto known = std::ranges::find_if(reads_, isAgain); known != reads_.end()) {
        *known = read;
        return;
      }
    }
    if (reads_.size() < kMost) {
      reads_.push_back(read);
      keys_.push_back(key);
      return;
    }
    // The list is full: the oldest read is forgotten, and a race with it would be missed.
    reads_[oldest_] = read;
    keys_[oldest_] = key;
    oldest_ = (oldest_ + 1) % kMost;
  }
  std::span<const EarlyRead> all() const { return reads_; }
  void clear() {
    reads_.clear();
    keys_.clear();
    oldest_ = 0;
  }
  /// The bytes of memory that the list takes.
  size_t heldBytes() const {
    return reads_.capacity() * sizeof(EarlyRead) + keys_.capacity() * sizeof(uint32_t);
  }

private:
  static constexpr size_t kMost = 64;

  // A loop for vector instructions: nearly all reads are new.
  bool holdsKey(uint32_t wanted) const {
    uint32_t found = 0;
    for (uint32_t key : keys_)
      found |= key == wanted;
    return found;
  }

  std::vector<EarlyRead> reads_;
  std::vector<uint32_t> keys_; // of `reads_`
  size_t oldest_ = 0;          // once the list is full
};

} // namespace tile::vgpu
