// Operands of products where the instructions take them: in shared memory, or in registers.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "ir/tile/TileDialect.h"

namespace tile::passes {

struct StagedOperand {
  mlir::Value value;
  /// Does its tile lie in shared memory with rows for columns? One stage serves products that take
  /// a tile either way.
  bool isTransposed = false;

  explicit operator bool() const { return value != nullptr; }
};

struct StagedOperands {
  StagedOperand a, b;
};

/// Memory as a matrix with rows for columns.
gpu::SmemType transposed(gpu::SmemType memory);

/// Begins a product by wgmma, or its part `range` of K; see gpu::DotAsyncOp.
gpu::DotAsyncOp beginDot(mlir::OpBuilder &builder, ir::DotOp dot, const StagedOperands &operands,
                         mlir::Value acc, mlir::Value reset = {},
                         mlir::DenseI64ArrayAttr range = {});

} // namespace tile::passes
