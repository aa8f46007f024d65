// Elementwise operations: the same on each register. Constants have rules of their own.
#include "codegen/lower/Lowering.h"

#include "ir/UserError.h"
#include "ir/tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tile::codegen {

// Their registers are integers, on which arithmetic would mean something else.
static bool computesOnFloat8(Operation *op) {
  auto isFloat8 = [](Type type) { return ir::isFloat8(ir::elementTypeOf(type)); };
  return !isa<arith::SelectOp, arith::BitcastOp>(op) &&
         (llvm::any_of(op->getOperandTypes(), isFloat8) ||
          llvm::any_of(op->getResultTypes(), isFloat8));
}

static Value elementOf(Lowering &l, Operation *op, size_t reg) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    const Registers &registers = l[operand];
    operands.push_back(registers.size() == 1 ? registers.front() : registers[reg]);
  }
  Operation *scalar = Operation::create(op->getLoc(), op->getName(),
                                        {Lowering::registerType(op->getResult(0).getType())},
                                        operands, NamedAttrList(op->getDiscardableAttrDictionary()),
                                        op->getPropertiesStorage(), BlockRange(), 0);
  l.b.insert(scalar);
  return scalar->getResult(0);
}

LogicalResult lowerElementwise(Lowering &l, Operation *op) {
  if (op->getNumResults() != 1)
    return op->emitOpError("has no lowering");
  if (computesOnFloat8(op))
    return ir::userError(op->emitOpError(), ErrorCode::Unsupported)
           << "computes on 8-bit floats, which are only stored and converted: convert to f16 or "
              "f32 first";
  Registers results;
  for (size_t reg = 0, count = Lowering::countOf(op->getResult(0).getType()); reg < count; ++reg)
    results.push_back(elementOf(l, op, reg));
  l.set(op->getResult(0), std::move(results));
  return success();
}

namespace {

LogicalResult lowerConstant(Lowering &l, arith::ConstantOp constant) {
  TypedAttr value = constant.getValue();
  if (auto splat = dyn_cast<SplatElementsAttr>(value))
    value = splat.getSplatValue<TypedAttr>();
  else if (isa<ElementsAttr>(value))
    return ir::userError(constant.emitOpError(), ErrorCode::Unsupported)
           << "only constants with one value everywhere are supported on tiles";
  Value scalar = l.constant(constant.getLoc(), value);
  l.set(constant.getResult(), Registers(Lowering::countOf(constant.getType()), scalar));
  return success();
}

// A comparison whose result is known to be the same for runs of elements is made once a run: masks `i < n` where n is a
// multiple of the run.
LogicalResult lowerCompare(Lowering &l, Operation *op) {
  Type type = op->getResult(0).getType();
  if (!isa<RankedTensorType>(type))
    return lowerElementwise(l, op);
  layout::Layout layout = gpu::layoutOf(type);
  passes::AxisInfo facts = l.axis.of(op->getResult(0));
  auto runOf = [&](int32_t reg) {
    layout::Coords run = layout.apply(reg);
    for (int dim = 0; dim < layout.rank(); ++dim)
      run[dim] &=
          -static_cast<int32_t>(std::min<int64_t>(facts[dim].constancy, layout.pow2Shape()[dim]));
    return run;
  };
  std::map<layout::Coords, Value> made;
  Registers results;
  for (int32_t reg = 0; reg < layout.numRegisters(); ++reg) {
    Value &result = made[runOf(reg)];
    if (!result)
      result = elementOf(l, op, reg);
    results.push_back(result);
  }
  l.set(op->getResult(0), std::move(results));
  return success();
}

LogicalResult lowerMulHi(Lowering &l, ir::MulHiOp mulHi) {
  Registers results;
  for (auto [lhs, rhs] : llvm::zip_equal(l[mulHi.getLhs()], l[mulHi.getRhs()]))
    results.push_back(
        mulHi.getIsUnsigned()
            ? arith::MulUIExtendedOp::create(l.b, mulHi.getLoc(), lhs, rhs).getHigh()
            : arith::MulSIExtendedOp::create(l.b, mulHi.getLoc(), lhs, rhs).getHigh());
  l.set(mulHi.getResult(), std::move(results));
  return success();
}

LogicalResult lowerReverseBits(Lowering &l, ir::ReverseBitsOp op) {
  Registers results;
  for (Value input : l[op.getInput()])
    results.push_back(LLVM::BitReverseOp::create(l.b, op.getLoc(), input));
  l.set(op.getResult(), std::move(results));
  return success();
}

constexpr LoweringRow kLowerings[] = {
    on<arith::CmpIOp, lowerCompare>,
    on<arith::ConstantOp, lowerConstant>,
    on<ir::MulHiOp, lowerMulHi>,
    on<ir::ReverseBitsOp, lowerReverseBits>,
};

} // namespace

LoweringTable elementwiseLowerings() { return kLowerings; }

} // namespace tile::codegen
