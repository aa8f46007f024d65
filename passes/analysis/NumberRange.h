// Between which numbers a scalar integer of a kernel lies, as far as its operations tell.
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/IR/ConstantRange.h"

namespace tile::passes {

/// The numbers that `value`, of an integer type, may be. Operations wrap, as they do when they are
/// carried out; extents and numbers of programs are 0 or more. Before and after LowerViews.
llvm::ConstantRange rangeOf(mlir::Value value);

/// Is `a`, as a signed number, known to be `b` or more?
bool isNeverBelow(mlir::Value a, mlir::Value b);

} // namespace tile::passes
