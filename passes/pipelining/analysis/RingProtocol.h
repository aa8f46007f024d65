// The order of operations on rings: each fill is acquired, filled, committed, got and released, in
// that order, no stage is written before its readers are done with it, and nothing is copied that
// nobody will read.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile::passes {

/// Follows the fills of every ring of a function: with 0 iterations of each loop, with 1, 2, ...
/// until each stage has been used twice, and through each branch both ways.
class RingProtocol {
public:
  /// Emits an error, and is invalid, at the first operation that breaks the order.
  explicit RingProtocol(mlir::func::FuncOp function);

  bool isValid() const { return valid_; }

  /// How many fills at least have been committed after the one that is got here: copies of so many
  /// may still be on their way when this one's have arrived.
  int32_t laterFills(gpu::ConsumerWaitOp get) const { return later_.lookup(get); }

  /// Must all threads meet at an acquire, since nothing else shows that they have released the
  /// stage's fill before? In a ring that the copy engine alone fills; elsewhere they meet at each
  /// get.
  bool needsBarrierAt(gpu::ProducerAcquireOp acquire) const { return barriers_.contains(acquire); }

  /// The number of the fill that an operation is on, less the number of iterations that its loop
  /// has completed; nothing if that differs between iterations.
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

/// Does the copy engine alone fill a ring? Then a get waits for bytes, and threads do not meet
/// there.
bool isFilledByTma(gpu::RingAllocOp ring);

/// Is the order kept? A pass that makes or moves operations on rings asks at its end.
mlir::LogicalResult verifyRings(mlir::func::FuncOp function);

} // namespace tile::passes
