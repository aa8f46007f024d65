// Layouts of a product's accumulator and operands, by variant.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "ir/layout/Fragments.h"

namespace tile::gpu {

/// Layouts of acc (and result), a and b. Without those of a and b the operands are read from shared
/// memory as they are used, and lie anyhow before.
struct DotLayouts {
  layout::Layout acc;
  std::optional<layout::Layout> a, b;
};

/// The layouts of a dot whose variant and warp grid are chosen; nothing if the shape does not allow
/// the variant.
std::optional<DotLayouts> layoutsOf(ir::DotOp dot);

/// Those by mma.sync with a K width (layout::operandALayout); nothing if the sizes do not allow it.
std::optional<DotLayouts> mmaLayouts(ir::DotOp dot, int64_t kWidth);

/// Is this a matrix product, in any of its forms? Operands are a, b and acc.
bool isDot(mlir::Operation *op);

/// Is the product's variant multiply-add?
bool isMultiplyAdd(ir::DotOp dot);

/// Is it wgmma?
bool isWgmma(ir::DotOp dot);

/// Does the product read this operand of it in shared memory, so that it takes no fragments of it?
bool readsSharedMemory(mlir::OpOperand &operand);

/// Is this value an operand (not the accumulator) of that dot?
bool isDotOperand(mlir::OpOperand &use);

} // namespace tile::gpu
