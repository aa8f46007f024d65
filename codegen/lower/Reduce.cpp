// Reductions within a warp: registers first, then lanes by butterfly shuffles. What crosses warps was made explicit before.
#include "codegen/lower/Combine.h"

#include "ir/TileDialect.h"
#include "ir/layout/Reduce.h"

using namespace mlir;

namespace tile::codegen {

namespace {

class Reducer {
public:
  Reducer(Lowering &l, Operation *op, int axis)
      : l(l), op(op), axis(axis), combine(op->getRegion(0).front()),
        source(gpu::layoutOf(op->getOperand(0).getType())) {}

  // Calls `emit(coordinates with the axis removed, tuple)` for each reduced position of this thread.
  LogicalResult reduce() {
    if (!layout::isReducible(source, axis))
      return op->emitOpError("needs a layout whose bits along the axis move along it alone, each "
                             "element once, got ")
             << source.toString();
    bool keepsWarps = isa<gpu::ReducePartialOp>(op);
    if (!keepsWarps && gpu::warpsAlong(gpu::encodingOf(op->getOperand(0).getType()), axis) > 1)
      return op->emitOpError(
          "spreads its axis over warps; the pass that expands such reductions has not run");
    std::map<layout::Coords, Tuple> groups = reduceRegisters();
    for (auto &[position, tuple] : groups)
      tuple = reduceLanes(tuple);
    return assign(groups, keepsWarps);
  }

private:
  // Registers that differ along the axis alone.
  std::map<layout::Coords, Tuple> reduceRegisters() {
    std::map<layout::Coords, Tuple> groups;
    uint32_t duplicates = source.freeMask(layout::In::Register);
    for (int32_t reg = 0; reg < source.numRegisters(); ++reg) {
      if (reg & duplicates)
        continue;
      layout::Coords position = source.apply(reg);
      position[axis] = 0;
      Tuple values;
      for (Value operand : op->getOperands())
        values.push_back(l[operand][reg]);
      auto [it, isNew] = groups.try_emplace(position, values);
      if (!isNew)
        it->second = combined(l, combine, it->second, values);
    }
    return groups;
  }

  Tuple reduceLanes(Tuple tuple) {
    for (int bit = 0; bit < source.laneBits(); ++bit) {
      if (source.bases(layout::In::Lane)[bit][axis] == 0)
        continue;
      tuple = combined(l, combine, tuple, exchanged(l, op->getLoc(), tuple, 1 << bit));
    }
    return tuple;
  }

  LogicalResult assign(const std::map<layout::Coords, Tuple> &groups, bool keepsAxis) {
    for (auto [i, result] : llvm::enumerate(op->getResults())) {
      if (!isa<RankedTensorType>(result.getType())) {
        l.set(result, {groups.begin()->second[i]});
        continue;
      }
      layout::Layout target = gpu::layoutOf(result.getType());
      Registers registers;
      for (int32_t reg = 0; reg < target.numRegisters(); ++reg) {
        layout::Coords position = target.apply(reg);
        if (keepsAxis)
          position[axis] = 0;
        else
          position.insert(position.begin() + axis, 0);
        auto it = groups.find(position);
        if (it == groups.end())
          return op->emitOpError("the result's layout is not the operand's without the axis");
        registers.push_back(it->second[i]);
      }
      l.set(result, std::move(registers));
    }
    return success();
  }

  Lowering &l;
  Operation *op;
  int axis;
  Block &combine;
  layout::Layout source;
};

LogicalResult lowerReduce(Lowering &l, Operation *op) {
  return Reducer(l, op, static_cast<int>(op->getAttrOfType<IntegerAttr>("axis").getInt())).reduce();
}

const std::pair<llvm::StringLiteral, LowerFunction> kLowerings[] = {
    {"tile.reduce", lowerReduce},
    {"tilegpu.reduce_partial", lowerReduce},
};

} // namespace

LoweringTable reduceLowerings() { return kLowerings; }

} // namespace tile::codegen
