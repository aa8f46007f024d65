// What a kernel asks for and does not get, or leaves undone.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace tile::codegen {

/// What is said of an output, by its name in quotes or its number, that is never stored to.
std::string neverStored(const std::string &output);

/// Emits a remark for each output that is never stored to; before the passes take the kernel's form away.
void emitRemarks(mlir::func::FuncOp kernel);

/// Emits a remark for each loop that has fewer stages than it asked for, when the passes have decided.
void emitStageRemarks(mlir::func::FuncOp kernel);

} // namespace tile::codegen
