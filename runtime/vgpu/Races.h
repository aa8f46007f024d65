// Finds unordered conflicting accesses to shared memory.
//
// Each warp has a vector clock. A barrier joins the clocks of its participants; bar.warp.sync advances the warp's own.
// Each word of shared memory remembers its last write and its reads as (warp, clock, lane). An access is ordered after a
// remembered one if the warp's clock vector has reached that clock, or if the same lane made it; between lanes of one warp
// only a synchronisation orders. Words touched in parts are split into bytes, since f16 neighbours belong to different
// lanes. A write of the value that is there already is no race: replicated layouts store duplicates.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tile::vgpu {

struct Warp;
struct Op;
enum class FindingKind : uint8_t;

constexpr unsigned kMaxWarps = 32;
using VectorClock = std::array<uint32_t, kMaxWarps>;

/// A warp's knowledge of all warps' progress; own[index] is its own time, which starts at 1.
struct WarpClock {
  VectorClock known = {};
};

/// The kinds from Atomic on are strong: they never race with each other.
enum class AccessKind : uint8_t { Read, Write, Atomic, StrongRead, StrongWrite };

class RaceShadow {
public:
  void reset(uint32_t sharedBytes, unsigned warps);

  /// A lane's access to `bytes` bytes at `offset` from the start of shared memory. Called before memory changes;
  /// `sameValue`: a write that changes nothing. Reports through the warp.
  void access(Warp &warp, const Op &op, unsigned lane, uint32_t offset, uint32_t bytes,
              AccessKind kind, bool sameValue);
  /// cp.async has been issued to these bytes: any access before its completion is a race.
  void beginAsync(Warp &warp, const Op &op, unsigned lane, uint32_t offset, uint32_t bytes);
  void endAsync(Warp &warp, unsigned lane, uint32_t offset, uint32_t bytes);

private:
  static constexpr uint32_t kNone = ~0u;
  static constexpr uint8_t kSeveralLanes = 0xff;
  struct Stamp {
    uint32_t clock = 0; // 0: never
    uint32_t instruction = 0;
    uint8_t warp = 0, lane = 0;
    AccessKind kind = AccessKind::Read;
    bool async = false; // a cp.async in flight
  };
  struct Cell {
    Stamp write;
    Stamp reads[2];             // unordered reads of different warps
    uint32_t moreReads = kNone; // index into readers_: those of further warps
    uint32_t bytes = kNone;     // index into split_: the four bytes have their own cells
  };
  struct Readers {
    std::array<Stamp, kMaxWarps> byWarp;
  };

  template <class Visit> void forCells(uint32_t offset, uint32_t bytes, Visit visit);
  void splitCell(Cell &cell);
  bool check(Warp &warp, const Op &op, unsigned lane, uint32_t offset, Cell &cell, AccessKind kind,
             bool sameValue);
  bool conflict(Warp &warp, const Op &op, unsigned lane, uint32_t offset, const Stamp &earlier,
                AccessKind kind);
  void report(Warp &warp, const Op &op, unsigned lane, uint32_t offset, const Stamp &earlier,
              AccessKind kind, FindingKind which);
  void noteRead(Warp &warp, Cell &cell, const Stamp &stamp);
  void clearReads(Cell &cell);
  Stamp stampOf(const Warp &warp, const Op &op, unsigned lane, AccessKind kind) const;

  std::vector<Cell> cells_;
  std::vector<std::array<Cell, 4>> split_;
  std::vector<uint32_t> freeSplit_;
  std::vector<Readers> readers_;
  std::vector<uint32_t> freeReaders_;
  // What is known to whoever reads a word that was written by a strong access: flags and locks order like barriers.
  std::unordered_map<uint32_t, VectorClock> syncs_;
};

} // namespace tile::vgpu
