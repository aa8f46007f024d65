#include "passes/analysis/DotLayouts.h"

#include "ir/Annotations.h"
#include "ir/LayoutAttr.h"
#include "ir/Mma.h"
#include "ir/layout/MultiplyAdd.h"
#include "passes/analysis/AxisInfo.h"

using namespace mlir;

namespace tile::passes {

bool isDotOperand(OpOperand &use) {
  return isa<ir::DotOp>(use.getOwner()) && use.getOperandNumber() < 2;
}

bool isMultiplyAdd(ir::DotOp dot) { return gpu::variantOf(dot) != gpu::VariantKind::MmaSync; }

// The batch is shared first, since its matrices have nothing in common. Then the longer side of a warp's tile is halved
// until all warps have one, so that each reads as little of a and b as possible.
void chooseWarpGrid(ir::DotOp dot) {
  ir::DotOp::Sizes sizes = dot.getSizes();
  auto mma = isMultiplyAdd(dot) ? std::nullopt : ir::findMma(dot);
  int64_t rowRoom = powerOfTwoDivisor(sizes.m) / (mma ? mma->shape.m : 1),
          columnRoom = powerOfTwoDivisor(sizes.n) / (mma ? mma->shape.n : 1);
  int64_t ofBatch = std::min(powerOfTwoDivisor(sizes.batch), ir::warpsOf(dot)),
          warps = ir::warpsOf(dot) / ofBatch;
  int32_t m = 1, n = 1;
  while (int64_t(m) * n < warps) {
    bool canSplitRows = m < rowRoom, canSplitColumns = n < columnRoom;
    bool rowsAreLonger = sizes.m / m >= sizes.n / n;
    if (canSplitRows && (rowsAreLonger || !canSplitColumns))
      m *= 2;
    else if (canSplitColumns)
      n *= 2;
    else
      m *= 2; // more warps than tiles: the rest compute the same
  }
  gpu::setWarpGrid(dot, m, n, static_cast<int32_t>(ofBatch));
}

static layout::WarpGrid gridOf(ir::DotOp dot) {
  gpu::WarpGridAttr grid = gpu::warpGridOf(dot);
  return grid ? layout::WarpGrid{grid.getRows(), grid.getColumns(), grid.getBatch()}
              : layout::WarpGrid{};
}

static std::optional<DotLayouts> mmaLayouts(ir::DotOp dot) {
  auto mma = ir::findMma(dot);
  if (!mma)
    return std::nullopt;
  auto [batch, m, n, k] = dot.getSizes();
  layout::WarpGrid grid = gridOf(dot);
  auto acc = layout::accumulatorLayout(mma->shape, m, n, grid);
  auto left = layout::operandALayout(mma->shape, m, k, grid);
  auto right = layout::operandBLayout(mma->shape, k, n, grid);
  if (!acc || !left || !right)
    return std::nullopt;
  if (dot.isBatched())
    for (auto *matrix : {&acc, &left, &right})
      *matrix = layout::batched(**matrix, batch, grid.b);
  return DotLayouts{*acc, *left, *right};
}

std::optional<DotLayouts> layoutsOf(ir::DotOp dot) {
  if (!isMultiplyAdd(dot))
    return mmaLayouts(dot);
  ArrayRef<int64_t> shape = ir::shapeOf(dot.getAcc().getType());
  int64_t bytes = gpu::bytesOf(ir::elementTypeOf(dot.getB().getType()));
  return DotLayouts{layout::multiplyAddAccumulator(layout::Shape(shape.begin(), shape.end()),
                                                   gridOf(dot),
                                                   static_cast<int>(std::max<int64_t>(bytes, 4))),
                    std::nullopt, std::nullopt};
}

} // namespace tile::passes
