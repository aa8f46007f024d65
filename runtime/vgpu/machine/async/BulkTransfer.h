// One bulk copy: a range, or a box of a tensor, between global memory and the shared memory of a cluster.
//
// It goes through the async proxy: what threads have written is seen only after fence.proxy.async. Copies into shared
// memory tell memory barriers how many bytes have come; those out of it are waited for by group (BulkGroups).
#pragma once

#include "runtime/vgpu/check/ShadowCell.h"
#include "runtime/vgpu/machine/access/SharedAddress.h"
#include "runtime/vgpu/machine/async/AsyncQueue.h"
#include "runtime/vgpu/machine/async/TensorMap.h"

#include <optional>

namespace tile::vgpu {

/// Combines `bytes` bytes at `source` into those at `target`.
using Reduction = void (*)(uint8_t *target, const uint8_t *source, uint32_t bytes);

/// A tile in shared memory, and the barrier that hears of its bytes.
struct BulkTile {
  SharedAddress where, barrier; // barrier.cta null: none
};

class BulkTransfer final : public AsyncOperation {
public:
  using AsyncOperation::AsyncOperation;

  // Set before check().
  std::vector<BulkTile> targets;     // copies into shared memory; several: multicast
  std::optional<SharedAddress> from; // copies out of shared memory, or within the cluster
  uint64_t global = 0;               // the range in global memory
  uint64_t bytes = 0;                // of the range, or of the box; checked to lie in shared memory
  std::optional<TensorMapParams> map;
  Coordinates coordinates{};
  Reduction reduction = nullptr;

  /// Bounds, alignment, races and initialisation as of now; destinations are poisoned unless the copy is eager.
  void check();
  void complete() override;
  bool writes(const Cta &cta) const override;
  bool reads(const Cta &cta) const override { return from && from->cta == &cta; }
  /// Copies into shared memory come in pieces of up to 128 bytes, in any order, and the barrier hears of each.
  bool completePart(Choices &choices) override;
  /// From the start of a tile in shared memory to the end of what the copy touches of it.
  uint64_t reachOf(const SharedAddress &tile) const {
    return map ? tileReach(*map, tile.address) : bytes;
  }

private:
  struct Piece {
    const BulkTile *target;
    TensorRun run;
  };
  void cut(Choices &choices);
  void moveIn(const BulkTile &target, const TensorRun &run) const;
  void finishPieces(size_t count);

  template <class Visit> void forRuns(Visit visit) const;
  template <class Visit> void forPieces(uint32_t tile, const TensorRun &run, Visit visit) const;
  bool isSolid() const { return !map || vgpu::isSolid(*map); }
  void requireInside(const SharedAddress &tile) const;
  Accessor accessor(unsigned actor, uint32_t time, AccessKind kind) const;
  void checkTile(const SharedAddress &tile, AccessKind kind, unsigned actor, uint32_t time) const;
  void checkGlobal(AccessKind kind, unsigned actor, uint32_t time) const;
  void poison(const SharedAddress &tile) const;
  void fillTile(const BulkTile &target, const TensorRun &run, uint32_t address, uint32_t done,
                uint32_t count) const;
  void prefetchAfter(const TensorRun &run) const;
  void fillTiles();
  void copyOut(const TensorRun &run, uint32_t address, uint32_t done, uint32_t count) const;
  void move(uint8_t *target, ValidBits &targetValid, uint64_t targetBit, const uint8_t *source,
            const ValidBits &sourceValid, uint64_t sourceBit, uint32_t count) const;

  std::vector<Piece> pieces_; // that have not come yet, once it has been cut
};

} // namespace tile::vgpu
