// Operations that pair up, pick apart or mirror elements: registers are renamed, and a mirror may
// shuffle within a warp.
#include "codegen/lower/Lowering.h"
#include "codegen/thread/Shuffle.h"

#include "ir/layout/Exchange.h"
#include "ir/tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tile::codegen {

namespace {

LogicalResult lowerItem(Lowering &l, ir::ItemOp item) {
  l.set(item.getResult(), {l[item.getOperand()].front()}); // every thread holds it
  return success();
}

bool isSpreadOverThreads(const layout::Layout &layout, int dim) {
  return layout.bitsAlong(layout::In::Lane, dim) != 0 ||
         layout.bitsAlong(layout::In::Warp, dim) != 0;
}

// A thread holds an element of both operands for each register of the result; which one it is
// follows from the register, or from the thread where the new dimension is spread over threads.
LogicalResult lowerJoin(Lowering &l, Operation *op) {
  layout::Layout part = gpu::layoutOf(op->getOperand(0).getType()),
                 whole = gpu::layoutOf(op->getResult(0).getType());
  const Registers &a = l[op->getOperand(0)], &b = l[op->getOperand(1)];
  int last = whole.rank() - 1;
  Registers registers;
  for (int32_t reg = 0; reg < whole.numRegisters(); ++reg) {
    layout::Coords coords = whole.apply(reg);
    int32_t half = coords.back();
    coords.pop_back();
    std::optional<int32_t> source = part.registerAt(coords);
    if (!source)
      return op->emitOpError(
          "needs data of another thread; a change of layout is missing before it");
    if (!isSpreadOverThreads(whole, last)) {
      registers.push_back(half ? b[*source] : a[*source]);
      continue;
    }
    Value isSecond = arith::CmpIOp::create(l.b, op->getLoc(), arith::CmpIPredicate::ne,
                                           l.coordinates.of(whole, last, reg), l.i32(0));
    registers.push_back(
        arith::SelectOp::create(l.b, op->getLoc(), isSecond, b[*source], a[*source]));
  }
  l.set(op->getResult(0), std::move(registers));
  return success();
}

LogicalResult lowerHalf(Lowering &l, ir::HalfOp half) {
  layout::Layout whole = gpu::layoutOf(half.getInput().getType()),
                 part = gpu::layoutOf(half.getResult().getType());
  if (isSpreadOverThreads(whole, whole.rank() - 1))
    return half.emitOpError(
        "needs data of another thread; a change of layout is missing before it");
  const Registers &input = l[half.getInput()];
  Registers registers;
  for (int32_t reg = 0; reg < part.numRegisters(); ++reg) {
    layout::Coords coords = part.apply(reg);
    coords.push_back(static_cast<int32_t>(half.getIndex()));
    std::optional<int32_t> source = whole.registerAt(coords);
    if (!source)
      return half.emitOpError(
          "the result's layout is not the operand's without the last dimension");
    registers.push_back(input[*source]);
  }
  l.set(half.getResult(), std::move(registers));
  return success();
}

// With n = 2^k * r, the element n - 1 - i has all k low bits of its coordinate flipped, and the odd
// digit counted from the other end; odd digits are registers.
LogicalResult lowerFlip(Lowering &l, ir::FlipOp flip) {
  auto axis = static_cast<int>(flip.getAxis());
  layout::Layout layout = gpu::layoutOf(flip.getInput().getType());
  auto linear = static_cast<int32_t>(layout.pow2Shape()[axis]),
       extent = static_cast<int32_t>(layout.shape()[axis]);
  auto plan = layout::planExchange(layout, axis, linear - 1);
  if (!plan || flip.getInput().getType() != flip.getResult().getType())
    return flip.emitOpError("needs data of another warp; a change of layout is missing before it");
  const Registers &input = l[flip.getInput()];
  Registers registers;
  for (int32_t reg = 0; reg < layout.numRegisters(); ++reg) {
    layout::Coords coords = layout.apply(reg ^ plan->registers);
    int32_t low = coords[axis] % linear;
    coords[axis] = extent - linear - (coords[axis] - low) + low;
    Value value = input[*layout.registerAt(coords)];
    registers.push_back(plan->lanes ? shuffleButterfly(l, flip.getLoc(), value, plan->lanes)
                                    : value);
  }
  l.set(flip.getResult(), std::move(registers));
  return success();
}

constexpr LoweringRow kLowerings[] = {
    on<ir::FlipOp, lowerFlip>,
    on<ir::HalfOp, lowerHalf>,
    on<ir::ItemOp, lowerItem>,
    on<ir::JoinOp, lowerJoin>,
};

} // namespace

LoweringTable pairLowerings() { return kLowerings; }

} // namespace tile::codegen
