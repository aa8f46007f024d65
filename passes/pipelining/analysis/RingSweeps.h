// How many iterations of each loop RingProtocol follows, so that it ends soon for any nest.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile::passes {

/// Simulations with 0, 1, 2, ... `most` iterations of the loops that it varies.
struct RingSweep {
  int64_t most;
  mlir::scf::ForOp varied; ///< null: all loops whose bodies acquire fills

  /// Any other loop executes twice at most, which shows what one iteration leaves to the next.
  int64_t iterationsOf(mlir::scf::ForOp loop, int64_t iterations) const;
};

/// The sweeps that use each stage of each ring twice: one that varies all loops together, or one
/// per loop if those would be too many iterations. Fills are numbered per loop, so little escapes
/// the latter. None, with an error of the user's, if even these are too many; none if there are no
/// rings.
mlir::FailureOr<llvm::SmallVector<RingSweep>> sweepsOf(mlir::func::FuncOp function);

/// Does an operation, or one inside it, take a ring?
bool touchesRings(mlir::Operation *op);

} // namespace tile::passes
