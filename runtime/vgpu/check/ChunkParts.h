// The shadow of a chunk of 16 bytes that is touched byte by byte or half by half.
//
// Neighbouring parts are nearly always touched by neighbouring lanes of one instruction, or of a
// few. So a chunk has a short list of records, and each of its bytes says which of them, and which
// lane: less than five bytes of memory a byte instead of the sixteen of two records. A chunk that
// more accesses than the list holds have met is kept as words and bytes with cells of their own.
#pragma once

#include "runtime/vgpu/check/ShadowCell.h"

namespace tile::vgpu {

class ChunkParts {
public:
  static constexpr uint32_t kBytes = 16;

  /// Forgets all accesses.
  void clear() { *this = ChunkParts(); }
  /// The number of bytes from `begin` on, at most up to `end`, that are in the same state.
  uint32_t alike(uint32_t begin, uint32_t end) const {
    uint32_t at = begin + 1;
    while (at < end && writes_[at] == writes_[begin] && reads_[at] == reads_[begin])
      ++at;
    return at - begin;
  }
  ClusterCell cell(uint32_t at) const { return {recordOf(writes_[at]), recordOf(reads_[at])}; }
  /// Gives `count` bytes, which are alike, the state of `cell`. False if the list of records is too
  /// short, or if the cell has a list of readers, which cannot be shared: then the bytes have no
  /// access.
  bool set(uint32_t begin, uint32_t count, const ClusterCell &cell) {
    bool isSet = cell.read.kindBits != kPooled && setAll(writes_, begin, count, cell.write) &&
                 setAll(reads_, begin, count, cell.read);
    if (!isSet) {
      std::fill_n(writes_ + begin, count, Reference{0});
      std::fill_n(reads_ + begin, count, Reference{0});
    }
    return isSet;
  }

private:
  // 1 + the index of a record, and from bit 3 the lane if the record leaves it open; 0: no record.
  using Reference = uint8_t;
  static constexpr unsigned kRecords = 5, kIndexBits = 3;

  // True for the access of a single lane, which the reference holds rather than the list.
  static bool hasOpenLane(AccessRecord record) {
    return record.kindBits < kMany && record.lane < 32;
  }

  AccessRecord recordOf(Reference reference) const {
    if (reference == 0)
      return {};
    AccessRecord record = records_[(reference & ((1u << kIndexBits) - 1)) - 1];
    if (hasOpenLane(record))
      record.lane = reference >> kIndexBits;
    return record;
  }
  bool setAll(Reference (&references)[kBytes], uint32_t begin, uint32_t count,
              AccessRecord record) {
    if (recordOf(references[begin]) == record)
      return true;
    if (count == 1) {
      references[begin] = 0;
      std::optional<Reference> reference = refer(record);
      references[begin] = reference.value_or(0);
      return reference.has_value();
    }
    std::fill_n(references + begin, count, Reference{0});
    std::optional<Reference> reference = refer(record);
    if (reference)
      std::fill_n(references + begin, count, *reference);
    return reference.has_value();
  }
  std::optional<Reference> refer(AccessRecord record) {
    if (record.bits() == 0)
      return Reference{0};
    unsigned lane = hasOpenLane(record) ? record.lane : 0;
    if (hasOpenLane(record))
      record.lane = 0;
    for (unsigned i = 0; i < kRecords; ++i)
      if (records_[i] == record)
        return static_cast<Reference>((i + 1) | lane << kIndexBits);
    std::optional<unsigned> slot = unusedSlot();
    if (!slot)
      return {};
    records_[*slot] = record;
    return static_cast<Reference>((*slot + 1) | lane << kIndexBits);
  }
  std::optional<unsigned> unusedSlot() const {
    constexpr uint32_t kIndex = (1u << kIndexBits) - 1;
    uint32_t used = 0;
    for (uint32_t at = 0; at < kBytes; ++at)
      used |= 1u << (writes_[at] & kIndex) | 1u << (reads_[at] & kIndex);
    for (unsigned i = 0; i < kRecords; ++i)
      if (!(used >> (i + 1) & 1))
        return i;
    return {};
  }

  AccessRecord records_[kRecords]; // what no byte refers to may be replaced
  Reference writes_[kBytes] = {}, reads_[kBytes] = {};
};
static_assert(sizeof(ChunkParts) == 72);

} // namespace tile::vgpu
