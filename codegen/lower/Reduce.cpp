// Reductions within a warp: registers first, then lanes by butterfly shuffles. What crosses warps was made explicit before.
#include "codegen/lower/Combine.h"

#include "codegen/InlinePtx.h"
#include "ir/layout/Reduce.h"
#include "ir/tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tile::codegen {

namespace {

class Reducer {
public:
  Reducer(Lowering &l, Operation *op, int axis)
      : l_(l), op_(op), axis_(axis), combine_(op->getRegion(0).front()),
        source_(gpu::layoutOf(op->getOperand(0).getType())) {}

  // Calls `emit(coordinates with the axis removed, tuple)` for each reduced position of this thread.
  LogicalResult reduce() {
    if (!layout::isReducible(source_, axis_))
      return op_->emitOpError("needs a layout whose bits along the axis move along it alone, each "
                              "element once, got ")
             << source_.toString();
    bool keepsWarps = isa<gpu::ReducePartialOp>(op_);
    if (!keepsWarps && gpu::warpsAlong(gpu::encodingOf(op_->getOperand(0).getType()), axis_) > 1)
      return op_->emitOpError(
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
    uint32_t duplicates = source_.freeMask(layout::In::Register);
    for (int32_t reg = 0; reg < source_.numRegisters(); ++reg) {
      if (reg & duplicates)
        continue;
      layout::Coords position = source_.apply(reg);
      position[axis_] = 0;
      Tuple values;
      for (Value operand : op_->getOperands())
        values.push_back(l_[operand][reg]);
      auto [it, isNew] = groups.try_emplace(position, values);
      if (!isNew)
        it->second = combined(l_, combine_, it->second, values);
    }
    return groups;
  }

  // Both lanes of an exchange must come to the same bits: what follows takes their results for one.
  Tuple reduceLanes(Tuple tuple) {
    bool isSymmetric =
        isSingle([](Operation &only) { return only.hasTrait<OpTrait::IsCommutative>(); });
    bool isFusable = isSingle([](Operation &only) { return isa<arith::AddFOp>(only); });
    bool isExchanged = false;
    for (int bit = 0; bit < source_.laneBits(); ++bit) {
      if (source_.bases(layout::In::Lane)[bit][axis_] == 0)
        continue;
      isExchanged = true;
      if (std::exchange(isFusable, false))
        tuple = rounded(tuple);
      Tuple other = exchanged(l_, op_->getLoc(), tuple, 1 << bit);
      tuple =
          isSymmetric ? combined(l_, combine_, tuple, other) : combinedInOrder(tuple, other, bit);
    }
    return isExchanged ? withOneNan(l_, op_->getLoc(), tuple) : tuple;
  }

  // A product that a lane brings must not be fused into its first addition: the other lane adds it rounded. Moves that LLVM
  // cannot see through keep it apart; the assembler drops them.
  Tuple rounded(const Tuple &tuple) {
    Location loc = op_->getLoc();
    Tuple result;
    for (Value value : tuple) {
      Type type = value.getType();
      bool isDouble = type.isF64(), isSingle = type.isF32();
      Type bits = isDouble || isSingle ? type : Type(l_.b.getI16Type());
      if (bits != type)
        value = arith::BitcastOp::create(l_.b, loc, bits, value);
      value = inlinePtx(l_.b, loc,
                        isDouble   ? "mov.b64 $0, $1;"
                        : isSingle ? "mov.b32 $0, $1;"
                                   : "mov.b16 $0, $1;",
                        isDouble   ? "=d,d"
                        : isSingle ? "=f,f"
                                   : "=h,h",
                        bits, value);
      result.push_back(bits == type ? value : arith::BitcastOp::create(l_.b, loc, type, value));
    }
    return result;
  }

  // The lower lane's values are the left ones in both.
  Tuple combinedInOrder(const Tuple &own, const Tuple &other, int bit) {
    Location loc = op_->getLoc();
    Value mask = arith::ConstantIntOp::create(l_.b, loc, 1 << bit, 32);
    Value zero = arith::ConstantIntOp::create(l_.b, loc, 0, 32);
    Value isUpper =
        arith::CmpIOp::create(l_.b, loc, arith::CmpIPredicate::ne,
                              arith::AndIOp::create(l_.b, loc, l_.threads.lane(), mask), zero);
    return combined(l_, combine_, selected(l_, loc, isUpper, other, own),
                    selected(l_, loc, isUpper, own, other));
  }

  // Whether the combination is one operation that `holds`.
  template <class Holds> bool isSingle(Holds holds) const {
    Operation &first = combine_.front();
    return first.getNextNode() == combine_.getTerminator() && holds(first);
  }

  LogicalResult assign(const std::map<layout::Coords, Tuple> &groups, bool keepsAxis) {
    for (auto [i, result] : llvm::enumerate(op_->getResults())) {
      if (!isa<RankedTensorType>(result.getType())) {
        l_.set(result, {groups.begin()->second[i]});
        continue;
      }
      layout::Layout target = gpu::layoutOf(result.getType());
      Registers registers;
      for (int32_t reg = 0; reg < target.numRegisters(); ++reg) {
        layout::Coords position = target.apply(reg);
        if (keepsAxis)
          position[axis_] = 0;
        else
          position.insert(position.begin() + axis_, 0);
        auto it = groups.find(position);
        if (it == groups.end())
          return op_->emitOpError("the result's layout is not the operand's without the axis");
        registers.push_back(it->second[i]);
      }
      l_.set(result, std::move(registers));
    }
    return success();
  }

  Lowering &l_;
  Operation *op_;
  int axis_;
  Block &combine_;
  layout::Layout source_;
};

LogicalResult lowerReduce(Lowering &l, Operation *op) {
  return Reducer(l, op, static_cast<int>(op->getAttrOfType<IntegerAttr>("axis").getInt())).reduce();
}

constexpr LoweringRow kLowerings[] = {
    on<ir::ReduceOp, lowerReduce>,
    on<gpu::ReducePartialOp, lowerReduce>,
};

} // namespace

LoweringTable reduceLowerings() { return kLowerings; }

} // namespace tile::codegen
