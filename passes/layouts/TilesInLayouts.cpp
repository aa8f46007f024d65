#include "passes/layouts/TilesInLayouts.h"

#include "ir/LayoutAttr.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tile::passes {

// Was nothing claimed for the value, so that it is made where needed?
static bool isMadeOnDemand(Value value) {
  return isTile(value) && !gpu::encodingOf(value.getType()) && value.getDefiningOp();
}

// The value in a layout: itself, made anew, or converted.
Value TilesInLayouts::inLayout(Value value, gpu::LayoutAttr layout) {
  if (!isTile(value) || gpu::encodingOf(value.getType()) == layout)
    return value;
  Value &made = inLayouts_[{value, layout}];
  if (!made) {
    Value fresh = isMadeOnDemand(value) ? remake(value, layout) : convert(value, layout);
    inLayouts_[{value, layout}] = fresh; // the map may have grown
    return fresh;
  }
  return made;
}

Value TilesInLayouts::convert(Value value, gpu::LayoutAttr layout) {
  OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointAfterValue(value);
  return gpu::ConvertLayoutOp::create(builder_, value.getLoc(),
                                      gpu::withLayout(value.getType(), layout), value);
}

gpu::LayoutAttr TilesInLayouts::neededLayout(OpOperand &operand, gpu::LayoutAttr layout) const {
  if (!isTile(operand.get()))
    return {};
  return gpu::takesAnyLayout(operand) ? claims_.layoutOrDefault(operand.get())
                                      : gpu::operandLayout(operand, layout);
}

Value TilesInLayouts::remake(Value value, gpu::LayoutAttr layout) {
  Operation *op = value.getDefiningOp();
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    gpu::LayoutAttr needed = neededLayout(operand, layout);
    // Where the algebra refuses: through a layout that both sides know.
    if (isTile(operand.get()) && !needed) {
      gpu::LayoutAttr fallback = claims_.layoutOrDefault(value);
      return fallback == layout ? Value() : convert(inLayout(value, fallback), layout);
    }
    operands.push_back(needed ? inLayout(operand.get(), needed) : operand.get());
  }
  OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointAfterValue(value);
  IRMapping mapping;
  for (auto [from, to] : llvm::zip_equal(op->getOperands(), operands))
    mapping.map(from, to);
  Operation *clone = builder_.clone(*op, mapping);
  setLayout(clone->getResult(0), layout);
  return clone->getResult(0);
}

void TilesInLayouts::setLayout(Value value, gpu::LayoutAttr layout) {
  RankedTensorType type = gpu::withLayout(value.getType(), layout);
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    constant.setValueAttr(cast<SplatElementsAttr>(constant.getValue()).resizeSplat(type));
  value.setType(type);
}

void TilesInLayouts::setOperand(OpOperand &operand, gpu::LayoutAttr layout) {
  operand.set(inLayout(operand.get(), layout));
}

// Users first. What has no effect on memory may go; divisions are not "pure", since they cannot be
// moved to where they would not run.
void TilesInLayouts::eraseUnlaid(ArrayRef<Operation *> ops) {
  for (Operation *op : llvm::reverse(ops))
    if (op->getNumResults() == 1 && isTile(op->getResult(0)) &&
        !gpu::encodingOf(op->getResult(0).getType()) && op->use_empty() && isMemoryEffectFree(op))
      op->erase();
}

} // namespace tile::passes
