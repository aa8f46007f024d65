// Compilation as a pure function: a traced kernel in, PTX and what a launch must know out. Thread-safe: everything it
// touches belongs to the module's own context.
#pragma once

#include "codegen/CompileOptions.h"
#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace tile::codegen {

/// Compiles the module's one kernel. The module is consumed. On failure the reasons are in `diagnostics`.
mlir::FailureOr<CompiledKernel> compile(mlir::ModuleOp module, const CompileOptions &options,
                                        std::vector<Diagnostic> &diagnostics);

/// Whether a failed compile's first error is one that the kernel's author can mend; all others are faults of the
/// compiler, and `diagnostics` ends with a note that says how to see them again.
bool isUserError(const std::vector<Diagnostic> &diagnostics);

} // namespace tile::codegen
