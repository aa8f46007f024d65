// How layouts go through operations on tiles, and what some ask for.
#pragma once

#include "ir/gpu/TileGpuAttrs.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace tile::gpu {

/// How much a layout is worth keeping: a product's accumulator cannot be elsewhere, an access would
/// be slower.
enum class Strength { None, Default, Access, Product };

/// A layout that is asked for.
struct LayoutClaim {
  LayoutAttr layout;
  Strength strength = Strength::None;
  /// Elements that a thread accesses as one full word; 0 if that is not how the access goes.
  int64_t wordElements = 0;

  /// Of two accesses by words the one of wider elements counts: narrower ones in its layout still
  /// use whole sectors; the other way round each of its accesses would skip half of them or more.
  bool operator>(const LayoutClaim &other) const {
    if (strength != other.strength)
      return strength > other.strength;
    return wordElements > 0 && wordElements < other.wordElements;
  }
};

/// Is the operation elementwise on tiles: operands and results all in one layout?
bool isElementwiseOnTiles(mlir::Operation *op);

/// LayoutOp's answers, for elementwise operations too.
LayoutAttr resultLayout(mlir::Operation *op, LayoutAttr source);
LayoutAttr operandLayout(mlir::OpOperand &operand, LayoutAttr result);
bool takesAnyLayout(mlir::OpOperand &operand);

/// A row-major layout for tiles nothing else decides.
LayoutAttr defaultLayout(mlir::RankedTensorType tile, int64_t warps);

/// The layout of an access as `tilegpu.access` describes it, else the default one.
LayoutAttr coalescedLayout(mlir::Operation *access, mlir::RankedTensorType tile, int64_t warps);

/// Does each bit of a coordinate come from one bit of register, lane or warp number? Only then is
/// an address the sum of what thread and register contribute, as accesses to global memory take it;
/// layouts for mirrored tiles are not like that.
bool isSeparable(LayoutAttr layout);

} // namespace tile::gpu

#include "ir/LayoutOp.h.inc"
