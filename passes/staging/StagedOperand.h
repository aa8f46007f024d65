// Operands of dots where the instructions take them: in shared memory, or in registers.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "ir/tile/TileDialect.h"

namespace tile::passes {

struct StagedOperand {
  mlir::Value value;
  /// Is the tile transposed in shared memory? One stage serves dots that take a tile either way.
  bool isTransposed = false;

  explicit operator bool() const { return value != nullptr; }
};

struct StagedOperands {
  StagedOperand a, b;
};

/// The type of a matrix in shared memory, transposed.
gpu::SmemType transposed(gpu::SmemType memory);

/// Issues a wgmma, or its range of K; see gpu::DotAsyncOp.
gpu::DotAsyncOp beginDot(mlir::OpBuilder &builder, ir::DotOp dot, const StagedOperands &operands,
                         mlir::Value acc, mlir::Value reset = {},
                         mlir::DenseI64ArrayAttr range = {});

} // namespace tile::passes
