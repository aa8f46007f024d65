// Elements picked or counted by their value.
#include "frontend/language/Checks.h"
#include "frontend/language/Promotion.h"
#include "frontend/trace/Trace.h"

using namespace tile;
using namespace tile::frontend;

namespace {

Value tileOf(Trace &trace, const char *op, const char *what, const Arg &x, Loc loc) {
  checkData(trace, op, x, loc);
  Value value = materialize(trace, x, loc);
  TileType type = trace.type(value, loc);
  if (type.isScalar())
    trace.fail(loc, std::string(op) + ": " + what + " must be a tile, got a scalar, " + type.str(),
               {madeNote(trace, what, value)}, ErrorCode::InvalidShape);
  return value;
}

/// Integers as i32; wider ones would lose their upper half.
Value asI32(Trace &trace, const char *op, const char *what, const Value &value, Loc loc) {
  DType type = trace.type(value, loc).dtype;
  if (!isInteger(type) || type == i1 || widthOf(type) > 32)
    trace.fail(loc,
               std::string(op) + ": " + what + " must be integers of up to 32 bits, got " +
                   nameOf(type) + ": cast them to i32",
               {madeNote(trace, what, value)});
  return castValue(trace, i32, value, loc);
}

} // namespace

Value tile::gather(Arg source, Arg indices, int axis, Loc loc) {
  Trace &trace = Trace::current(loc);
  Value from = tileOf(trace, "gather", "the source", source, loc),
        at = tileOf(trace, "gather", "the indices", indices, loc);
  TileType type = trace.type(from, loc);
  Shape shape = trace.type(at, loc).shape;
  int dim = checkAxis(trace, "gather", axis, type.shape.rank(), loc);
  bool fits = shape.rank() == type.shape.rank();
  for (int i = 0; fits && i < shape.rank(); ++i)
    fits = i == dim || shape[i] == type.shape[i];
  if (!fits)
    trace.fail(loc,
               "gather: indices of " + shape.str() + " do not fit a source of " + type.shape.str() +
                   ": all extents but that of axis " + std::to_string(dim) + " must be equal",
               {madeNote(trace, Arg(from, loc), Arg(at, loc))}, ErrorCode::InvalidShape);
  Value numbers = asI32(trace, "gather", "the indices", at, loc);
  if (isChecked(trace)) {
    Value inside = Arg(cast(u32, Arg(numbers, loc), loc), loc) < Arg(type.shape[dim], loc);
    recordAssert(trace, inside, "gather: an index is outside the source", loc);
  }
  return trace.op("tile.gather", {TileType::Data, type.dtype, shape}, {from, numbers}, loc,
                  {{Attribute::I32, "axis", {dim}}});
}

static Value histogramOf(const Arg &x, int bins, const Arg *mask, Loc loc) {
  Trace &trace = Trace::current(loc);
  Value tile = tileOf(trace, "histogram", "the operand", x, loc);
  Shape shape = trace.type(tile, loc).shape, counts = {bins};
  if (shape.rank() != 1)
    trace.fail(loc, "histogram: needs one dimension, got " + shape.str() + ": write ravel(...)",
               {madeNote(trace, "operand", tile)}, ErrorCode::InvalidShape);
  checkShape(trace, "histogram", counts, loc);
  std::vector<Value> operands = {asI32(trace, "histogram", "the elements", tile, loc)};
  if (mask) {
    TileType type = trace.type(materialize(trace, *mask, loc), loc);
    if (type.category != TileType::Data || type.dtype != i1 ||
        (!type.isScalar() && type.shape != shape))
      trace.fail(
          loc, "histogram: the mask must be i1 in the shape " + shape.str() + ", got " + type.str(),
          {madeNote(trace, "operand", tile)}, ErrorCode::InvalidShape);
    operands.push_back(unify(trace, i1, shape, *mask, "histogram", loc));
  }
  return trace.op("tile.histogram", {TileType::Data, i32, counts}, operands, loc);
}

Value tile::histogram(Arg x, int bins, Arg mask, Loc loc) {
  return histogramOf(x, bins, &mask, loc);
}
Value tile::histogram(Arg x, int bins, Loc loc) { return histogramOf(x, bins, nullptr, loc); }
