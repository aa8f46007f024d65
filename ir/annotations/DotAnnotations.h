// The protocol between passes on dots: how warps divide the result, and where operands are.
#pragma once

#include "ir/gpu/TileGpuDialect.h"

namespace tile::gpu {

/// How the warps divide a dot's result; null before SelectVariants.
WarpGridAttr warpGridOf(mlir::Operation *dot);
void setWarpGrid(mlir::Operation *dot, int32_t rows, int32_t columns, int32_t batch);

/// Does a wgmma take A from registers? Else both operands are in shared memory.
bool takesAFromRegisters(mlir::Operation *dot);
void setTakesAFromRegisters(mlir::Operation *dot);

/// Is an operand of a wgmma K-major in shared memory, or else M- or N-major? Nothing before
/// SelectVariants. It is kept here because SelectVariants decides by the load of the operand, which
/// later passes replace.
std::optional<bool> isKMajor(mlir::OpOperand &operand);
void setKMajor(mlir::Operation *dot, bool a, bool b);
/// For a dot that reads its operands where they were put.
void removeKMajor(mlir::Operation *dot);

/// For operands that a lane loads from memory straight into its fragments: the adjacent elements
/// along K per lane; else 0.
int64_t kWidthOf(mlir::Operation *dot);
void setKWidth(mlir::Operation *dot, int64_t elements);

} // namespace tile::gpu
