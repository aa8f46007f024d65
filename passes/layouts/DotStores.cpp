#include "passes/layouts/DotStores.h"

#include "ir/LayoutAttr.h"
#include "ir/LayoutOp.h"
#include "ir/annotations/AccessAnnotations.h"
#include "ir/annotations/VariantAnnotations.h"
#include "ir/instructions/LayoutChange.h"
#include "ir/instructions/TensorStore.h"
#include "ir/layout/Derived.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tile::passes {

using gpu::ConvertLayoutOp;

// How threads hold the result of a change of shape if nothing moves; null if it cannot be said.
static gpu::LayoutAttr heldAfter(Operation *op, RankedTensorType operand) {
  if (auto expand =
          dyn_cast<ir::ExpandDimsOp>(op)) // which is made anew in any layout that is wanted
    return gpu::attributeOf(
        op->getContext(),
        layout::expandDims(gpu::layoutOf(operand), static_cast<int>(expand.getAxis())));
  return gpu::resultLayout(op, gpu::encodingOf(operand));
}

// The change of layout right before a store. One before a change of shape comes behind it, where
// the shape allows.
static ConvertLayoutOp changeBefore(ir::ViewStoreOp store) {
  Operation *op = store.getValue().getDefiningOp();
  if (auto change = dyn_cast_or_null<ConvertLayoutOp>(op))
    return change;
  if (!isa_and_present<ir::ReshapeOp, ir::ExpandDimsOp>(op) || !op->hasOneUse())
    return {};
  auto before = op->getOperand(0).getDefiningOp<ConvertLayoutOp>();
  gpu::LayoutAttr layout = before && before->hasOneUse()
                               ? heldAfter(op, cast<RankedTensorType>(before.getInput().getType()))
                               : gpu::LayoutAttr();
  if (!layout)
    return {};
  OpBuilder builder(store);
  IRMapping held;
  held.map(before.getResult(), before.getInput());
  Operation *moved = builder.clone(*op, held);
  moved->getResult(0).setType(gpu::withLayout(op->getResult(0).getType(), layout));
  auto change = ConvertLayoutOp::create(builder, before.getLoc(), op->getResult(0).getType(),
                                        moved->getResult(0));
  store.getValueMutable().assign(change);
  op->erase();
  before.erase();
  return change;
}

static bool takesByTma(ir::ViewStoreOp store, Value held) {
  Refusal why;
  if (!gpu::planTensorStore(store, cast<RankedTensorType>(held.getType()), &why)) {
    gpu::addRefusal(store, "tma refused: " + *why);
    return false;
  }
  store.getValueMutable().assign(held);
  return true;
}

static bool takesInQuads(ir::ViewStoreOp store, ConvertLayoutOp change) {
  constexpr int64_t kElements = 8;
  gpu::AccessAttr access = gpu::accessOf(store);
  if (!change || access.getVector() < kElements)
    return false;
  auto held = cast<RankedTensorType>(change.getInput().getType()),
       stored = cast<RankedTensorType>(change.getResult().getType());
  RankedTensorType quads = gpu::typeInQuads(held, stored, access.getOrder().front());
  if (!quads) {
    gpu::addRefusal(store,
                    "quad refused: shuffles within four lanes do not bring together 16 bytes");
    return false;
  }
  OpBuilder builder(store);
  Value moved = ConvertLayoutOp::create(builder, change.getLoc(), quads, change.getInput(),
                                        /*by_shuffles=*/true);
  store.getValueMutable().assign(moved);
  return true;
}

void settleDotStores(func::FuncOp function) {
  function.walk([](ir::ViewStoreOp store) {
    gpu::StoreVariant kind = gpu::storeVariantOf(store);
    if (kind != gpu::StoreVariant::Tma && kind != gpu::StoreVariant::Quad)
      return;
    ConvertLayoutOp change = changeBefore(store);
    Value held = change ? change.getInput() : store.getValue();
    if (kind == gpu::StoreVariant::Tma && takesByTma(store, held))
      kind = gpu::StoreVariant::Tma;
    else if (takesInQuads(store, change))
      kind = gpu::StoreVariant::Quad;
    else
      kind = gpu::StoreVariant::Vector;
    gpu::setVariant(store, kind);
    if (change && change.use_empty())
      change.erase();
  });
}

} // namespace tile::passes
