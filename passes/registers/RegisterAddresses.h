// Registers that an access of memory takes for where it goes: what is the same in all iterations of
// a loop is computed before it, so that it has registers as long as the loop runs.
#pragma once

#include "passes/registers/RegisterWords.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile::passes {

/// Words of the addresses of an operation that accesses global or shared memory; none of any other.
/// Those of shared memory are elastic: an exclusive or each.
Words addressWordsOf(mlir::Operation *op);

/// Words that a loop's accesses of views take for all iterations: their addresses, and whether each
/// position that does not move is inside.
Words accessWordsOf(mlir::Operation *loop);

/// Words that a kernel takes from its first to its last access outside loops, for whether positions
/// are inside that several of them ask about.
Words checkWordsOf(mlir::func::FuncOp kernel);

} // namespace tile::passes
