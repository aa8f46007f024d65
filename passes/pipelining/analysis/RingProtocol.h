// The protocol of rings: each fill is acquired, filled, committed, waited for and released, in that
// order; no stage is written before its readers are done; and nothing is copied that nobody reads.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile::passes {

/// Follows the fills of every ring of a function, as a model checker would: with 0, 1, 2, ...
/// iterations of each loop, until each stage has been used twice (RingSweeps.h), and through both
/// arms of each branch.
class RingProtocol {
public:
  /// Emits an error at the first operation that breaks the order, and is invalid then.
  explicit RingProtocol(mlir::func::FuncOp function);

  bool isValid() const { return valid_; }

  /// The least number of fills that are committed after the one that this waits for: that many
  /// groups of copies may still be in flight when this fill has arrived.
  int32_t laterFills(gpu::ConsumerWaitOp get) const { return later_.lookup(get); }

  /// Must all threads synchronize at an acquire, since nothing else orders it after the release of
  /// the stage's previous fill? Only in a ring that TMA alone fills; in others they synchronize at
  /// each wait.
  bool needsBarrierAt(gpu::ProducerAcquireOp acquire) const { return barriers_.contains(acquire); }

  /// The number of the fill less the number of completed iterations of the loop; nothing if that
  /// differs between iterations.
  std::optional<int64_t> leadOf(mlir::Operation *step) const {
    auto known = leads_.find(step);
    return known == leads_.end() ? std::nullopt : known->second;
  }

private:
  friend class RingSimulation;

  bool valid_ = true;
  llvm::DenseSet<mlir::Operation *> barriers_;
  llvm::DenseMap<mlir::Operation *, int32_t> later_;
  llvm::DenseMap<mlir::Operation *, std::optional<int64_t>> leads_;
};

/// Does TMA alone fill the ring? Then a wait counts bytes, and threads do not synchronize at it.
bool isFilledByTma(gpu::RingAllocOp ring);

/// Passes that create or move operations on rings end with this check.
mlir::LogicalResult verifyRings(mlir::func::FuncOp function);

} // namespace tile::passes
