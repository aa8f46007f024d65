// Elementwise functions. One table maps a function to its IR operation; f16 and bf16 are computed
// in f32 and rounded back.
#include "frontend/Promotion.h"
#include "frontend/Trace.h"

#include <cmath>

using namespace tile;
using namespace tile::frontend;

namespace {

bool isHalfWidth(DType type) { return isFloat(type) && sizeOf(type) < 4; }

DType floatOperand(Trace &trace, const char *op, const Arg &x, Loc loc) {
  checkData(trace, op, x, loc);
  if (!x.isStaged())
    return x.kind() == Arg::Kind::Float ? commonType(trace, op, {&x}, loc) : f32;
  DType type = trace.type(x.value(), loc).dtype;
  if (!isFloat(type))
    trace.fail(loc, std::string(op) + ": needs a float, got " + nameOf(type) + ": cast it first",
               {madeNote(trace, "operand", x.value())});
  return type;
}

/// Applies `function` in f32 or f64 and rounds back.
template <class Function>
Value inWideFloat(const char *op, const Arg &x, Loc loc, Function function) {
  Trace &trace = Trace::current(loc);
  DType type = floatOperand(trace, op, x, loc);
  Value wide = convertTo(trace, isHalfWidth(type) ? f32 : type, x, op, loc);
  return castValue(trace, type, function(trace, wide), loc);
}

/// A function of one float; the device has most of them for f32 only.
struct UnaryOp {
  const char *name, *irName;
  bool onF64 = false;
};

Value unary(const UnaryOp &op, const Arg &x, Loc loc) {
  return inWideFloat(op.name, x, loc, [&](Trace &trace, const Value &wide) {
    TileType type = trace.type(wide, loc);
    if (type.dtype == f64 && !op.onF64)
      trace.fail(loc, std::string(op.name) + ": f64 is not available: cast to f32",
                 {madeNote(trace, "operand", wide)}, ErrorCode::Unsupported);
    return trace.op(op.irName, type, {wide}, loc);
  });
}

struct MinMax {
  const char *name, *onFloats, *onSigned, *onUnsigned;
};
constexpr MinMax kMin = {"min", "arith.minnumf", "arith.minsi", "arith.minui"};
constexpr MinMax kMax = {"max", "arith.maxnumf", "arith.maxsi", "arith.maxui"};

Value minMax(const MinMax &op, const Arg &a, const Arg &b, Loc loc) {
  Trace &trace = Trace::current(loc);
  checkData(trace, op.name, a, loc), checkData(trace, op.name, b, loc);
  DType type = commonType(trace, op.name, {&a, &b}, loc);
  Shape shape = commonShape(trace, op.name, {&a, &b}, loc);
  const char *name = isFloat(type) ? op.onFloats : isUnsigned(type) ? op.onUnsigned : op.onSigned;
  Value lhs = unifyToCompute(trace, type, shape, a, op.name, loc),
        rhs = unifyToCompute(trace, type, shape, b, op.name, loc);
  Value result = trace.op(name, {TileType::Data, computedIn(type), shape}, {lhs, rhs}, loc);
  return castValue(trace, type, result, loc);
}

} // namespace

Value tile::exp(Arg x, Loc loc) { return unary({"exp", "math.exp"}, x, loc); }
Value tile::exp2(Arg x, Loc loc) { return unary({"exp2", "math.exp2"}, x, loc); }
Value tile::log(Arg x, Loc loc) { return unary({"log", "math.log"}, x, loc); }
Value tile::log2(Arg x, Loc loc) { return unary({"log2", "math.log2"}, x, loc); }
Value tile::sqrt(Arg x, Loc loc) { return unary({"sqrt", "math.sqrt"}, x, loc); }
Value tile::rsqrt(Arg x, Loc loc) { return unary({"rsqrt", "math.rsqrt"}, x, loc); }
Value tile::sin(Arg x, Loc loc) { return unary({"sin", "math.sin"}, x, loc); }
Value tile::cos(Arg x, Loc loc) { return unary({"cos", "math.cos"}, x, loc); }
Value tile::tanh(Arg x, Loc loc) { return unary({"tanh", "math.tanh"}, x, loc); }
Value tile::erf(Arg x, Loc loc) { return unary({"erf", "math.erf"}, x, loc); }
Value tile::floor(Arg x, Loc loc) { return unary({"floor", "math.floor", true}, x, loc); }
Value tile::ceil(Arg x, Loc loc) { return unary({"ceil", "math.ceil", true}, x, loc); }

static Value logistic(const Value &x, Loc loc) {
  return Arg(1.0, loc) / (Arg(1.0, loc) + Arg(exp(-Arg(x, loc), loc), loc));
}

Value tile::sigmoid(Arg x, Loc loc) {
  return inWideFloat("sigmoid", x, loc,
                     [&](Trace &, const Value &wide) { return logistic(wide, loc); });
}
Value tile::silu(Arg x, Loc loc) {
  return inWideFloat("silu", x, loc, [&](Trace &, const Value &wide) {
    return Arg(wide, loc) * Arg(logistic(wide, loc), loc);
  });
}
Value tile::gelu(Arg x, Loc loc) {
  constexpr double kRsqrt2 = 0.70710678118654752440;
  return inWideFloat("gelu", x, loc, [&](Trace &, const Value &wide) {
    Value scaled = Arg(wide, loc) * Arg(kRsqrt2, loc);
    Value half = Arg(wide, loc) * Arg(0.5, loc);
    return Arg(half, loc) * Arg(Arg(1.0, loc) + Arg(erf(Arg(scaled, loc), loc), loc), loc);
  });
}
Value tile::relu(Arg x, Loc loc) { return max(x, Arg(0, loc), loc); }

Value tile::fma(Arg a, Arg b, Arg c, Loc loc) {
  Trace &trace = Trace::current(loc);
  for (const Arg *operand : {&a, &b, &c})
    checkData(trace, "fma", *operand, loc);
  DType type = commonType(trace, "fma", {&a, &b, &c}, loc);
  if (!isFloat(type))
    trace.fail(loc, std::string("fma: needs floats, got ") + nameOf(type) + ": write a * b + c");
  Shape shape = commonShape(trace, "fma", {&a, &b, &c}, loc);
  DType wide = isHalfWidth(type) ? f32 : type;
  std::vector<Value> operands;
  for (const Arg *operand : {&a, &b, &c})
    operands.push_back(
        castValue(trace, wide, unify(trace, type, shape, *operand, "fma", loc), loc));
  return castValue(trace, type, trace.op("math.fma", {TileType::Data, wide, shape}, operands, loc),
                   loc);
}

Value tile::abs(Arg x, Loc loc) {
  Trace &trace = Trace::current(loc);
  checkData(trace, "abs", x, loc);
  Value value = materialize(trace, x, loc);
  TileType type = trace.type(value, loc);
  if (isUnsigned(type.dtype))
    return value;
  return isFloat(type.dtype) ? computeFloat(trace, "math.absf", value, loc)
                             : trace.op("math.absi", type, {value}, loc);
}

Value tile::min(Arg a, Arg b, Loc loc) { return minMax(kMin, a, b, loc); }
Value tile::max(Arg a, Arg b, Loc loc) { return minMax(kMax, a, b, loc); }
Value tile::clamp(Arg x, Arg lo, Arg hi, Loc loc) {
  return min(Arg(max(x, lo, loc), loc), hi, loc);
}

Value tile::mulhi(Arg a, Arg b, Loc loc) {
  Trace &trace = Trace::current(loc);
  checkData(trace, "mulhi", a, loc), checkData(trace, "mulhi", b, loc);
  DType type = commonType(trace, "mulhi", {&a, &b}, loc);
  if (!isInteger(type) || widthOf(type) < 32)
    trace.fail(loc, std::string("mulhi: needs integers of 32 or 64 bits, got ") + nameOf(type) +
                        ": cast the operands");
  TileType result{TileType::Data, type, commonShape(trace, "mulhi", {&a, &b}, loc)};
  std::vector<Attribute> attributes;
  if (isUnsigned(type))
    attributes.push_back({Attribute::Unit, "is_unsigned", {}});
  return trace.op("tile.mulhi", result,
                  {unify(trace, type, result.shape, a, "mulhi", loc),
                   unify(trace, type, result.shape, b, "mulhi", loc)},
                  loc, std::move(attributes));
}

static Value selectPointers(Trace &trace, const Arg &condition, const Arg &a, const Arg &b,
                            Loc loc) {
  TileType left = trace.type(materialize(trace, a, loc), loc),
           right = trace.type(materialize(trace, b, loc), loc);
  if (left.category != TileType::Pointer || right.category != TileType::Pointer ||
      left.dtype != right.dtype)
    trace.fail(loc,
               "select: both sides must be pointers to one dtype, got " + left.str() + " and " +
                   right.str(),
               {madeNote(trace, a, b)});
  left.shape = commonShape(trace, "select", {&condition, &a, &b}, loc);
  return trace.op("arith.select", left,
                  {broadcastTo(trace, condition.value(), left.shape, loc),
                   broadcastTo(trace, a.value(), left.shape, loc),
                   broadcastTo(trace, b.value(), left.shape, loc)},
                  loc);
}

Value tile::select(Arg condition, Arg a, Arg b, Loc loc) {
  Trace &trace = Trace::current(loc);
  if (!condition.isStaged())
    trace.fail(loc,
               "select: the condition is a host value; use the C++ operator ?: on host values");
  TileType type = trace.type(condition.value(), loc);
  if (type.category != TileType::Data || type.dtype != i1)
    trace.fail(loc,
               "select: the condition must be i1, got " + type.str() + "; compare it, as in x != 0",
               {madeNote(trace, "condition", condition.value())});
  for (const Arg *side : {&a, &b})
    if (side->isStaged() && trace.type(side->value(), loc).category == TileType::Pointer)
      return selectPointers(trace, condition, a, b, loc);
  checkData(trace, "select", a, loc), checkData(trace, "select", b, loc);
  DType common = commonType(trace, "select", {&a, &b}, loc);
  Shape shape = commonShape(trace, "select", {&condition, &a, &b}, loc);
  return trace.op("arith.select", {TileType::Data, common, shape},
                  {broadcastTo(trace, condition.value(), shape, loc),
                   unify(trace, common, shape, a, "select", loc),
                   unify(trace, common, shape, b, "select", loc)},
                  loc);
}

Value tile::cdiv(Arg x, Arg d, Loc loc) {
  Trace &trace = Trace::current(loc);
  for (const Arg *operand : {&x, &d}) {
    checkData(trace, "cdiv", *operand, loc);
    if (isFloat(commonType(trace, "cdiv", {operand}, loc)))
      trace.fail(loc, "cdiv: needs integers");
  }
  if (!d.isStaged() && d.asInt() < 1)
    trace.fail(loc, "cdiv: the divisor must be positive, got " + std::to_string(d.asInt()));
  Arg less = d.isStaged() ? Arg(d - Arg(1, loc), loc) : Arg(d.asInt() - 1, loc);
  return Arg(x + less, loc) / d;
}

Value tile::isnan(Arg x, Loc loc) {
  Trace &trace = Trace::current(loc);
  Value value = convertTo(trace, floatOperand(trace, "isnan", x, loc), x, "isnan", loc);
  return Arg(value, loc) != Arg(value, loc);
}
Value tile::isinf(Arg x, Loc loc) {
  Trace &trace = Trace::current(loc);
  floatOperand(trace, "isinf", x, loc);
  return Arg(abs(x, loc), loc) == Arg(HUGE_VAL, loc);
}
