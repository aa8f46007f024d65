// Conversions between element types, a tile at a time: 8-bit floats go in groups, all others one by one.
#include "codegen/InlinePtx.h"
#include "codegen/lower/Float8.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tile::codegen {

namespace {

Value intrinsic(OpBuilder &b, Location loc, StringRef name, Type type, Value operand) {
  return LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr(name), operand).getResult(0);
}

// --- Between floats ---

// Drops mantissa bits; beyond the largest number it stays that, as rounding toward zero does.
Value narrowTowardZero(OpBuilder &b, Location loc, Value value, FloatType to) {
  if (value.getType().isF64())
    value = intrinsic(b, loc, "llvm.nvvm.d2f.rz", b.getF32Type(), value);
  if (to.isF32())
    return value;
  StringRef text = to.isF16() ? "cvt.rz.f16.f32 $0, $1;" : "cvt.rz.bf16.f32 $0, $1;";
  Value bits = inlinePtx(b, loc, text, "=h,f", b.getI16Type(), value);
  return LLVM::BitcastOp::create(b, loc, to, bits);
}

Value convertFloat(OpBuilder &b, Location loc, Value value, FloatType to, ir::Rounding rounding) {
  auto from = cast<FloatType>(value.getType());
  if (from == to)
    return value;
  if (from.getWidth() < to.getWidth())
    return arith::ExtFOp::create(b, loc, to, value);
  if (from.getWidth() == to.getWidth()) // f16 <-> bf16
    value = arith::ExtFOp::create(b, loc, b.getF32Type(), value);
  if (rounding == ir::Rounding::TowardZero)
    return narrowTowardZero(b, loc, value, to);
  return arith::TruncFOp::create(b, loc, to, value);
}

// Sets the last bit of what a number was cut to if that lost anything: a further rounding is then as if there had been one.
Value markLoss(OpBuilder &b, Location loc, Value cut, Value lost) {
  Type f32 = b.getF32Type(), i32 = b.getI32Type();
  Value bits = LLVM::OrOp::create(b, loc, LLVM::BitcastOp::create(b, loc, i32, cut),
                                  LLVM::ZExtOp::create(b, loc, i32, lost));
  return LLVM::BitcastOp::create(b, loc, f32, bits);
}

// f64 -> f32 toward zero, for a further rounding.
Value roundToOdd(OpBuilder &b, Location loc, Value value) {
  Value cut = intrinsic(b, loc, "llvm.nvvm.d2f.rz", b.getF32Type(), value);
  Value back = arith::ExtFOp::create(b, loc, b.getF64Type(), cut);
  return markLoss(b, loc, cut,
                  arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, back, value));
}

// --- Between floats and integers ---

// f32 holds 24 bits of an integer.
constexpr unsigned kExactInF32 = 24;

Value intToSingle(OpBuilder &b, Location loc, Value value, bool isUnsigned) {
  bool isWide = value.getType().isInteger(64);
  StringRef name = isUnsigned ? (isWide ? "llvm.nvvm.ull2f.rz" : "llvm.nvvm.ui2f.rz")
                              : (isWide ? "llvm.nvvm.ll2f.rz" : "llvm.nvvm.i2f.rz");
  Value cut = intrinsic(b, loc, name, b.getF32Type(), value);
  Value back = isUnsigned ? arith::FPToUIOp::create(b, loc, value.getType(), cut).getResult()
                          : arith::FPToSIOp::create(b, loc, value.getType(), cut).getResult();
  return markLoss(b, loc, cut,
                  arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, back, value));
}

Value intToFloat(OpBuilder &b, Location loc, Value value, FloatType to, bool isUnsigned) {
  isUnsigned |= value.getType().isInteger(1);
  auto plain = [&](FloatType type) -> Value {
    return isUnsigned ? arith::UIToFPOp::create(b, loc, type, value).getResult()
                      : arith::SIToFPOp::create(b, loc, type, value).getResult();
  };
  // PTX converts integers to f16 in one rounding, to bf16 only from sm_90 on: through f32.
  if (!to.isBF16())
    return plain(to);
  bool isExact = value.getType().getIntOrFloatBitWidth() <= kExactInF32;
  Value single = isExact ? plain(b.getF32Type()) : intToSingle(b, loc, value, isUnsigned);
  return convertFloat(b, loc, single, to, ir::Rounding::NearestEven);
}

// Truncates toward zero, saturates, NaN becomes 0. Plain fptosi would be poison outside the range.
Value floatToInt(OpBuilder &b, Location loc, Value value, Type to, bool isUnsigned) {
  if (value.getType().isBF16() || value.getType().isF16())
    value = arith::ExtFOp::create(b, loc, b.getF32Type(), value);
  StringRef name = isUnsigned ? "llvm.fptoui.sat" : "llvm.fptosi.sat";
  return intrinsic(b, loc, name, to, value);
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
    return fromFloat ? convertFloat(b, loc, value, type, op.getRounding())
                     : intToFloat(b, loc, value, type, op.getSourceUnsigned());
  return fromFloat ? floatToInt(b, loc, value, to, op.getResultUnsigned())
                   : intToInt(b, loc, value, to, op.getSourceUnsigned());
}

// What an 8-bit float is made from. Integers above 2^24 are rounded here, but far beyond its largest number.
Value toSingle(OpBuilder &b, Location loc, Value value, ir::ConvertOp op) {
  if (value.getType().isF64() && op.getRounding() == ir::Rounding::NearestEven)
    return roundToOdd(b, loc, value);
  return convertElement(b, loc, value, b.getF32Type(), op);
}

LogicalResult lowerConvert(Lowering &l, Operation *op) {
  auto convert = cast<ir::ConvertOp>(op);
  Location loc = op->getLoc();
  Type from = ir::elementTypeOf(convert.getInput().getType()),
       to = ir::elementTypeOf(convert.getResult().getType());
  Registers values = l[convert.getInput()];
  if (from != to && ir::isFloat8(from)) // all of them are exact in f16
    values = widenFloat8(l, loc, values, from, to.isF16() ? to : Type(l.b.getF32Type()));
  if (from != to && ir::isFloat8(to)) {
    for (Value &value : values)
      value = toSingle(l.b, loc, value, convert);
    values = narrowToFloat8(l, loc, values, to, convert.getRounding());
  } else if (from != to) {
    for (Value &value : values)
      value = convertElement(l.b, loc, value, to, convert);
  }
  l.set(convert.getResult(), std::move(values));
  return success();
}

constexpr LoweringRow kLowerings[] = {on<ir::ConvertOp, lowerConvert>};

} // namespace

LoweringTable convertLowerings() { return kLowerings; }

} // namespace tile::codegen
