// Loads of a loop's body that dots depend on: one ring holds them all, so that they can run ahead.
#pragma once

#include "passes/staging/StagedOperand.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"

namespace tile::passes {

/// Operands in shared memory: (dot, number of the operand) to a tile there.
using OperandsOfLoops = llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, StagedOperand>;

/// Replaces the loads of a loop that dots of its body depend on, and that may run ahead, by a ring
/// of one stage: acquire, copies (or loads and puts), commit and wait at the top of the body,
/// release at its end. Dots by tensor cores read their fragments from it; those by multiply-add are
/// returned, with operands still to be replaced. Emits an error if the program demands a kind of
/// copy that cannot write the memory that the readers need. A tile that is loaded twice, once
/// transposed, is loaded once.
mlir::FailureOr<OperandsOfLoops> promoteLoads(mlir::scf::ForOp loop);

} // namespace tile::passes
