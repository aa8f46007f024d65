// Loads of a loop's body that products depend on: one ring brings them all, so that they can run
// ahead of the loop.
#pragma once

#include "passes/staging/StagedOperand.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"

namespace tile::passes {

/// Where operands of products lie in shared memory: (product, number of the operand) to a tile
/// there.
using OperandsOfLoops = llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, StagedOperand>;

/// Replaces the loads of a loop that products of its body depend on, and that may run ahead, by a
/// ring of one stage: acquire, copies (or loads and puts), commit and get at the top of the body,
/// release at its end. Products by tensor cores read their fragments from it; those by multiply-add
/// are returned, their operands still to be replaced. An error where the program demands a way to
/// copy that memory as the readers need it refuses. What is loaded twice, once with rows for
/// columns, comes once.
mlir::FailureOr<OperandsOfLoops> promoteLoads(mlir::scf::ForOp loop);

} // namespace tile::passes
