// Operations that make tiles or change their shape: no data moves between threads, registers are renamed.
#include "codegen/lower/Lowering.h"

#include "ir/layout/Conversion.h"
#include "ir/tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tile::codegen {

namespace {

LogicalResult lowerSplat(Lowering &l, Operation *op) {
  auto splat = cast<ir::SplatOp>(op);
  l.set(splat.getResult(),
        Registers(Lowering::countOf(splat.getResult().getType()), l.scalar(splat.getValue())));
  return success();
}

LogicalResult lowerArange(Lowering &l, Operation *op) {
  auto arange = cast<ir::ArangeOp>(op);
  layout::Layout layout = gpu::layoutOf(arange.getResult().getType());
  Registers registers;
  for (int32_t reg = 0; reg < layout.numRegisters(); ++reg) {
    Value value = l.coordinates.of(layout, 0, reg);
    if (arange.getStart())
      value = arith::AddIOp::create(l.b, op->getLoc(), value,
                                    l.i32(static_cast<int32_t>(arange.getStart())));
    registers.push_back(value);
  }
  l.set(arange.getResult(), std::move(registers));
  return success();
}

// Each register of the result is the operand's register with the element at the mapped coordinates, in the same thread.
LogicalResult rename(Lowering &l, Operation *op,
                     function_ref<layout::Coords(const layout::Coords &)> toOperand) {
  layout::Layout from = gpu::layoutOf(op->getOperand(0).getType()),
                 to = gpu::layoutOf(op->getResult(0).getType());
  const Registers &operand = l[op->getOperand(0)];
  Registers registers;
  for (int32_t reg = 0; reg < to.numRegisters(); ++reg) {
    std::optional<int32_t> source = from.registerAt(toOperand(to.apply(reg)));
    if (!source)
      return op->emitOpError(
          "needs data of another thread; a change of layout is missing before it");
    registers.push_back(operand[*source]);
  }
  l.set(op->getResult(0), std::move(registers));
  return success();
}

LogicalResult lowerPart(Lowering &l, Operation *op) {
  ArrayRef<int64_t> start = cast<gpu::SubtileOp>(op).getStart();
  return rename(l, op, [&](const layout::Coords &coords) {
    layout::Coords moved = coords;
    for (auto [coordinate, first] : llvm::zip_equal(moved, start))
      coordinate += static_cast<int32_t>(first);
    return moved;
  });
}

// The part that has an element, and the element there.
LogicalResult lowerOfParts(Lowering &l, Operation *op) {
  auto whole = cast<gpu::FromSubtilesOp>(op);
  ArrayRef<int64_t> extents = ir::shapeOf(whole.getResult().getType());
  Type part = whole.getSubtiles().front().getType();
  layout::Layout from = gpu::layoutOf(part), to = gpu::layoutOf(whole.getResult().getType());
  Registers registers;
  for (int32_t reg = 0; reg < to.numRegisters(); ++reg) {
    layout::Coords coords = to.apply(reg);
    int64_t number = 0;
    for (auto [coordinate, extent, size] : llvm::zip_equal(coords, extents, ir::shapeOf(part))) {
      number = number * (extent / size) + coordinate / size;
      coordinate %= static_cast<int32_t>(size);
    }
    std::optional<int32_t> source = from.registerAt(coords);
    if (!source)
      return op->emitOpError("needs data of another thread");
    registers.push_back(l[whole.getSubtiles()[static_cast<unsigned>(number)]][*source]);
  }
  l.set(whole.getResult(), std::move(registers));
  return success();
}

LogicalResult lowerReshape(Lowering &l, Operation *op) {
  ArrayRef<int64_t> from = ir::shapeOf(op->getOperand(0).getType()),
                    to = ir::shapeOf(op->getResult(0).getType());
  return rename(l, op, [&](const layout::Coords &coords) {
    int64_t index = 0;
    for (auto [extent, coordinate] : llvm::zip_equal(to, coords))
      index = index * extent + coordinate;
    layout::Coords source(from.size());
    for (size_t dim = from.size(); dim-- > 0; index /= from[dim])
      source[dim] = static_cast<int32_t>(index % from[dim]);
    return source;
  });
}

LogicalResult lowerPermute(Lowering &l, Operation *op) {
  auto permute = cast<ir::PermuteOp>(op);
  return rename(l, op, [&](const layout::Coords &coords) {
    layout::Coords source(coords.size());
    for (auto [i, dim] : llvm::enumerate(permute.getOrder()))
      source[dim] = coords[i];
    return source;
  });
}

LogicalResult lowerExpandDims(Lowering &l, Operation *op) {
  auto axis = static_cast<int64_t>(cast<ir::ExpandDimsOp>(op).getAxis());
  return rename(l, op, [&](const layout::Coords &coords) {
    layout::Coords source = coords;
    source.erase(source.begin() + axis);
    return source;
  });
}

LogicalResult lowerBroadcast(Lowering &l, Operation *op) {
  ArrayRef<int64_t> from = ir::shapeOf(op->getOperand(0).getType());
  return rename(l, op, [&](const layout::Coords &coords) {
    layout::Coords source = coords;
    for (auto [extent, coordinate] : llvm::zip_equal(from, source))
      coordinate = extent == 1 ? 0 : coordinate;
    return source;
  });
}

constexpr LoweringRow kLowerings[] = {
    on<ir::ArangeOp, lowerArange>,         on<ir::BroadcastOp, lowerBroadcast>,
    on<ir::ExpandDimsOp, lowerExpandDims>, on<ir::PermuteOp, lowerPermute>,
    on<gpu::FromSubtilesOp, lowerOfParts>, on<gpu::SubtileOp, lowerPart>,
    on<ir::ReshapeOp, lowerReshape>,       on<ir::SplatOp, lowerSplat>,
};

} // namespace

LoweringTable shapeLowerings() { return kLowerings; }

} // namespace tile::codegen
