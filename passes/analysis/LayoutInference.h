// Layouts of results from layouts of operands and back, for every operation whose data does not move between threads.
// Derived from the algebra, in this one place.
#pragma once

#include "ir/LayoutAttr.h"
#include "ir/TileDialect.h"

namespace tile::passes {

/// Is the operation elementwise on tiles: operands and results all in one layout?
bool isElementwiseOnTiles(mlir::Operation *op);

/// The layout in which a reduction of tiles that are laid out as `operand` takes them.
gpu::LayoutAttr reducibleLayout(ir::ReduceOp reduce, gpu::LayoutAttr operand);

/// The layout of an operation's tile results when its operands have this layout and nothing moves. Null if the operation
/// is none of those, or the algebra refuses.
gpu::LayoutAttr resultLayout(mlir::Operation *op, gpu::LayoutAttr operandLayout);

/// The layout an operand must have for the result to have `result` and nothing to move. Null as above.
gpu::LayoutAttr operandLayout(mlir::OpOperand &operand, gpu::LayoutAttr result);

/// A row-major layout for tiles nothing else decides.
gpu::LayoutAttr defaultLayout(mlir::RankedTensorType tile, int64_t warps);

/// The layout of an access as `tilegpu.access` describes it, else the default one.
gpu::LayoutAttr coalescedLayout(mlir::Operation *access, mlir::RankedTensorType tile,
                                int64_t warps);

/// Does each bit of a coordinate come from one bit of register, lane or warp number? Only then is an address the sum of what
/// thread and register contribute, as accesses to global memory take it; layouts for mirrored tiles are not like that.
bool isSeparable(gpu::LayoutAttr layout);

} // namespace tile::passes
