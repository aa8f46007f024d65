// From the LLVM dialect to PTX text.
#pragma once

#include "ir/Target.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace tile::codegen {

/// The two texts of the last stages.
struct EmittedPtx {
  std::string llvmIr; ///< optimised, as handed to the back end
  std::string ptx;
};

/// Translates, optimises and emits. Failures are diagnostics on the module.
mlir::FailureOr<EmittedPtx> emitPtx(mlir::ModuleOp module, const ir::Target &target,
                                    bool keepLlvmIr);

} // namespace tile::codegen
