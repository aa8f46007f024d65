// What passes tell each other of dots: how warps share the result, and where operands lie.
#pragma once

#include "ir/gpu/TileGpuDialect.h"

namespace tile::gpu {

/// How the warps share the result of a dot; null before SelectVariants.
WarpGridAttr warpGridOf(mlir::Operation *dot);
void setWarpGrid(mlir::Operation *dot, int32_t rows, int32_t columns, int32_t batch);

/// Does a wgmma take A from registers? Else both operands lie in shared memory.
bool takesAFromRegisters(mlir::Operation *dot);
void setTakesAFromRegisters(mlir::Operation *dot);

/// Is an operand of a wgmma K-major in shared memory (else M-major or N-major)? Nothing before
/// SelectVariants, which decides by the load of the operand, since passes that stage loads replace
/// it.
std::optional<bool> isKMajor(mlir::OpOperand &operand);
void setKMajor(mlir::Operation *dot, bool a, bool b);
/// For a dot that reads its operands where they were put.
void removeKMajor(mlir::Operation *dot);

/// The elements along K that a lane loads straight into the fragment of an operand; 0 if it goes
/// another way.
int64_t kWidthOf(mlir::Operation *dot);
void setKWidth(mlir::Operation *dot, int64_t elements);

} // namespace tile::gpu
