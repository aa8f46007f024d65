// Elementwise functions. One table maps a function to its IR operation; f16 and bf16 are computed
// in f32 and rounded back.
#include "frontend/language/Promotion.h"
#include "frontend/trace/Trace.h"

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

/// Fast forms of f32 where PTX has them, or full accuracy.
enum class Accuracy { Fast, Precise };

std::vector<Attribute> attributesOf(Accuracy accuracy) {
  if (accuracy == Accuracy::Fast)
    return {};
  return {{Attribute::Unit, "tile.precise", {}}};
}

/// A function of one float.
Value unary(const char *name, const Arg &x, Loc loc, Accuracy accuracy, const char *irName) {
  return inWideFloat(name, x, loc, [&](Trace &trace, const Value &wide) {
    return trace.op(irName, trace.type(wide, loc), {wide}, loc, attributesOf(accuracy));
  });
}

/// A function of two floats in their common dtype; computed and rounded as one of one float.
Value binary(const char *name, const char *irName, const Arg &a, const Arg &b, Loc loc,
             Accuracy accuracy) {
  Trace &trace = Trace::current(loc);
  DType type = commonType(trace, name, {&a, &b}, loc);
  if (!isFloat(type))
    trace.fail(loc, std::string(name) + ": needs floats, got " + nameOf(type) + ": cast them first",
               {madeNote(trace, a, b)});
  Shape shape = commonShape(trace, name, {&a, &b}, loc);
  DType wide = isHalfWidth(type) ? f32 : type;
  std::vector<Value> operands;
  for (const Arg *operand : {&a, &b})
    operands.push_back(castValue(trace, wide, unify(trace, type, shape, *operand, name, loc), loc));
  Value result =
      trace.op(irName, {TileType::Data, wide, shape}, operands, loc, attributesOf(accuracy));
  return castValue(trace, type, result, loc);
}

struct MinMax {
  const char *name, *onFloats, *onSigned, *onUnsigned;
};
constexpr MinMax kMin = {"min", "arith.minnumf", "arith.minsi", "arith.minui"};
constexpr MinMax kMax = {"max", "arith.maxnumf", "arith.maxsi", "arith.maxui"};
constexpr MinMax kMinNan = {"min_nan", "arith.minimumf", "arith.minsi", "arith.minui"};
constexpr MinMax kMaxNan = {"max_nan", "arith.maximumf", "arith.maxsi", "arith.maxui"};

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

// A function is named as its operation in `math`.
#define TILE_UNARY(function)                                                                       \
  Value tile::function(Arg x, Loc loc) {                                                           \
    return unary(#function, x, loc, Accuracy::Fast, "math." #function);                            \
  }
#define TILE_PRECISE(function)                                                                     \
  Value tile::precise::function(Arg x, Loc loc) {                                                  \
    return unary("precise::" #function, x, loc, Accuracy::Precise, "math." #function);             \
  }
TILE_UNARY(exp)
TILE_UNARY(exp2)
TILE_UNARY(log)
TILE_UNARY(log2)
TILE_UNARY(log10)
TILE_UNARY(log1p)
TILE_UNARY(expm1)
TILE_UNARY(sqrt)
TILE_UNARY(rsqrt)
TILE_UNARY(sin)
TILE_UNARY(cos)
TILE_UNARY(tan)
TILE_UNARY(tanh)
TILE_UNARY(erf)
TILE_UNARY(floor)
TILE_UNARY(ceil)
TILE_UNARY(trunc)
TILE_UNARY(round)
TILE_PRECISE(exp)
TILE_PRECISE(exp2)
TILE_PRECISE(log)
TILE_PRECISE(log2)
TILE_PRECISE(log10)
TILE_PRECISE(log1p)
TILE_PRECISE(expm1)
TILE_PRECISE(rsqrt)
TILE_PRECISE(sin)
TILE_PRECISE(cos)
TILE_PRECISE(tan)
TILE_PRECISE(tanh)
TILE_PRECISE(erf)
#undef TILE_UNARY
#undef TILE_PRECISE

Value tile::sqrt_rn(Arg x, Loc loc) {
  return unary("sqrt_rn", x, loc, Accuracy::Precise, "math.sqrt");
}
Value tile::div_rn(Arg a, Arg b, Loc loc) {
  return binary("div_rn", "arith.divf", a, b, loc, Accuracy::Precise);
}
Value tile::pow(Arg x, Arg y, Loc loc) {
  return binary("pow", "math.powf", x, y, loc, Accuracy::Precise);
}
Value tile::rcp(Arg x, Loc loc) {
  return inWideFloat("rcp", x, loc,
                     [&](Trace &, const Value &wide) { return Arg(1.0, loc) / Arg(wide, loc); });
}

static Value logistic(const Value &x, Loc loc) {
  Value power = exp(Arg(-Arg(x, loc), loc), loc);
  return Arg(1.0, loc) / Arg(Arg(1.0, loc) + Arg(power, loc), loc);
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
Value tile::min_nan(Arg a, Arg b, Loc loc) { return minMax(kMinNan, a, b, loc); }
Value tile::max_nan(Arg a, Arg b, Loc loc) { return minMax(kMaxNan, a, b, loc); }
Value tile::clamp(Arg x, Arg lo, Arg hi, Loc loc) {
  return min(Arg(max(x, lo, loc), loc), hi, loc);
}
Value tile::clamp_nan(Arg x, Arg lo, Arg hi, Loc loc) {
  return min_nan(Arg(max_nan(x, lo, loc), loc), hi, loc);
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

/// True where a truncated quotient lies above the floor: the remainder is not zero and its sign is not the divisor's.
static Value isAboveFloor(const Value &remainder, const Arg &d, Loc loc) {
  Arg r(remainder, loc);
  return Arg(r != Arg(0, loc), loc) & Arg(Arg(r ^ d, loc) < Arg(0, loc), loc);
}
static Value wholeRemainder(const char *op, const Arg &x, const Arg &d, Loc loc) {
  Trace &trace = Trace::current(loc);
  DType type = commonType(trace, op, {&x, &d}, loc);
  if (isFloat(type))
    trace.fail(loc, std::string(op) + ": needs integers, got " + nameOf(type),
               {madeNote(trace, x, d)});
  return x % d;
}
Value tile::floor_div(Arg x, Arg d, Loc loc) {
  Value remainder = wholeRemainder("floor_div", x, d, loc), quotient = x / d;
  if (isUnsigned(quotient.dtype()))
    return quotient;
  Value above = cast(quotient.dtype(), Arg(isAboveFloor(remainder, d, loc), loc), loc);
  return Arg(quotient, loc) - Arg(above, loc);
}
Value tile::floor_mod(Arg x, Arg d, Loc loc) {
  Value remainder = wholeRemainder("floor_mod", x, d, loc);
  if (isUnsigned(remainder.dtype()))
    return remainder;
  Arg r(remainder, loc);
  return select(Arg(isAboveFloor(remainder, d, loc), loc), Arg(r + d, loc), r, loc);
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
