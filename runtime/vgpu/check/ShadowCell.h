// Shadow cells: the last write of a piece of memory and the reads since, against which the next
// access is checked.
//
// Every access is a record: actor, the actor's time, lane, instruction. It is ordered before a
// later access if the later warp's clock has reached that time, or the same lane made both;
// between lanes of a warp only a synchronisation orders. Words touched in parts are split into
// bytes, since neighbouring halves belong to different lanes. A write of the value that is there
// already is no race: replicated layouts store duplicates.
#pragma once

#include "runtime/vgpu/check/Accessor.h"
#include "runtime/vgpu/check/RecordPool.h"

#include <array>
#include <bit>
#include <optional>
#include <span>

namespace tile::vgpu {

/// A chunk of 16 bytes, a word, or a byte of a split word, of memory that only one cluster touches.
struct ClusterCell {
  AccessRecord write, read;
  static constexpr bool kManyClusters = false;
};

/// A cell of memory that several clusters touch. Of the reads it keeps the last one and the last
/// one of another cluster: a write that nothing orders conflicts with one of them.
struct GlobalCell {
  AccessRecord write, read, otherRead;
  uint32_t writeCluster = 0, readCluster = 0, otherCluster = 0;
  static constexpr bool kManyClusters = true;
};

/// Checks and updates cells of either kind, and owns the memory for rare states: split words and
/// lists of reads.
template <class Cell> class RaceRules {
public:
  /// Checks an access to whole cells of `words` from byte `offset` of them, and remembers it.
  /// `addressOf(at)`: what byte `at` stands for. `sameValue`: a write that changes nothing.
  template <class AddressOf>
  void access(std::span<Cell> words, const Accessor &accessor, uint32_t offset, uint32_t bytes,
              bool sameValue, AddressOf addressOf) {
    uint32_t end = offset + bytes;
    while (offset < end) {
      Cell &word = words[offset / 4];
      if (offset % 4 == 0 && end - offset >= 4 && !isSplit(word)) {
        touch(word, accessor, sameValue, addressOf(offset));
        offset += 4;
        continue;
      }
      uint32_t index = splitIndex(word);
      for (uint32_t stop = std::min(end, offset / 4 * 4 + 4); offset < stop; ++offset)
        touch(split_[index][offset % 4], accessor, sameValue, addressOf(offset));
    }
  }
  /// Calls `visit(cell)` for the cells of a range.
  template <class Visit>
  void forCells(std::span<Cell> words, uint32_t offset, uint32_t bytes, Visit visit) {
    for (uint32_t at = offset; at < offset + bytes;) {
      Cell &word = words[at / 4];
      if (!isSplit(word)) {
        visit(word);
        at = at / 4 * 4 + 4;
        continue;
      }
      visit(split_[splitIndex(word)][at % 4]);
      ++at;
    }
  }
  /// Remembers a read that happened earlier, without checking it.
  void replay(Cell &cell, AccessRecord record, uint32_t cluster) {
    noteRead(cell, record, cluster, nullptr);
  }
  void replay(std::span<Cell> words, AccessRecord record, uint32_t cluster, uint32_t offset,
              uint32_t bytes) {
    for (uint32_t at = offset; at < offset + bytes;) {
      Cell &word = words[at / 4];
      if (at % 4 == 0 && offset + bytes - at >= 4 && !isSplit(word)) {
        noteRead(word, record, cluster, nullptr);
        at += 4;
        continue;
      }
      noteRead(split_[splitIndex(word)][at % 4], record, cluster, nullptr);
      ++at;
    }
  }
  void clear();
  /// The memory of the rare states.
  size_t heldBytes() const;
  /// Checks an access to one cell that is not split, and remembers it.
  void touch(Cell &cell, const Accessor &accessor, bool sameValue, const RaceAddress &where);
  /// Splits a cell into `parts`, each of which gets its state.
  void split(Cell &cell, std::span<Cell> parts);
  /// Makes a word of four bytes; it stays split if they differ.
  void assemble(Cell &word, std::span<Cell, 4> bytes);
  /// Drops the states of `parts`, which are about to be one cell again.
  void forget(std::span<Cell> parts);
  static bool isSplit(const Cell &cell) { return cell.write.kindBits == kSplit; }

private:
  uint32_t splitIndex(Cell &cell);
  bool conflictsWithReads(const Cell &cell, const Accessor &accessor, const RaceAddress &where);
  bool conflictsWithMany(AccessRecord reads, uint32_t cluster, const Accessor &accessor,
                         const RaceAddress &where);
  // `accessor`: who reads, to forget reads that are ordered before this one; null: forget none.
  void noteRead(Cell &cell, AccessRecord record, uint32_t cluster, const Accessor *accessor);
  void pool(AccessRecord &slot, AccessRecord record, const Accessor *accessor);
  void clearReads(Cell &cell);
  void release(AccessRecord &slot);
  static bool joinMany(AccessRecord &slot, AccessRecord record, const Accessor *accessor);
  static std::vector<AccessRecord> expand(AccessRecord many);

  RecordPool<std::array<Cell, 4>> split_;
  std::vector<std::vector<AccessRecord>> pools_;
  std::vector<uint32_t> freePools_;
};

extern template class RaceRules<ClusterCell>;
extern template class RaceRules<GlobalCell>;

} // namespace tile::vgpu
