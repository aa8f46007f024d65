#include "passes/DotLayouts.h"

#include "ir/LayoutAttr.h"
#include "ir/layout/Derived.h"
#include "passes/analysis/AxisInfo.h"
#include "passes/variants/Variants.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace tile::passes {

int64_t warpsOf(Operation *op) {
  auto function =
      isa<func::FuncOp>(op) ? cast<func::FuncOp>(op) : op->getParentOfType<func::FuncOp>();
  auto warps = function ? function->getAttrOfType<IntegerAttr>(ir::kWarpsAttr) : IntegerAttr();
  return warps ? warps.getInt() : 4;
}

bool isDotOperand(OpOperand &use) {
  return isa<ir::DotOp>(use.getOwner()) && use.getOperandNumber() < 2;
}

// Halves the longer side of a warp's tile until all warps have one, so that each reads as little of a and b as possible.
void chooseWarpGrid(ir::DotOp dot) {
  auto acc = cast<RankedTensorType>(dot.getAcc().getType());
  int64_t warps = warpsOf(dot), rows = acc.getDimSize(0), columns = acc.getDimSize(1);
  bool isMma = dot->getAttrOfType<StringAttr>(gpu::kVariantAttr).getValue() == kVariantMmaSync;
  int64_t rowUnit = isMma ? 16 : 1, columnUnit = isMma ? 8 : 1;
  int64_t rowRoom = powerOfTwoDivisor(rows) / rowUnit,
          columnRoom = powerOfTwoDivisor(columns) / columnUnit;
  int32_t m = 1, n = 1;
  while (int64_t(m) * n < warps) {
    bool canSplitRows = m < rowRoom, canSplitColumns = n < columnRoom;
    bool rowsAreLonger = rows / m >= columns / n;
    if (canSplitRows && (rowsAreLonger || !canSplitColumns))
      m *= 2;
    else if (canSplitColumns)
      n *= 2;
    else
      m *= 2; // more warps than tiles: the rest compute the same
  }
  dot->setAttr(kWarpGridAttr, OpBuilder(dot).getDenseI32ArrayAttr({m, n}));
}

static layout::WarpGrid gridOf(ir::DotOp dot) {
  auto grid = dot->getAttrOfType<DenseI32ArrayAttr>(kWarpGridAttr);
  return grid ? layout::WarpGrid{grid[0], grid[1]} : layout::WarpGrid{};
}

static layout::Shape tileShape(Value tile) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tile.getType()).getShape();
  return layout::Shape(shape.begin(), shape.end());
}

static std::optional<DotLayouts> mmaLayouts(ir::DotOp dot) {
  layout::Shape a = tileShape(dot.getA()), b = tileShape(dot.getB());
  unsigned bits = ir::elementTypeOf(dot.getA().getType()).getIntOrFloatBitWidth();
  std::optional<layout::MmaShape> mma = layout::MmaShape::forElementBits(bits);
  if (!mma)
    return std::nullopt;
  auto acc = layout::accumulatorLayout(*mma, a[0], b[1], gridOf(dot));
  auto left = layout::operandALayout(*mma, a[0], a[1], gridOf(dot));
  auto right = layout::operandBLayout(*mma, b[0], b[1], gridOf(dot));
  if (!acc || !left || !right)
    return std::nullopt;
  return DotLayouts{*acc, *left, *right};
}

// Each thread computes a row of up to 4 columns; lanes run along the columns first, as far as there are any.
static DotLayouts fmaLayouts(ir::DotOp dot) {
  layout::Shape acc = tileShape(dot.getAcc());
  int64_t inner = tileShape(dot.getA())[1];
  layout::WarpGrid grid = gridOf(dot);
  int64_t width = std::max<int64_t>(1, powerOfTwoDivisor(acc[1]) / grid.n);
  int64_t perThread = std::clamp<int64_t>(width / 8, 1, 4);
  int64_t lanesAlongColumns = std::min<int64_t>(8, width / perThread);
  layout::BlockedSpec spec{
      {1, perThread}, {32 / lanesAlongColumns, lanesAlongColumns}, {grid.m, grid.n}, {1, 0}};
  layout::Layout result = layout::Layout::blocked(acc, spec);
  auto rows = layout::expandDims(layout::reduceAxis(result, 1), 1);
  auto columns = layout::expandDims(layout::reduceAxis(result, 0), 0);
  return {result, layout::broadcast(rows, 1, inner), layout::broadcast(columns, 0, inner)};
}

std::optional<DotLayouts> layoutsOf(ir::DotOp dot) {
  auto variant = dot->getAttrOfType<StringAttr>(gpu::kVariantAttr);
  if (variant && variant.getValue() == kVariantMmaSync)
    return mmaLayouts(dot);
  return fmaLayouts(dot);
}

} // namespace tile::passes
