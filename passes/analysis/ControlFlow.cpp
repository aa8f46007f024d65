#include "passes/analysis/ControlFlow.h"

#include "ir/UserError.h"

using namespace mlir;

namespace tile::passes {

LogicalResult verifyOneBlock(func::FuncOp function) {
  if (function.isExternal() || function.getBody().hasOneBlock())
    return success();
  return ir::userError(function.emitOpError(), ErrorCode::Unsupported)
         << "has " << function.getBody().getBlocks().size()
         << " blocks; a kernel's control flow is scf.for, scf.if and scf.while";
}

} // namespace tile::passes
