// Where roles stand in a ring: the byte offset of a stage from the first, and the parity of the
// phase that its fill ends.
//
// CUTLASS's PipelineState has an index and a phase. Here offsets in bytes take the place of the
// index, since an access would have to multiply it. A state is carried through the loop that the
// ring belongs to and advances once per iteration, offset and parity together; elsewhere both are
// computed from the number of the fill.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

#include <optional>

namespace tile::passes {

/// The tiles of a flattened loop that two teams alternate: after each of its tiles a team skips the
/// fills of the other's, as many as a tile has steps. The producer skips none.
struct PingPongTiles {
  mlir::Value isLastStep;   ///< of a tile
  mlir::Value tripCount;    ///< steps of a tile
  mlir::scf::IfOp begin;    ///< what executes in the first step; null if each step is the first
  mlir::scf::IfOp epilogue; ///< what follows the steps; null if nothing does
};

/// Nothing if the plan of the loop has another order.
std::optional<PingPongTiles> pingPongTilesOf(mlir::scf::ForOp loop);

/// The stages of a ring and, for each memory whose offsets are carried, the bytes from stage to
/// stage.
struct RingStrides {
  int64_t stages;
  llvm::SmallVector<int64_t> bytes;
};

/// A run-time number of fills: full turns of the ring, and the fills beyond them.
struct FillCount {
  FillCount(mlir::OpBuilder &b, mlir::Value fills, int64_t stages);
  mlir::Value turns, rest;
};

struct PipelineState {
  llvm::SmallVector<mlir::Value> offsets; ///< one per stride
  mlir::Value parity;                     ///< null if the ring has no mbarriers

  /// The state of the next fill.
  PipelineState advance(mlir::OpBuilder &b, mlir::Location loc, const RingStrides &ring) const;
  /// The state so many fills later.
  PipelineState advance(mlir::OpBuilder &b, mlir::Location loc, const RingStrides &ring,
                        const FillCount &count) const;
};

/// The fills that iteration i of a loop names, relative to fill i: from the newest that it waits
/// for to the oldest, whose stage it begins to fill again.
struct NamedFills {
  int64_t newest = 0, oldest = -1;

  int64_t count() const { return newest - oldest + 1; }
};

/// The states that a loop carries. Offsets are carried for each stride that is no multiple of
/// another and for each fill that an iteration names. The oldest fill's are also those of the fill
/// S after it.
struct LoopState {
  NamedFills fills;
  /// Of fills i + newest, i + newest - 1, ... i + oldest, by stride.
  llvm::MapVector<int64_t, llvm::SmallVector<mlir::BlockArgument>> offsets;
  mlir::BlockArgument fullParity;  ///< of fill i + newest
  mlir::BlockArgument emptyParity; ///< of the release of fill i + oldest, if refills wait for that
  /// Iterations between a fill's and the one that releases it, 0 or 1. If 1, iteration 0 releases
  /// "fill -1", which is phase 0 of the last stage's releases: the release of fill j ends phase (j
  /// + releaseLag) / S.
  int64_t releaseLag = 0;

  bool belongsTo(mlir::scf::ForOp loop) const;
};

/// The states of one ring: in its loops (several if one was peeled) and elsewhere.
class PipelineStates {
public:
  /// If the threads have no register left beside an accumulator, `derivesFromBarriers` is false:
  /// offsets of tiles then are not computed from those of mbarriers.
  PipelineStates(gpu::RingType ring, bool derivesFromBarriers)
      : stages_(ring.getStages()), derivesFromBarriers_(derivesFromBarriers) {}

  /// Carries states through a loop; its body moves to a new loop, which is returned. `releaseLag`
  /// is given if refills wait for releases.
  mlir::scf::ForOp carryThrough(mlir::scf::ForOp loop, NamedFills fills,
                                llvm::ArrayRef<int64_t> strides, bool hasPhases,
                                std::optional<int64_t> releaseLag);

  /// The offset of a fill's stage. Its lead is how far it is ahead of the iteration of `loop`, if
  /// that is known.
  mlir::Value offset(mlir::OpBuilder &b, mlir::scf::ForOp loop, std::optional<int64_t> lead,
                     mlir::Value fill, int64_t stride) const;

  /// The parity of the phase that a fill ends.
  mlir::Value fullParity(mlir::OpBuilder &b, mlir::scf::ForOp loop, std::optional<int64_t> lead,
                         mlir::Value fill) const;

  /// The parity of the phase that a fill waits for: it ends when the fill before in its stage is
  /// released. For the first fill of a stage it is the phase before the first, which has ended.
  mlir::Value emptyParity(mlir::OpBuilder &b, mlir::scf::ForOp loop, std::optional<int64_t> lead,
                          mlir::Value fill) const;

  bool carriesThrough(mlir::scf::ForOp loop) const;

private:
  const LoopState *stateOf(mlir::scf::ForOp loop) const;

  /// The stage of fill i + lead if fill i has stage 0.
  int64_t stageOf(int64_t lead) const { return (lead % stages_ + stages_) % stages_; }

  /// Is an offset of one stride computed from that of another?
  bool followsFrom(int64_t stride, int64_t carried) const;
  llvm::SmallVector<int64_t> carriedOf(llvm::ArrayRef<int64_t> strides) const;

  int64_t stages_;
  bool derivesFromBarriers_;
  llvm::SmallVector<LoopState> loops_;
};

} // namespace tile::passes
