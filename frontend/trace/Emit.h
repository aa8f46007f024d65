// From the recorded graph to MLIR: a module with one function, built in the order that Ordering
// decided.
#pragma once

#include "frontend/trace/Trace.h"

#include <mlir/IR/BuiltinOps.h>
#include <mlir/IR/OwningOpRef.h>

namespace tile::frontend {

/// The module of a finished trace. It is not verified yet.
mlir::OwningOpRef<mlir::ModuleOp> emitModule(const Trace &trace, mlir::MLIRContext &context);

} // namespace tile::frontend
