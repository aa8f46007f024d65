// The pipeline state: the byte offset of a stage, and the parity of the phase that its fill ends.
//
// CUTLASS's PipelineState has an index and a phase. Byte offsets replace the index here, so that no
// access multiplies. A state is carried through the loop of its ring and advances once per
// iteration, offset and parity together; elsewhere both are computed from the number of the fill.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

#include <optional>

namespace tile::passes {

/// The tiles of a flattened loop that two teams alternate. After each of its own a team skips the
/// fills of the other's, one per step of a tile; the producer skips none.
struct PingPongTiles {
  mlir::Value isLastStep;   ///< of a tile
  mlir::Value tripCount;    ///< steps per tile
  mlir::scf::IfOp begin;    ///< executes in the first step; null if every step is a first one
  mlir::scf::IfOp epilogue; ///< executes in the last step; null if there is no epilogue
};

std::optional<PingPongTiles> pingPongTilesOf(mlir::scf::ForOp loop);

struct RingStrides {
  int64_t stages;
  llvm::SmallVector<int64_t> bytes;
};

/// A run-time number of fills, as whole turns of the ring and the rest.
struct FillCount {
  FillCount(mlir::OpBuilder &b, mlir::Value fills, int64_t stages);
  mlir::Value turns, rest;
};

struct PipelineState {
  llvm::SmallVector<mlir::Value> offsets; ///< one per stride
  mlir::Value parity;                     ///< null if the ring has no mbarriers

  PipelineState advance(mlir::OpBuilder &b, mlir::Location loc, const RingStrides &ring) const;
  PipelineState advance(mlir::OpBuilder &b, mlir::Location loc, const RingStrides &ring,
                        const FillCount &count) const;
};

/// The fills that iteration i names, relative to fill i: from the newest, which it waits for, to
/// the oldest, whose stage it refills.
struct NamedFills {
  int64_t newest = 0, oldest = -1;

  int64_t count() const { return newest - oldest + 1; }
};

/// The states that a loop carries: an offset per named fill, for each stride that is not a multiple
/// of another. The oldest fill's state is also that of the refill, S fills later.
struct LoopState {
  NamedFills fills;
  /// By stride: the offsets of fills i + newest, i + newest - 1, ..., i + oldest.
  llvm::MapVector<int64_t, llvm::SmallVector<mlir::BlockArgument>> offsets;
  mlir::BlockArgument fullParity;  ///< of fill i + newest
  mlir::BlockArgument emptyParity; ///< of the release of fill i + oldest, if refills wait for it
  /// 1 if an iteration releases the fill before its own (a dot in flight), else 0. If 1, iteration
  /// 0 releases "fill -1", which ends phase 0 of the last stage's *empty*: the release of fill j
  /// ends phase (j + releaseLag) / S.
  int64_t releaseLag = 0;

  bool belongsTo(mlir::scf::ForOp loop) const;
};

/// The states of one ring: carried in its loops (several if one was peeled), computed elsewhere.
class PipelineStates {
public:
  /// `derivesFromBarriers`: may offsets of tiles be computed as multiples of the mbarriers' offset?
  /// That saves a variable of the loop, but needs a temporary register, which consumers beside a
  /// producer warp may not have while accumulators are in flight.
  PipelineStates(gpu::RingType ring, bool derivesFromBarriers)
      : stages_(ring.getStages()), derivesFromBarriers_(derivesFromBarriers) {}

  /// Carries states through a loop and returns the loop that replaces it. `releaseLag` is given if
  /// refills wait for releases.
  mlir::scf::ForOp carryThrough(mlir::scf::ForOp loop, NamedFills fills,
                                llvm::ArrayRef<int64_t> strides, bool hasPhases,
                                std::optional<int64_t> releaseLag);

  /// The offset of a fill's stage. `lead` is how far the fill is ahead of the iteration of `loop`,
  /// if known.
  mlir::Value offset(mlir::OpBuilder &b, mlir::scf::ForOp loop, std::optional<int64_t> lead,
                     mlir::Value fill, int64_t stride) const;

  /// The parity of the phase that a fill ends.
  mlir::Value fullParity(mlir::OpBuilder &b, mlir::scf::ForOp loop, std::optional<int64_t> lead,
                         mlir::Value fill) const;

  /// The parity that a refill waits for: of the phase that ends when the previous fill of its stage
  /// is released. The first fill of a stage waits for the phase before the first, which counts as
  /// over.
  mlir::Value emptyParity(mlir::OpBuilder &b, mlir::scf::ForOp loop, std::optional<int64_t> lead,
                          mlir::Value fill) const;

  bool carriesThrough(mlir::scf::ForOp loop) const;

private:
  const LoopState *stateOf(mlir::scf::ForOp loop) const;

  /// The stage of fill i + lead, provided that fill i has stage 0.
  int64_t stageOf(int64_t lead) const { return (lead % stages_ + stages_) % stages_; }

  bool followsFrom(int64_t stride, int64_t carried) const;
  llvm::SmallVector<int64_t> carriedOf(llvm::ArrayRef<int64_t> strides) const;

  int64_t stages_;
  bool derivesFromBarriers_;
  llvm::SmallVector<LoopState> loops_;
};

} // namespace tile::passes
