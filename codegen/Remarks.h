// What a kernel asks for and does not get, or leaves undone, said before the passes take its form away.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile::codegen {

/// Emits a remark for each loop whose stages have no effect and for each output that is never stored to.
void emitRemarks(mlir::func::FuncOp kernel);

} // namespace tile::codegen
