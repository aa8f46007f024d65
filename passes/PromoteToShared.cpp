// PromoteToShared: operands of products reach their fragment layouts through shared memory. Each becomes a ring of one
// slot: `put` writes the tile as it was loaded, `get` names the slot, and a load from it delivers the fragments. The
// swizzle lets both sides pass without bank conflicts, and a transposed operand needs no transpose of its own.
#include "passes/Passes.h"

#include "ir/LayoutAttr.h"
#include "ir/layout/SharedAccess.h"
#include "passes/DotLayouts.h"

namespace tile::passes {
#define GEN_PASS_DEF_PROMOTETOSHARED
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

// Dimensions from the fastest in the registers that write the tile: its rows in shared memory run the same way.
std::vector<int32_t> orderOf(gpu::LayoutAttr layout) {
  int32_t rank = layout.getRank(), fastest = rank - 1;
  ArrayRef<int32_t> first =
      layout.getRegisters().empty() ? layout.getLanes() : layout.getRegisters();
  for (int32_t dim = 0; dim < rank && first.size() >= static_cast<size_t>(rank); ++dim)
    if (first[dim] == 1)
      fastest = dim;
  std::vector<int32_t> order = {fastest};
  for (int32_t dim = rank; dim-- > 0;)
    if (dim != fastest)
      order.push_back(dim);
  return order;
}

gpu::SmemType stagingType(RankedTensorType tile) {
  layout::Shape shape(tile.getShape().begin(), tile.getShape().end());
  auto shared = layout::SharedLayout::swizzled(
      shape, orderOf(gpu::encodingOf(tile)), static_cast<int>(gpu::bytesOf(tile.getElementType())));
  return gpu::SmemType::get(tile.getContext(), tile.getShape(), tile.getElementType(),
                            gpu::attributeOf(tile.getContext(), shared));
}

struct PromoteToShared : passes::impl::PromoteToSharedBase<PromoteToShared> {
  void runOnOperation() final {
    SmallVector<ir::DotOp> dots;
    getOperation().walk([&](ir::DotOp dot) { dots.push_back(dot); });
    for (ir::DotOp dot : dots)
      stageOperands(dot);
  }

  struct Staged {
    gpu::ConvertLayoutOp change;
    Value ring, slot;
  };

  // Both puts come before both loads, so that one barrier serves them.
  void stageOperands(ir::DotOp dot) {
    SmallVector<Staged> staged;
    for (Value operand : {dot.getA(), dot.getB()})
      if (auto change = operand.getDefiningOp<gpu::ConvertLayoutOp>())
        if (llvm::none_of(staged, [&](const Staged &other) { return other.change == change; }))
          staged.push_back(put(change, dot));
    for (Staged &stage : staged)
      get(stage, dot);
  }

  // Beside the product if the change happens there, so that global loads go first; else where it stood.
  Operation *placeOf(gpu::ConvertLayoutOp change, ir::DotOp dot) {
    return change->getBlock() == dot->getBlock() ? dot.getOperation() : change.getOperation();
  }

  Staged put(gpu::ConvertLayoutOp change, ir::DotOp dot) {
    auto source = cast<RankedTensorType>(change.getInput().getType());
    OpBuilder top = OpBuilder::atBlockBegin(&getOperation().getBody().front());
    Location loc = change.getInput().getLoc();
    auto ringType = gpu::RingType::get(&getContext(), 1, stagingType(source));
    Value ring = gpu::RingAllocOp::create(top, loc, ringType);
    OpBuilder builder(placeOf(change, dot));
    Value slot = arith::ConstantIntOp::create(builder, loc, 0, 32);
    gpu::RingPutOp::create(builder, loc, change.getInput(), ring, slot);
    return {change, ring, slot};
  }

  void get(Staged &stage, ir::DotOp dot) {
    OpBuilder builder(placeOf(stage.change, dot));
    Location loc = stage.change.getLoc();
    auto slotType = cast<gpu::RingType>(stage.ring.getType()).getSlotType();
    Value smem = gpu::RingGetOp::create(builder, loc, slotType, stage.ring, stage.slot);
    Value fragment =
        gpu::SmemLoadOp::create(builder, loc, stage.change.getResult().getType(), smem);
    gpu::RingReleaseOp::create(builder, loc, stage.ring, stage.slot);
    // A change with users before the product keeps them: they see the value in its own place.
    stage.change.getResult().replaceUsesWithIf(fragment, [&](OpOperand &use) {
      return use.getOwner() == dot || placeOf(stage.change, dot) == stage.change;
    });
    if (stage.change->use_empty())
      stage.change.erase();
  }
};

} // namespace

} // namespace tile::passes
