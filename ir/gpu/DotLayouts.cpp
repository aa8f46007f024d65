#include "ir/gpu/DotLayouts.h"

#include "ir/LayoutAttr.h"
#include "ir/annotations/DotAnnotations.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/annotations/VariantAnnotations.h"
#include "ir/instructions/Mma.h"
#include "ir/instructions/Wgmma.h"
#include "ir/layout/MultiplyAdd.h"

using namespace mlir;

namespace tile::gpu {

bool isDotOperand(OpOperand &use) {
  return isa<ir::DotOp>(use.getOwner()) && use.getOperandNumber() < 2;
}

bool isDot(Operation *op) { return isa<ir::DotOp, SmemDotOp, DotAsyncOp>(op); }

bool isWgmma(ir::DotOp dot) { return dotVariantOf(dot) == DotVariant::Wgmma; }

bool isMultiplyAdd(ir::DotOp dot) {
  return dotVariantOf(dot) != DotVariant::MmaSync && !isWgmma(dot);
}

bool readsSharedMemory(OpOperand &operand) {
  auto dot = cast<ir::DotOp>(operand.getOwner());
  bool isOfRegisters = operand.getOperandNumber() == 0 && takesAFromRegisters(dot);
  return isMultiplyAdd(dot) || (isWgmma(dot) && !isOfRegisters);
}

static layout::WarpGrid gridOf(ir::DotOp dot) {
  WarpGridAttr grid = warpGridOf(dot);
  return grid ? layout::WarpGrid{grid.getRows(), grid.getColumns(), grid.getBatch()}
              : layout::WarpGrid{};
}

std::optional<DotLayouts> mmaLayouts(ir::DotOp dot, int64_t kWidth) {
  auto mma = ir::findMma(dot);
  if (!mma)
    return std::nullopt;
  auto [batch, m, n, k] = dot.getSizes();
  layout::WarpGrid grid = gridOf(dot);
  auto acc = layout::accumulatorLayout(mma->shape, m, n, grid);
  auto left = layout::operandALayout(mma->shape, m, k, grid, nullptr, kWidth);
  auto right = layout::operandBLayout(mma->shape, k, n, grid, nullptr, kWidth);
  if (!acc || !left || !right)
    return std::nullopt;
  if (dot.isBatched())
    for (auto *matrix : {&acc, &left, &right})
      *matrix = layout::batched(**matrix, batch, grid.b);
  return DotLayouts{*acc, *left, *right};
}

// A warpgroup has 64 rows, while the grid counts warps.
static std::optional<DotLayouts> wgmmaLayouts(ir::DotOp dot) {
  auto [batch, m, n, k] = dot.getSizes();
  layout::WarpGrid grid = gridOf(dot);
  if (dot.isBatched() || grid.b != 1 || grid.m % ir::kWarpsPerWarpgroup)
    return std::nullopt;
  layout::WarpGrid groups = {grid.m / static_cast<int>(ir::kWarpsPerWarpgroup), grid.n};
  auto acc = layout::wgmmaAccumulatorLayout(m, n, groups);
  if (!acc || !takesAFromRegisters(dot))
    return acc ? std::optional(DotLayouts{*acc, std::nullopt, std::nullopt}) : std::nullopt;
  auto bits = static_cast<int>(8 * bytesOf(ir::elementTypeOf(dot.getA().getType())));
  auto left = layout::wgmmaOperandALayout(bits, m, k, groups);
  return left ? std::optional(DotLayouts{*acc, *left, std::nullopt}) : std::nullopt;
}

std::optional<DotLayouts> layoutsOf(ir::DotOp dot) {
  if (isWgmma(dot))
    return wgmmaLayouts(dot);
  if (!isMultiplyAdd(dot))
    return mmaLayouts(dot, kWidthOf(dot));
  ArrayRef<int64_t> shape = ir::shapeOf(dot.getAcc().getType());
  int64_t bytes = bytesOf(ir::elementTypeOf(dot.getB().getType()));
  return DotLayouts{layout::multiplyAddAccumulator(layout::Shape(shape.begin(), shape.end()),
                                                   gridOf(dot),
                                                   static_cast<int>(std::max<int64_t>(bytes, 4))),
                    std::nullopt, std::nullopt};
}

} // namespace tile::gpu
