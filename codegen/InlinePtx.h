// Inline PTX: the one place that builds it, and the spelling of register lists.
#pragma once

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <string>

namespace tile::codegen {

/// An instruction without effects, such as arithmetic: it may be moved, merged and removed.
mlir::Value inlinePtx(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef text,
                      llvm::StringRef constraints, mlir::Type result, mlir::ValueRange operands);

/// An instruction that accesses memory: it keeps its place among other accesses.
mlir::LLVM::InlineAsmOp inlineMemoryPtx(mlir::OpBuilder &b, mlir::Location loc,
                                        llvm::StringRef text, llvm::StringRef constraints,
                                        mlir::Type result, mlir::ValueRange operands);

/// "{$2, $3, $4}" for three operands from $2 on; "$2" for one.
std::string operandList(size_t first, size_t count);

} // namespace tile::codegen
