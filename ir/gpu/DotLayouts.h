// Layouts of a dot's accumulator and operands, by variant.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "ir/layout/Fragments.h"

namespace tile::gpu {

/// Layouts of acc (and the result), a and b. An operand without a layout is read from shared
/// memory, so its layout in registers does not matter.
struct DotLayouts {
  layout::Layout acc;
  std::optional<layout::Layout> a, b;
};

/// The layouts of a dot whose variant and warp grid are chosen; nothing if the shape does not allow
/// the variant.
std::optional<DotLayouts> layoutsOf(ir::DotOp dot);

/// The layouts for mma.sync with a K width (layout::operandALayout); nothing if the sizes do not
/// allow it.
std::optional<DotLayouts> mmaLayouts(ir::DotOp dot, int64_t kWidth);

/// Is this a dot in any of its forms? The operands are a, b and acc.
bool isDot(mlir::Operation *op);

/// Is the variant multiply-add?
bool isMultiplyAdd(ir::DotOp dot);

bool isWgmma(ir::DotOp dot);

/// Does the dot read this operand from shared memory, and not as fragments in registers?
bool readsSharedMemory(mlir::OpOperand &operand);

/// Is this use an operand, not the accumulator, of a dot?
bool isDotOperand(mlir::OpOperand &use);

} // namespace tile::gpu
