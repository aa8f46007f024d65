// Math functions in the forms PTX has: fast approximations of f32, with documented bounds.
#pragma once

namespace mlir {
class LLVMTypeConverter;
class RewritePatternSet;
} // namespace mlir

namespace tile::codegen {

/// Patterns that turn scalar `math` operations on f32 (and what is exact for other types) into LLVM and NVVM operations,
/// and `arith.divf` on f32 into the full-range approximate division.
void populateMathToPtxPatterns(const mlir::LLVMTypeConverter &converter,
                               mlir::RewritePatternSet &patterns);

} // namespace tile::codegen
