#include "passes/analysis/LayoutInference.h"

#include "ir/Annotations.h"
#include "ir/layout/Derived.h"
#include "ir/layout/Exchange.h"
#include "ir/layout/Reduce.h"
#include "ir/layout/Scan.h"

using namespace mlir;

namespace tile::passes {

/// Vector length of layouts that no access decides.
static constexpr int64_t kDefaultVector = 4;

static layout::Shape tileShape(RankedTensorType tile) {
  return layout::Shape(tile.getShape().begin(), tile.getShape().end());
}

bool isElementwiseOnTiles(Operation *op) {
  return (op->hasTrait<OpTrait::Elementwise>() || isa<ir::AddPtrOp, ir::FactsOp>(op)) &&
         op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType());
}

// Where mirroring a tile moves nothing between warps.
static layout::Layout mirrored(const layout::Layout &source, ir::FlipOp flip) {
  auto axis = static_cast<int>(flip.getAxis());
  return layout::exchangeable(source, axis, static_cast<int32_t>(source.pow2Shape()[axis] - 1));
}

gpu::LayoutAttr reducibleLayout(ir::ReduceOp reduce, gpu::LayoutAttr operand) {
  auto tile = cast<RankedTensorType>(reduce.getInputs()[0].getType());
  return gpu::attributeOf(reduce.getContext(),
                          layout::reducible(gpu::layoutOf(tile.getShape(), operand),
                                            static_cast<int>(reduce.getAxis())));
}

gpu::LayoutAttr resultLayout(Operation *op, gpu::LayoutAttr operand) {
  if (isElementwiseOnTiles(op))
    return operand;
  if (op->getNumOperands() == 0 || !isa<RankedTensorType>(op->getOperand(0).getType()))
    return {};
  MLIRContext *context = op->getContext();
  layout::Layout source =
      gpu::layoutOf(cast<RankedTensorType>(op->getOperand(0).getType()).getShape(), operand);
  if (auto permute = dyn_cast<ir::PermuteOp>(op))
    return gpu::attributeOf(context, layout::permute(source, permute.getOrder().vec()));
  if (auto expand = dyn_cast<ir::ExpandDimsOp>(op))
    return gpu::attributeOf(context, layout::expandDims(source, expand.getAxis()));
  if (auto reduce = dyn_cast<ir::ReduceOp>(op)) {
    if (source.rank() == 1)
      return {};
    source = layout::reducible(source, static_cast<int>(reduce.getAxis()));
    return gpu::attributeOf(context, layout::reduceAxis(source, reduce.getAxis()));
  }
  if (auto reshape = dyn_cast<ir::ReshapeOp>(op)) {
    auto result =
        layout::reshape(source, tileShape(cast<RankedTensorType>(reshape.getResult().getType())));
    return result ? gpu::attributeOf(context, *result) : gpu::LayoutAttr();
  }
  if (isa<ir::JoinOp>(op))
    return gpu::attributeOf(context, layout::joined(source));
  if (isa<ir::HalfOp>(op))
    return gpu::attributeOf(context, layout::reduceAxis(source, source.rank() - 1));
  if (auto flip = dyn_cast<ir::FlipOp>(op))
    return gpu::attributeOf(context, mirrored(source, flip));
  if (auto scan = dyn_cast<ir::ScanOp>(op))
    return gpu::attributeOf(context, layout::scannable(source, static_cast<int>(scan.getAxis())));
  return {};
}

gpu::LayoutAttr operandLayout(OpOperand &operand, gpu::LayoutAttr result) {
  Operation *op = operand.getOwner();
  if (isElementwiseOnTiles(op))
    return result;
  if (op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType()))
    return {};
  MLIRContext *context = op->getContext();
  auto resultType = cast<RankedTensorType>(op->getResult(0).getType());
  auto operandType = dyn_cast<RankedTensorType>(operand.get().getType());
  layout::Layout target = gpu::layoutOf(resultType.getShape(), result);
  if (auto expand = dyn_cast<ir::ExpandDimsOp>(op))
    return gpu::attributeOf(context, layout::reduceAxis(target, expand.getAxis()));
  if (isa<ir::BroadcastOp>(op)) {
    for (int64_t dim = 0; dim < resultType.getRank(); ++dim)
      if (operandType.getDimSize(dim) != resultType.getDimSize(dim))
        target = layout::collapse(target, dim);
    return gpu::attributeOf(context, target);
  }
  if (auto permute = dyn_cast<ir::PermuteOp>(op)) {
    std::vector<int32_t> inverse(permute.getOrder().size());
    for (auto [i, dim] : llvm::enumerate(permute.getOrder()))
      inverse[dim] = i;
    return gpu::attributeOf(context, layout::permute(target, inverse));
  }
  if (isa<ir::ReshapeOp>(op)) {
    auto source = layout::reshape(target, tileShape(operandType));
    return source ? gpu::attributeOf(context, *source) : gpu::LayoutAttr();
  }
  if (isa<ir::JoinOp>(op))
    return gpu::attributeOf(context, layout::reduceAxis(target, target.rank() - 1));
  if (isa<ir::HalfOp>(op))
    return gpu::attributeOf(context, layout::joined(target));
  if (auto flip = dyn_cast<ir::FlipOp>(op))
    return mirrored(target, flip) == target ? result : gpu::LayoutAttr();
  return {};
}

gpu::LayoutAttr defaultLayout(RankedTensorType tile, int64_t warps) {
  std::vector<int32_t> order;
  for (int32_t dim = tile.getRank(); dim-- > 0;)
    order.push_back(dim);
  return gpu::attributeOf(tile.getContext(),
                          layout::Layout::coalesced(tileShape(tile), order, kDefaultVector, warps));
}

gpu::LayoutAttr coalescedLayout(Operation *access, RankedTensorType tile, int64_t warps) {
  gpu::AccessAttr known = gpu::accessOf(access);
  if (!known)
    return defaultLayout(tile, warps);
  std::vector<int32_t> order = known.getOrder().vec();
  return gpu::attributeOf(tile.getContext(), layout::Layout::coalesced(tileShape(tile), order,
                                                                       known.getVector(), warps));
}

bool isSeparable(gpu::LayoutAttr layout) {
  auto rank = static_cast<size_t>(layout.getRank());
  SmallVector<int32_t> seen(rank, 0);
  for (ArrayRef<int32_t> vectors : {layout.getRegisters(), layout.getLanes(), layout.getWarps()})
    for (auto [i, step] : llvm::enumerate(vectors)) {
      if (seen[i % rank] & step)
        return false;
      seen[i % rank] |= step;
    }
  return true;
}

} // namespace tile::passes
