// The target that a pass is told by name.
#pragma once

#include "ir/target/Target.h"
#include "mlir/IR/Operation.h"

namespace tile::ir {

/// The row of the target table; else an error at `at` that lists the names there are.
mlir::FailureOr<Target> knownTarget(mlir::Operation *at, llvm::StringRef name);

} // namespace tile::ir
