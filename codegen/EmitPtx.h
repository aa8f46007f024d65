// From the LLVM dialect to PTX text.
#pragma once

#include "codegen/PassRunner.h"
#include "ir/target/Target.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace tile::codegen {

/// The two texts of the last stages.
struct EmittedPtx {
  std::string llvmIr; ///< optimised, as handed to the back end
  std::string ptx;
};

/// Translates, optimises and emits, and appends the time of each step. With `allowFusion` a * b + c may become one
/// operation. Failures are diagnostics on the module.
mlir::FailureOr<EmittedPtx> emitPtx(mlir::ModuleOp module, const ir::Target &target,
                                    const CompileOptions &options, bool allowFusion,
                                    passes::PassSwitches &switches, Timings &timings);

} // namespace tile::codegen
