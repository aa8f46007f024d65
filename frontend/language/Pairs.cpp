// Joining, splitting and mirroring tiles. Concatenation and interleaving are a join whose new
// dimension is folded into another.
#include "frontend/language/Promotion.h"
#include "frontend/trace/Trace.h"

using namespace tile;
using namespace tile::frontend;

/// A tile or scalar of numbers; scalars only if the operation says so.
static Value numberTile(Trace &trace, const char *op, const Arg &x, Loc loc) {
  checkData(trace, op, x, loc);
  Value value = materialize(trace, x, loc);
  if (trace.type(value, loc).isScalar())
    trace.fail(loc,
               std::string(op) + ": needs a tile, got a scalar, " + trace.type(value, loc).str(),
               {madeNote(trace, "operand", value)}, ErrorCode::InvalidShape);
  return value;
}

Value tile::item(Arg x, Loc loc) {
  Trace &trace = Trace::current(loc);
  Value value = materialize(trace, x, loc);
  TileType type = trace.type(value, loc);
  if (type.category == TileType::View)
    trace.fail(loc, "item: needs a tile, got a view: load a tile of it first");
  if (type.isScalar())
    return value;
  if (type.shape.elements() != 1)
    trace.fail(loc, "item: needs a tile of one element, got " + type.str() + ": reduce it first",
               {madeNote(trace, "operand", value)}, ErrorCode::InvalidShape);
  type.shape = {};
  return trace.op("tile.item", type, {value}, loc);
}

/// Two operands in one dtype and shape, at least of rank 1.
static std::pair<Value, Value> unifyPair(Trace &trace, const char *op, const Arg &a, const Arg &b,
                                         Loc loc) {
  DType dtype = commonType(trace, op, {&a, &b}, loc);
  Shape shape = commonShape(trace, op, {&a, &b}, loc);
  if (shape.rank() == 0)
    shape = {1};
  return {unify(trace, dtype, shape, a, op, loc), unify(trace, dtype, shape, b, op, loc)};
}

/// Two tiles of one shape along a new last dimension.
static Value joinTiles(Trace &trace, const char *op, const Value &a, const Value &b, Loc loc) {
  TileType type = trace.type(a, loc);
  if (type.shape.rank() == kMaxRank)
    trace.fail(loc,
               std::string(op) + ": a tile has at most " + std::to_string(kMaxRank) +
                   " dimensions, and " + type.str() + " needs one more",
               {madeNote(trace, "operand", a)}, ErrorCode::InvalidShape);
  type.shape.append(2);
  checkShape(trace, op, type.shape, loc);
  return trace.op("tile.join", type, {a, b}, loc);
}

Value tile::join(Arg a, Arg b, Loc loc) {
  Trace &trace = Trace::current(loc);
  bool areScalars = commonShape(trace, "join", {&a, &b}, loc).rank() == 0;
  auto [first, second] = unifyPair(trace, "join", a, b, loc);
  Value joined = joinTiles(trace, "join", first, second, loc);
  return areScalars ? reshape(Arg(joined, loc), {2}, loc) : joined;
}

std::pair<Value, Value> tile::split(Arg x, Loc loc) {
  Trace &trace = Trace::current(loc);
  Value value = numberTile(trace, "split", x, loc);
  TileType type = trace.type(value, loc);
  if (type.shape[type.shape.rank() - 1] != 2)
    trace.fail(loc,
               "split: the last dimension must have extent 2, got " + type.str() +
                   ": reshape it first",
               {madeNote(trace, "operand", value)}, ErrorCode::InvalidShape);
  if (type.shape.rank() == 1) { // the halves are scalars
    value = expand_dims(Arg(value, loc), 0, loc);
    auto [first, second] = split(Arg(value, loc), loc);
    return {item(Arg(first, loc), loc), item(Arg(second, loc), loc)};
  }
  Shape half;
  for (int dim = 0; dim < type.shape.rank() - 1; ++dim)
    half.append(type.shape[dim]);
  type.shape = half;
  auto pick = [&](int64_t index) {
    return trace.op("tile.half", type, {value}, loc, {{Attribute::I32, "index", {index}}});
  };
  return {pick(0), pick(1)};
}

/// [.., n, 2] with the 2 moved before dimension `dim` and folded into it.
static Value foldLast(Trace &trace, const Value &joined, int dim, Loc loc) {
  TileType type = trace.type(joined, loc);
  int last = type.shape.rank() - 1;
  TileType moved = type;
  moved.shape = {};
  std::vector<int64_t> order;
  Shape folded;
  for (int i = 0; i < last; ++i) {
    if (i == dim)
      order.push_back(last), moved.shape.append(2);
    order.push_back(i), moved.shape.append(type.shape[i]);
    folded.append(i == dim ? 2 * type.shape[i] : type.shape[i]);
  }
  Value permuted =
      trace.op("tile.permute", moved, {joined}, loc, {{Attribute::I32Array, "order", order}});
  return reshape(Arg(permuted, loc), folded, loc);
}

Value tile::cat(Arg a, Arg b, int dim, Loc loc) {
  Trace &trace = Trace::current(loc);
  Value first = numberTile(trace, "cat", a, loc), second = numberTile(trace, "cat", b, loc);
  TileType left = trace.type(first, loc), right = trace.type(second, loc);
  int axis = checkAxis(trace, "cat", dim, left.shape.rank(), loc);
  if (left.shape != right.shape)
    trace.fail(loc, "cat: tiles differ in shape: " + left.shape.str() + " and " + right.shape.str(),
               {madeNote(trace, Arg(first, loc), Arg(second, loc))}, ErrorCode::InvalidShape);
  int64_t extent = left.shape[axis];
  if ((extent & (extent - 1)) != 0)
    trace.fail(loc,
               "cat: the extent along dimension " + std::to_string(axis) +
                   " must be a power of two, got " + left.str(),
               {madeNote(trace, "operand", first)}, ErrorCode::InvalidShape);
  DType dtype = commonType(trace, "cat", {&a, &b}, loc);
  Value joined = joinTiles(trace, "cat", castValue(trace, dtype, first, loc),
                           castValue(trace, dtype, second, loc), loc);
  return foldLast(trace, joined, axis, loc);
}

Value tile::interleave(Arg a, Arg b, Loc loc) {
  Trace &trace = Trace::current(loc);
  auto [first, second] = unifyPair(trace, "interleave", a, b, loc);
  Value joined = joinTiles(trace, "interleave", first, second, loc);
  Shape shape = trace.type(first, loc).shape;
  shape[shape.rank() - 1] *= 2;
  return reshape(Arg(joined, loc), shape, loc);
}

Value tile::flip(Arg x, int dim, Loc loc) {
  Trace &trace = Trace::current(loc);
  Value value = numberTile(trace, "flip", x, loc);
  TileType type = trace.type(value, loc);
  int axis = checkAxis(trace, "flip", dim, type.shape.rank(), loc);
  return trace.op("tile.flip", type, {value}, loc, {{Attribute::I32, "axis", {axis}}});
}
