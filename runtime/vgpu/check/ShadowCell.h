// What the race checkers remember of a word of memory: its last write and the reads since.
//
// Every access is a stamp: actor, the actor's time, lane, instruction. It is ordered before a later access if the later
// warp's clock has reached that time, or the same lane made both; between lanes of a warp only a synchronisation orders.
// Words touched in parts are split into bytes, since neighbouring halves belong to different lanes. A write of the value
// that is there already is no race: replicated layouts store duplicates.
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
  Stamp write, read;
  static constexpr bool kManyClusters = false;
};

/// The same of memory where accesses of different clusters meet. Of the reads the last one and the last of
/// another cluster are kept: whoever writes conflicts with one of them.
struct GlobalCell {
  Stamp write, read, otherRead;
  uint32_t writeCluster = 0, readCluster = 0, otherCluster = 0;
  static constexpr bool kManyClusters = true;
};

/// The rules, over cells of either kind, with the memory for the rare cases.
template <class Cell> class RaceRules {
public:
  /// Checks an access to whole cells of `words` from byte `offset` of them, and remembers it. `addressOf(at)`: what byte
  /// `at` stands for. `sameValue`: a write that changes nothing.
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
  void replay(Cell &cell, Stamp stamp, uint32_t cluster) {
    noteRead(cell, stamp, cluster, nullptr);
  }
  void replay(std::span<Cell> words, Stamp stamp, uint32_t cluster, uint32_t offset,
              uint32_t bytes) {
    for (uint32_t at = offset; at < offset + bytes;) {
      Cell &word = words[at / 4];
      if (at % 4 == 0 && offset + bytes - at >= 4 && !isSplit(word)) {
        noteRead(word, stamp, cluster, nullptr);
        at += 4;
        continue;
      }
      noteRead(split_[splitIndex(word)][at % 4], stamp, cluster, nullptr);
      ++at;
    }
  }
  void clear();
  /// Memory for the rare cases.
  size_t heldBytes() const;
  /// The same as access() for one cell that is not split.
  void touch(Cell &cell, const Accessor &accessor, bool sameValue, const RaceAddress &where);
  /// Splits a cell into as many as there are in `parts`, which know what it knew.
  void split(Cell &cell, std::span<Cell> parts);
  /// The opposite: what four bytes know becomes what their word knows, which may be split.
  void assemble(Cell &word, std::span<Cell, 4> bytes);
  /// Forgets what `parts` knew: they are one again.
  void forget(std::span<Cell> parts);
  static bool isSplit(const Cell &cell) { return cell.write.kindBits == kSplit; }

private:
  uint32_t splitIndex(Cell &cell);
  bool conflictsWithReads(const Cell &cell, const Accessor &accessor, const RaceAddress &where);
  bool conflictsWithMany(Stamp reads, uint32_t cluster, const Accessor &accessor,
                         const RaceAddress &where);
  // `accessor`: who reads, to forget reads that are ordered before this one; null: forget none.
  void noteRead(Cell &cell, Stamp stamp, uint32_t cluster, const Accessor *accessor);
  void pool(Stamp &slot, Stamp stamp, const Accessor *accessor);
  void clearReads(Cell &cell);
  void release(Stamp &slot);
  static bool joinMany(Stamp &slot, Stamp stamp, const Accessor *accessor);
  static std::vector<Stamp> expand(Stamp many);

  RecordPool<std::array<Cell, 4>> split_;
  std::vector<std::vector<Stamp>> pools_;
  std::vector<uint32_t> freePools_;
};

extern template class RaceRules<ClusterCell>;
extern template class RaceRules<GlobalCell>;

} // namespace tile::vgpu
