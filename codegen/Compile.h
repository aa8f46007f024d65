// Compilation as a pure function: a traced kernel in, PTX and what a launch must know out. Thread-safe: everything it
// touches belongs to the module's own context.
#pragma once

#include "codegen/CompiledKernel.h"
#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace tile::codegen {

/// Compiles the module's one kernel. The module is consumed. On failure the reasons are in `diagnostics`.
mlir::FailureOr<CompiledKernel> compile(mlir::ModuleOp module, const CompileOptions &options,
                                        std::vector<Diagnostic> &diagnostics);

} // namespace tile::codegen
