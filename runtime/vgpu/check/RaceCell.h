// What the race checkers remember of a word of memory: its last write and the reads since.
//
// Every access is a stamp: actor, the actor's time, lane, instruction. It is ordered before a later access if the later
// warp's clock has reached that time, or the same lane made both; between lanes of a warp only a synchronisation orders.
// Words touched in parts are split into bytes, since neighbouring halves belong to different lanes. A write of the value
// that is there already is no race: replicated layouts store duplicates.
#pragma once

#include "runtime/vgpu/check/Checks.h"
#include "runtime/vgpu/check/Clock.h"
#include "runtime/vgpu/check/RecordPool.h"

#include <array>
#include <bit>
#include <optional>
#include <span>

namespace tile::vgpu {

struct Warp;
struct Op;

/// Kinds of accesses. Strong ones do not race with each other if their scopes cover both; narrow ones have cta scope.
enum class AccessKind : uint8_t {
  Read,
  Write,
  Atomic,
  StrongRead,
  StrongWrite,
  NarrowAtomic,
  NarrowRead,
  NarrowWrite,
  CopyWrite,      // cp.async in flight
  ProxyRead,      // through the async proxy, ordered by the actor that completes it
  ProxyWrite,     // the same
  ProxyReduction, // the same, and atomic: reductions and strong accesses do not race
};
bool isWrite(AccessKind kind);
bool isStrong(AccessKind kind);
/// Strong between all threads of the device, not those of a block alone.
bool isStrongOnDevice(AccessKind kind);

/// One access. Empty while it is all zeros.
struct Stamp {
  static constexpr unsigned kSeveralLanes = 32;
  static constexpr uint32_t kLastInstruction = (1u << 18) - 1;
  static constexpr uint32_t kLastActor = (1u << 12) - 1;

  uint64_t clock : 24 = 0;
  uint64_t instruction : 18 = 0;
  uint64_t actor : 12 = 0;
  uint64_t lane : 6 = 0;
  uint64_t kindBits : 4 = 0;

  AccessKind kind() const { return static_cast<AccessKind>(kindBits); }
  explicit operator bool() const { return clock != 0; }
  bool operator==(const Stamp &other) const { return bits() == other.bits(); }
  uint64_t bits() const { return std::bit_cast<uint64_t>(*this); }
};
static_assert(sizeof(Stamp) == 8);

/// An access about to happen.
struct Accessor {
  Warp *warp = nullptr;             // who makes or has issued it
  const WarpClock *clock = nullptr; // what its lane knows
  const Op *op = nullptr;
  unsigned lane = 0;
  Stamp
      stamp; // what is remembered: of the warp, or of the actor that completes an asynchronous operation
  bool proxy = false; // through the async proxy: earlier generic writes need fence.proxy.async
  bool fencesReads =
      false; // by the check `proxy`: asynchronous writes need a fence after generic reads as well
  bool ordersOwnAccess =
      true;                 // false for wgmma, which is not ordered after its own thread's accesses
  uint32_t proxiedTime = 0; // of a proxy's: up to it the block's generic writes are visible to it
  // The last write and the last read found to be ordered before it, whatever its lane: tiles are long runs of cells in
  // one state, so most need not be asked about again.
  mutable uint64_t orderedWrite = ~uint64_t{0}, orderedRead = ~uint64_t{0};

  // The same of reads that it joins: what they are then.
  mutable uint64_t joinedReads = ~uint64_t{0};
  mutable Stamp jointReads;

  void setLane(unsigned to) { lane = to, stamp.lane = to; }
  AccessKind kind() const { return stamp.kind(); }
};
Accessor accessorOf(Warp &warp, const Op &op, unsigned lane, AccessKind kind);
/// True if something of the accessor's own cluster is ordered before what it does now.
bool happenedBefore(Stamp earlier, const Accessor &accessor);

/// Values of kindBits of what is no stamp: cells that are split, reads that are a list, reads that are ManyReads, chunks that
/// are ChunkParts.
constexpr unsigned kSplit = 15, kPooled = 14, kMany = 13, kInParts = 12;

/// Reads of several warps of one cluster at equal times: the common case of tiles that all warps read. Instruction and
/// kind are where a stamp has them.
struct ManyReads {
  uint64_t clock : 23 = 0;
  uint64_t proxy : 1 = 0; // all are ProxyRead, else all are Read
  uint64_t instruction : 18 = 0;
  uint64_t mask : 16 = 0; // of actors group * 16 ...
  uint64_t group : 2 = 0;
  uint64_t kindBits : 4 = kMany;
};
static_assert(sizeof(ManyReads) == 8);
/// True if all of them are ordered before what the warp does now.
bool knowsAll(ManyReads many, const WarpClock &clock);
/// Makes two single reads one of many if they are alike.
bool mergeReads(Stamp &slot, Stamp stamp);

/// Which word a cell stands for, to report it.
struct RacePlace {
  Space space = Space::Shared;
  uint64_t address = 0;
};

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
template <class Cell> class RaceCells {
public:
  /// Checks an access to whole cells of `words` from byte `offset` of them, and remembers it. `place(at)`: what byte
  /// `at` stands for. `sameValue`: a write that changes nothing.
  template <class Place>
  void access(std::span<Cell> words, const Accessor &accessor, uint32_t offset, uint32_t bytes,
              bool sameValue, Place place) {
    uint32_t end = offset + bytes;
    while (offset < end) {
      Cell &word = words[offset / 4];
      if (offset % 4 == 0 && end - offset >= 4 && !isSplit(word)) {
        touch(word, accessor, sameValue, place(offset));
        offset += 4;
        continue;
      }
      uint32_t index = splitIndex(word);
      for (uint32_t stop = std::min(end, offset / 4 * 4 + 4); offset < stop; ++offset)
        touch(split_[index][offset % 4], accessor, sameValue, place(offset));
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
  void touch(Cell &cell, const Accessor &accessor, bool sameValue, const RacePlace &place);
  /// Splits a cell into as many as there are in `parts`, which know what it knew.
  void split(Cell &cell, std::span<Cell> parts);
  /// The opposite: what four bytes know becomes what their word knows, which may be split.
  void assemble(Cell &word, std::span<Cell, 4> bytes);
  /// Forgets what `parts` knew: they are one again.
  void forget(std::span<Cell> parts);
  static bool isSplit(const Cell &cell) { return cell.write.kindBits == kSplit; }

private:
  uint32_t splitIndex(Cell &cell);
  bool conflictsWithReads(const Cell &cell, const Accessor &accessor, const RacePlace &place);
  bool conflictsWithMany(Stamp reads, uint32_t cluster, const Accessor &accessor,
                         const RacePlace &place);
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

extern template class RaceCells<ClusterCell>;
extern template class RaceCells<GlobalCell>;

} // namespace tile::vgpu
