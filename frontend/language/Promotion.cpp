// Promotion of dtypes, adaptation of host numbers, broadcasting of shapes.
#include "frontend/language/Promotion.h"

#include <cmath>
#include <limits>
#include <sstream>

namespace tile::frontend {

// --- Dtypes --------------------------------------------------------------------------------------

/// Host numbers and dtypes by kind: a number adapts to a dtype of its kind or a higher one.
enum class NumberKind { Bool, Int, Float };

static NumberKind kindOf(DType type) {
  return type == i1 ? NumberKind::Bool : isFloat(type) ? NumberKind::Float : NumberKind::Int;
}

static NumberKind kindOf(const Arg &number) {
  switch (number.kind()) {
  case Arg::Kind::Bool:
    return NumberKind::Bool;
  case Arg::Kind::Float:
    return NumberKind::Float;
  default:
    return NumberKind::Int;
  }
}

int widthOf(DType type) { return type == i1 ? 1 : static_cast<int>(sizeOf(type)) * 8; }

DType computedIn(DType type) { return isFloat8(type) ? f32 : type; }

bool sameInIr(DType a, DType b) {
  return a == b || (isInteger(a) && isInteger(b) && widthOf(a) == widthOf(b));
}

static DType promoteFloats(DType a, DType b) {
  for (DType type : {f64, f32})
    if (a == type || b == type)
      return type;
  bool bfloatWithFloat8 = a == bf16 ? isFloat8(b) : b == bf16 && isFloat8(a);
  return bfloatWithFloat8 ? f32 : f16; // f16 with any, e4m3 with e5m2
}

static DType promoteIntegers(DType a, DType b) {
  if (widthOf(a) != widthOf(b))
    return widthOf(a) > widthOf(b) ? a : b;
  return isUnsigned(a) ? a : b;
}

/// The common dtype of two tiles.
static DType promote(DType a, DType b) {
  if (a == b)
    return a;
  if (isFloat(a) && isFloat(b))
    return promoteFloats(a, b);
  if (!isFloat(a) && !isFloat(b))
    return promoteIntegers(a, b);
  DType floating = isFloat(a) ? a : b;
  return floating == bf16 ? f32 : floating;
}

static DType typeByValue(const Arg &number) {
  constexpr int64_t kMaxU32 = std::numeric_limits<uint32_t>::max();
  switch (number.kind()) {
  case Arg::Kind::Bool:
    return i1;
  case Arg::Kind::UInt:
    if (number.asInt() < 0)
      return u64;
    [[fallthrough]];
  case Arg::Kind::Int:
    if (number.asInt() == static_cast<int32_t>(number.asInt()))
      return i32;
    return number.asInt() >= 0 && number.asInt() <= kMaxU32 ? u32 : i64;
  default:
    double magnitude = std::fabs(number.asDouble());
    bool needsDouble = magnitude != 0 && std::isfinite(magnitude) &&
                       (magnitude < std::numeric_limits<float>::min() ||
                        magnitude > std::numeric_limits<float>::max());
    return needsDouble ? f64 : f32;
  }
}

static void refuseFloat8WithInteger(Trace &trace, const char *op, const Arg &float8,
                                    const Arg &integer, Loc loc) {
  auto name = [&](const Arg &operand) {
    return std::string(nameOf(trace.type(operand.value(), loc).dtype));
  };
  trace.fail(loc,
             std::string(op) + ": " + name(float8) + " with " + name(integer) +
                 ": 8-bit floats do not meet integers; cast one of them",
             {madeNote(trace, float8, integer)});
}

DType commonType(Trace &trace, const char *op, std::initializer_list<const Arg *> operands,
                 Loc loc) {
  DType common = any;
  auto meet = [&](DType type) { common = common == any ? type : promote(common, type); };
  const Arg *float8 = nullptr, *integer = nullptr;
  for (const Arg *operand : operands) {
    checkData(trace, op, *operand, loc);
    if (!operand->isStaged())
      continue;
    DType type = trace.type(operand->value(), loc).dtype;
    meet(type);
    float8 = isFloat8(type) ? operand : float8;
    integer = isInteger(type) ? operand : integer;
  }
  if (float8 && integer)
    refuseFloat8WithInteger(trace, op, *float8, *integer, loc);
  for (const Arg *operand : operands)
    if (!operand->isStaged() && (common == any || kindOf(*operand) > kindOf(common)))
      meet(typeByValue(*operand));
  return common;
}

// --- Host numbers --------------------------------------------------------------------------------

static double largestOf(DType type) {
  switch (type) {
  case DType::E4M3:
    return 448;
  case DType::E5M2:
    return 57344;
  case DType::F16:
    return 65504;
  case DType::BF16:
    return 0x1.fep127;
  case DType::F32:
    return std::numeric_limits<float>::max();
  default:
    return std::numeric_limits<double>::max();
  }
}

static std::string numberText(const Arg &number) {
  std::ostringstream text;
  if (number.kind() == Arg::Kind::Float)
    text << number.asDouble();
  else if (number.kind() == Arg::Kind::UInt)
    text << static_cast<uint64_t>(number.asInt());
  else
    text << number.asInt();
  return text.str();
}

static bool fitsInteger(DType type, const Arg &number) {
  bool huge = number.kind() == Arg::Kind::UInt && number.asInt() < 0; // above INT64_MAX
  int64_t value = number.asInt();
  int width = widthOf(type);
  if (isUnsigned(type))
    return width == 64 ? huge || value >= 0 : !huge && value >= 0 && (value >> width) == 0;
  return !huge && (width == 64 || (value >> (width - 1)) == 0 || (value >> (width - 1)) == -1);
}

static Value constant(Trace &trace, DType dtype, const Arg &number, const char *op, Loc loc,
                      const Shape &shape) {
  if (isFloat(dtype)) {
    double value = number.asDouble();
    if (std::isfinite(value) && std::fabs(value) > largestOf(dtype))
      trace.fail(loc, std::string(op) + ": the number " + numberText(number) + " does not fit " +
                          nameOf(dtype));
    return trace.number(dtype, value, loc, shape);
  }
  if (number.kind() == Arg::Kind::Float)
    trace.fail(loc, std::string(op) + ": the floating-point number " + numberText(number) +
                        " cannot become " + nameOf(dtype) +
                        ": write an integer, or cast the other operand");
  if (!fitsInteger(dtype, number))
    trace.fail(loc, std::string(op) + ": the number " + numberText(number) + " does not fit " +
                        nameOf(dtype));
  return trace.integer(dtype, number.asInt(), loc, shape);
}

Value materialize(Trace &trace, const Arg &operand, Loc loc) {
  if (operand.isStaged())
    return trace.handle(trace.use(operand.value(), loc));
  return constant(trace, typeByValue(operand), operand, "constant", loc, {});
}

Value castValue(Trace &trace, DType dtype, const Value &value, Loc loc, Round round) {
  TileType from = trace.type(value, loc);
  if (from.dtype == dtype)
    return trace.handle(value.node());
  TileType to{TileType::Data, dtype, from.shape};
  if (sameInIr(from.dtype, dtype)) {
    Node alias;
    alias.kind = Node::Alias;
    alias.type = to;
    alias.operands = {trace.graph().resolve(value.node())}; // chains of casts stay short
    alias.loc = loc;
    return trace.handle(trace.add(std::move(alias)));
  }
  std::vector<Attribute> attributes;
  if (isUnsigned(from.dtype))
    attributes.push_back({Attribute::Unit, "source_unsigned", {}});
  if (isUnsigned(dtype))
    attributes.push_back({Attribute::Unit, "result_unsigned", {}});
  if (round == Round::rtz)
    attributes.push_back({Attribute::I32, "rounding", {static_cast<int64_t>(round)}});
  return trace.op("tile.convert", to, {value}, loc, std::move(attributes));
}

Value convertTo(Trace &trace, DType dtype, const Arg &operand, const char *op, Loc loc,
                const Shape &shape) {
  if (!operand.isStaged())
    return constant(trace, dtype, operand, op, loc, shape);
  return castValue(trace, dtype, operand.value(), loc);
}

// --- Shapes --------------------------------------------------------------------------------------

static Shape shapeOf(Trace &trace, const Arg &operand, Loc loc) {
  return operand.isStaged() ? trace.type(operand.value(), loc).shape : Shape();
}

/// Widens `common` by `shape`; returns false if they do not broadcast.
static bool widen(Shape &common, const Shape &shape) {
  Shape wide = common.rank() >= shape.rank() ? common : shape;
  const Shape &narrow = common.rank() >= shape.rank() ? shape : common;
  int lead = wide.rank() - narrow.rank();
  for (int dim = 0; dim < narrow.rank(); ++dim) {
    int64_t &extent = wide[lead + dim];
    if (extent != narrow[dim] && extent != 1 && narrow[dim] != 1)
      return false;
    extent = extent == 1 ? narrow[dim] : extent;
  }
  common = wide;
  return true;
}

Shape commonShape(Trace &trace, const char *op, const std::vector<const Arg *> &operands, Loc loc) {
  Shape common;
  const Arg *first = nullptr;
  for (const Arg *operand : operands) {
    Shape shape = shapeOf(trace, *operand, loc), before = common;
    if (!widen(common, shape))
      trace.fail(loc,
                 std::string(op) + ": shapes do not broadcast: lhs is " + before.str() +
                     ", rhs is " + shape.str() +
                     "; each pair of extents must be equal or contain a 1",
                 {madeNote(trace, *first, *operand)}, ErrorCode::InvalidShape);
    if (!first || first->isStaged() == false)
      first = operand;
  }
  checkShape(trace, op, common, loc);
  return common;
}

Value broadcastTo(Trace &trace, const Value &value, const Shape &shape, Loc loc) {
  TileType type = trace.type(value, loc);
  if (type.shape == shape)
    return trace.handle(value.node());
  const Node &source = trace.at(trace.graph().resolve(value.node()));
  if (type.isScalar() && source.kind == Node::Constant)
    return isFloat(type.dtype) ? trace.number(type.dtype, source.number, loc, shape)
                               : trace.integer(type.dtype, source.integer, loc, shape);
  if (type.isScalar()) {
    type.shape = shape;
    return trace.op("tile.splat", type, {value}, loc);
  }
  NodeId expanded = value.node();
  while (type.shape.rank() < shape.rank()) {
    Shape wider = {1};
    for (int64_t extent : type.shape)
      wider.append(extent);
    type.shape = wider;
    expanded = trace
                   .op("tile.expand_dims", type, {trace.handle(expanded)}, loc,
                       {{Attribute::I32, "axis", {0}}})
                   .node();
  }
  if (type.shape == shape)
    return trace.handle(expanded);
  type.shape = shape;
  return trace.op("tile.broadcast", type, {trace.handle(expanded)}, loc);
}

Value unify(Trace &trace, DType dtype, const Shape &shape, const Arg &operand, const char *op,
            Loc loc) {
  if (!operand.isStaged())
    return convertTo(trace, dtype, operand, op, loc, shape);
  return broadcastTo(trace, castValue(trace, dtype, operand.value(), loc), shape, loc);
}

Value unifyToCompute(Trace &trace, DType dtype, const Shape &shape, const Arg &operand,
                     const char *op, Loc loc) {
  return castValue(trace, computedIn(dtype), unify(trace, dtype, shape, operand, op, loc), loc);
}

Value computeFloat(Trace &trace, const char *name, const Value &value, Loc loc) {
  DType dtype = trace.type(value, loc).dtype;
  Value wide = castValue(trace, computedIn(dtype), value, loc);
  return castValue(trace, dtype, trace.op(name, trace.type(wide, loc), {wide}, loc), loc);
}

// --- Checks --------------------------------------------------------------------------------------

void checkShape(Trace &trace, const char *op, const Shape &shape, Loc loc) {
  if (shape.rank() > kMaxRank)
    trace.fail(loc,
               std::string(op) + ": a tile has at most " + std::to_string(kMaxRank) +
                   " dimensions, got " + std::to_string(shape.rank()),
               {}, ErrorCode::InvalidShape);
  int64_t elements = 1;
  for (int64_t extent : shape) {
    if (extent < 1)
      trace.fail(loc, std::string(op) + ": the shape " + shape.str() + " has an extent below 1", {},
                 ErrorCode::InvalidShape);
    elements = extent > kMaxTileElements ? kMaxTileElements + 1 : elements * extent;
    if (elements > kMaxTileElements)
      trace.fail(loc,
                 std::string(op) + ": the shape " + shape.str() + " has more than " +
                     std::to_string(kMaxTileElements) + " elements",
                 {}, ErrorCode::InvalidShape);
  }
}

void checkData(Trace &trace, const char *op, const Arg &operand, Loc loc) {
  if (!operand.isStaged())
    return;
  TileType type = trace.type(operand.value(), loc);
  if (type.category != TileType::Data)
    trace.fail(loc, std::string(op) + ": needs numbers, got " + type.str(),
               {madeNote(trace, "it was", operand.value())});
}

int checkAxis(Trace &trace, const char *op, int axis, int rank, Loc loc) {
  if (axis < -rank || axis >= rank)
    trace.fail(loc,
               std::string(op) + ": axis " + std::to_string(axis) + " is outside a rank of " +
                   std::to_string(rank),
               {}, ErrorCode::InvalidShape);
  return axis < 0 ? axis + rank : axis;
}

} // namespace tile::frontend
