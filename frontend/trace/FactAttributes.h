// What is known of a kernel's arguments, as attributes of its function. They are set apart from the body: which tiles
// the kernel uses decides what the runtime looks for, so that most facts are known only after the trace.
#pragma once

#include "frontend/trace/Binding.h"

#include <mlir/Dialect/Func/IR/FuncOps.h>

#include <span>

namespace tile::frontend {

/// Replaces the facts of all arguments; what is unknown has no attribute.
void setFacts(mlir::func::FuncOp function, std::span<const ArgFacts> args);

/// Whether the function says that argument `index` is wide.
bool isWide(mlir::func::FuncOp function, int index);

} // namespace tile::frontend
