// Declarations of the passes of code generation; what each guarantees is said in Passes.td.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tile::codegen {

/// On the scalar function of a kernel: threads of a block.
inline constexpr llvm::StringLiteral kThreadsAttr = "tile.threads";

#define GEN_PASS_DECL
#include "codegen/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "codegen/Passes.h.inc"

} // namespace tile::codegen
