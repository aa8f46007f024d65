// What passes tell each other of dots: how warps share the result, and where operands lie.
#pragma once

#include "ir/gpu/TileGpuDialect.h"

namespace tile::gpu {

/// How the warps share a product's result; null before SelectVariants.
WarpGridAttr warpGridOf(mlir::Operation *dot);
void setWarpGrid(mlir::Operation *dot, int32_t rows, int32_t columns, int32_t batch);

/// Does a product by wgmma take A from registers? Else both operands lie in shared memory.
bool takesAFromRegisters(mlir::Operation *dot);
void setTakesAFromRegisters(mlir::Operation *dot);

/// Are neighbours of an operand of a product by wgmma in shared memory neighbours along K (or along
/// M or N)? Nothing before SelectVariants, which decides by the load that the operand comes from:
/// passes that stage loads replace it.
std::optional<bool> isKMajor(mlir::OpOperand &operand);
void setKMajor(mlir::Operation *dot, bool a, bool b);
/// For a product that reads its operands where they were put.
void removeKMajor(mlir::Operation *dot);

/// Elements along K that a lane has as neighbours of a product's factors, which it loads straight
/// into their fragments; 0 of others.
int64_t kWidthOf(mlir::Operation *dot);
void setKWidth(mlir::Operation *dot, int64_t elements);

} // namespace tile::gpu
