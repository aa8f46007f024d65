// Where the fills of a ring lie in its stages, and in which phase of a stage's barrier they come.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

#include <optional>

namespace tile::passes {

/// A loop whose passes two teams carry out in turn: behind each of its passes a team leaves out the fills of the other's, as many
/// as the pass has iterations. The warp that fills leaves out none.
struct PassesInTurn {
  mlir::Value isLast;     ///< Is an iteration the last of its pass?
  mlir::Value iterations; ///< of each pass
  mlir::scf::IfOp begin;  ///< what comes in the first of a pass; null if each is the first
  mlir::scf::IfOp end;    ///< what comes behind the last; null if nothing does
};

/// Nothing if nobody takes turns.
std::optional<PassesInTurn> passesInTurn(mlir::scf::ForOp loop);

/// The fills of a ring that iteration i of its loop names, as they are ahead of fill i: from the newest that it gets to the oldest,
/// whose stage it begins to fill again.
struct NamedFills {
  int64_t newest = 0, oldest = -1;
};

/// The places of a loop's fills: for each stage stride that is no multiple of another the distances of stages from the first, of the
/// fills that an iteration names, are carried as variables. That of the oldest is also that of the fill S behind it. So are parities
/// of the phases that the newest and the oldest of them end.
struct LoopPlaces {
  NamedFills fills;
  /// Of fills i + newest, i + newest - 1, ... i + oldest.
  llvm::MapVector<int64_t, llvm::SmallVector<mlir::BlockArgument>> byStride;
  mlir::BlockArgument parity;    ///< of fill i + newest
  mlir::BlockArgument oldParity; ///< of the release of fill i + oldest, if refills wait for that
  /// Iterations between a fill's and that which releases it, 0 or 1. If 1, iteration 0 releases "fill -1", which is phase 0
  /// of the last stage's releases: that of fill j ends phase (j + releaseLag) / S.
  int64_t releaseLag = 0;

  bool isOf(mlir::scf::ForOp loop) const;
};

/// The places of a ring's fills: carried round its loops (several if one was peeled), elsewhere computed from their numbers.
class PipelineState {
public:
  /// Where threads have no register left for a product in the making, `derivesFromBarriers` is false: places of tiles then do
  /// not follow from those of barriers.
  PipelineState(gpu::RingType ring, bool derivesFromBarriers)
      : stages_(ring.getStages()), derivesFromBarriers_(derivesFromBarriers) {}

  /// Begins to carry the places of some fills round a loop; its body moves to a new one, which is returned.
  /// `releaseLag` is given if refills wait for releases.
  mlir::scf::ForOp carryRound(mlir::scf::ForOp loop, NamedFills fills,
                              llvm::ArrayRef<int64_t> strides, bool hasPhases,
                              std::optional<int64_t> releaseLag);

  /// The distance for a fill, whose lead is how far it is ahead of the iteration of `loop`, if that is known.
  mlir::Value distance(mlir::OpBuilder &b, mlir::scf::ForOp loop, std::optional<int64_t> lead,
                       mlir::Value fill, int64_t stride) const;

  /// The parity of the phase that a fill ends.
  mlir::Value parity(mlir::OpBuilder &b, mlir::scf::ForOp loop, std::optional<int64_t> lead,
                     mlir::Value fill) const;

  /// The parity of the phase that a fill waits for: that which the release of its stage's fill before ends. Of the first
  /// fill of a stage it is the phase before the first, which has ended.
  mlir::Value parityOfRelease(mlir::OpBuilder &b, mlir::scf::ForOp loop,
                              std::optional<int64_t> lead, mlir::Value fill) const;

  /// Has carryRound begun to carry places round this loop?
  bool carriesRound(mlir::scf::ForOp loop) const;

private:
  const LoopPlaces *placesOf(mlir::scf::ForOp loop) const;

  /// The stage of fill i + lead where fill i lies in stage 0.
  int64_t stageOf(int64_t lead) const { return (lead % stages_ + stages_) % stages_; }

  /// Is a distance in stages of one stride computed from that of another?
  bool followsFrom(int64_t stride, int64_t carried) const;
  llvm::SmallVector<int64_t> carriedOf(llvm::ArrayRef<int64_t> strides) const;

  int64_t stages_;
  bool derivesFromBarriers_;
  llvm::SmallVector<LoopPlaces> loops_;
};

} // namespace tile::passes
