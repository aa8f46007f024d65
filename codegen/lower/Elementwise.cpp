// Elementwise operations: the same on each register. Constants and conversions of element types have rules of their own.
#include "codegen/lower/Lowering.h"

#include "ir/TileDialect.h"
#include "ir/UserError.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tile::codegen {

LogicalResult lowerElementwise(Lowering &l, Operation *op) {
  if (op->getNumResults() != 1)
    return op->emitOpError("has no lowering");
  Type type = op->getResult(0).getType();
  size_t count = Lowering::countOf(type);
  Registers results;
  for (size_t reg = 0; reg < count; ++reg) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      const Registers &registers = l[operand];
      operands.push_back(registers.size() == 1 ? registers.front() : registers[reg]);
    }
    Operation *scalar =
        Operation::create(op->getLoc(), op->getName(), {Lowering::registerType(type)}, operands,
                          NamedAttrList(op->getDiscardableAttrDictionary()),
                          op->getPropertiesStorage(), BlockRange(), 0);
    l.b.insert(scalar);
    results.push_back(scalar->getResult(0));
  }
  l.set(op->getResult(0), std::move(results));
  return success();
}

namespace {

LogicalResult lowerConstant(Lowering &l, Operation *op) {
  auto constant = cast<arith::ConstantOp>(op);
  TypedAttr value = constant.getValue();
  if (auto splat = dyn_cast<SplatElementsAttr>(value))
    value = splat.getSplatValue<TypedAttr>();
  else if (isa<ElementsAttr>(value))
    return ir::userError(op->emitOpError(), ErrorCode::Unsupported)
           << "only constants with one value everywhere are supported on tiles";
  Value scalar = arith::ConstantOp::create(l.b, op->getLoc(), value);
  l.set(constant.getResult(), Registers(Lowering::countOf(constant.getType()), scalar));
  return success();
}

Value convertFloat(OpBuilder &b, Location loc, Value value, FloatType to) {
  auto from = cast<FloatType>(value.getType());
  if (from.getWidth() < to.getWidth())
    return arith::ExtFOp::create(b, loc, to, value);
  if (from.getWidth() > to.getWidth())
    return arith::TruncFOp::create(b, loc, to, value);
  if (from == to)
    return value;
  Value wide = arith::ExtFOp::create(b, loc, b.getF32Type(), value); // f16 <-> bf16
  return arith::TruncFOp::create(b, loc, to, wide);
}

Value intToFloat(OpBuilder &b, Location loc, Value value, FloatType to, bool isUnsigned) {
  isUnsigned |= value.getType().isInteger(1);
  // PTX converts integers to f16 in one rounding, to bf16 only from sm_90 on: through f32, which holds 24 bits exactly.
  FloatType type = to.isBF16() ? b.getF32Type() : to;
  Value result = isUnsigned ? arith::UIToFPOp::create(b, loc, type, value).getResult()
                            : arith::SIToFPOp::create(b, loc, type, value).getResult();
  return convertFloat(b, loc, result, to);
}

// Truncates toward zero, saturates, NaN becomes 0. Plain fptosi would be poison outside the range.
Value floatToInt(OpBuilder &b, Location loc, Value value, Type to, bool isUnsigned) {
  if (value.getType().isBF16() || value.getType().isF16())
    value = arith::ExtFOp::create(b, loc, b.getF32Type(), value);
  StringRef name = isUnsigned ? "llvm.fptoui.sat" : "llvm.fptosi.sat";
  return LLVM::CallIntrinsicOp::create(b, loc, to, b.getStringAttr(name), value).getResult(0);
}

Value intToInt(OpBuilder &b, Location loc, Value value, Type to, bool isUnsigned) {
  unsigned from = value.getType().getIntOrFloatBitWidth(), width = to.getIntOrFloatBitWidth();
  if (from == width)
    return value;
  if (from > width)
    return arith::TruncIOp::create(b, loc, to, value);
  if (isUnsigned || from == 1)
    return arith::ExtUIOp::create(b, loc, to, value);
  return arith::ExtSIOp::create(b, loc, to, value);
}

Value isNonZero(OpBuilder &b, Location loc, Value value) {
  Value zero = arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(value.getType())));
  if (isa<FloatType>(value.getType()))
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, value, zero);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, zero);
}

Value convertElement(OpBuilder &b, Location loc, Value value, Type to, ir::ConvertOp op) {
  bool fromFloat = isa<FloatType>(value.getType());
  if (to.isInteger(1))
    return isNonZero(b, loc, value);
  if (auto type = dyn_cast<FloatType>(to))
    return fromFloat ? convertFloat(b, loc, value, type)
                     : intToFloat(b, loc, value, type, op.getSourceUnsigned());
  return fromFloat ? floatToInt(b, loc, value, to, op.getResultUnsigned())
                   : intToInt(b, loc, value, to, op.getSourceUnsigned());
}

LogicalResult lowerConvert(Lowering &l, Operation *op) {
  auto convert = cast<ir::ConvertOp>(op);
  Type to = ir::elementTypeOf(convert.getResult().getType());
  Registers results;
  for (Value value : l[convert.getInput()])
    results.push_back(convertElement(l.b, op->getLoc(), value, to, convert));
  l.set(convert.getResult(), std::move(results));
  return success();
}

LogicalResult lowerMulHi(Lowering &l, Operation *op) {
  auto mulHi = cast<ir::MulHiOp>(op);
  Registers results;
  for (auto [lhs, rhs] : llvm::zip_equal(l[mulHi.getLhs()], l[mulHi.getRhs()]))
    results.push_back(mulHi.getIsUnsigned()
                          ? arith::MulUIExtendedOp::create(l.b, op->getLoc(), lhs, rhs).getHigh()
                          : arith::MulSIExtendedOp::create(l.b, op->getLoc(), lhs, rhs).getHigh());
  l.set(mulHi.getResult(), std::move(results));
  return success();
}

const std::pair<llvm::StringLiteral, LowerFunction> kLowerings[] = {
    {"arith.constant", lowerConstant},
    {"tile.convert", lowerConvert},
    {"tile.mulhi", lowerMulHi},
};

} // namespace

LoweringTable elementwiseLowerings() { return kLowerings; }

} // namespace tile::codegen
