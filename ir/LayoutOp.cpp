#include "ir/LayoutOp.h"

#include "ir/LayoutAttr.h"
#include "ir/annotations/AccessAnnotations.h"

using namespace mlir;

#include "ir/LayoutOp.cpp.inc"

namespace tile::gpu {

/// Vector length of layouts that no access decides.
static constexpr int64_t kDefaultVector = 4;

static LayoutAttr coalesced(RankedTensorType tile, const std::vector<int32_t> &order,
                            int64_t vector, int64_t warps) {
  layout::Shape shape(tile.getShape().begin(), tile.getShape().end());
  return attributeOf(tile.getContext(), layout::Layout::coalesced(shape, order, vector, warps));
}

bool isElementwiseOnTiles(Operation *op) {
  return (op->hasTrait<OpTrait::Elementwise>() || isa<ir::AddPtrOp, ir::FactsOp>(op)) &&
         op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType());
}

LayoutAttr resultLayout(Operation *op, LayoutAttr source) {
  if (auto laid = dyn_cast<LayoutOp>(op))
    return laid.getResultLayout(source);
  return isElementwiseOnTiles(op) ? source : LayoutAttr();
}

LayoutAttr operandLayout(OpOperand &operand, LayoutAttr result) {
  if (auto laid = dyn_cast<LayoutOp>(operand.getOwner()))
    return laid.getOperandLayout(operand, result);
  return isElementwiseOnTiles(operand.getOwner()) ? result : LayoutAttr();
}

bool takesAnyLayout(OpOperand &operand) {
  auto laid = dyn_cast<LayoutOp>(operand.getOwner());
  return laid && laid.takesAnyLayout(operand);
}

LayoutAttr defaultLayout(RankedTensorType tile, int64_t warps) {
  std::vector<int32_t> order;
  for (int32_t dim = tile.getRank(); dim-- > 0;)
    order.push_back(dim);
  return coalesced(tile, order, kDefaultVector, warps);
}

LayoutAttr coalescedLayout(Operation *access, RankedTensorType tile, int64_t warps) {
  AccessAttr known = accessOf(access);
  return known ? coalesced(tile, known.getOrder().vec(), known.getVector(), warps)
               : defaultLayout(tile, warps);
}

bool isSeparable(LayoutAttr layout) {
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

} // namespace tile::gpu
