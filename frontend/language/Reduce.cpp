// Reductions along one axis or all, and the library of them. Sums of narrow types are widened
// first.
#include "frontend/language/Combine.h"
#include "frontend/language/Promotion.h"

using namespace tile;
using namespace tile::frontend;

namespace {

using Axis = std::optional<int>;

std::vector<Value> reduceAxis(Trace &trace, const char *op, const std::vector<Value> &tiles,
                              int dim, Combine combine, Loc loc) {
  std::vector<TileType> types = tileTypes(trace, op, tiles, loc), results = types;
  for (TileType &result : results) {
    result.shape = {};
    for (int i = 0; i < types[0].shape.rank(); ++i)
      if (i != dim)
        result.shape.append(types[0].shape[i]);
  }
  return combineTiles(trace, {"tile.reduce", op, {{Attribute::I32, "axis", {dim}}}}, tiles, types,
                      results, combine, loc);
}

/// Without an axis the axes go one after the other, the last first, since a tile with odd factors
/// cannot always be read as a row.
std::vector<Value> reduceTiles(Trace &trace, const char *op, std::vector<Value> tiles, Axis axis,
                               Combine combine, bool keepDims, Loc loc) {
  Shape shape = tileTypes(trace, op, tiles, loc)[0].shape;
  int first = 0, last = shape.rank() - 1;
  if (axis)
    first = last = checkAxis(trace, op, *axis, shape.rank(), loc);
  for (int dim = last; dim >= first; --dim) {
    tiles = reduceAxis(trace, op, tiles, dim, combine, loc);
    shape[dim] = 1;
  }
  if (keepDims)
    for (Value &tile : tiles)
      tile = reshape(Arg(tile, loc), shape, loc);
  return tiles;
}

template <class Function>
Value reduceOne(const char *op, const Value &tile, Axis axis, bool keepDims, Loc loc,
                Function combine) {
  auto combineLists = onTuples(combine);
  return reduceTiles(Trace::current(loc), op, {tile}, axis, combineLists, keepDims, loc)[0];
}

template <class Function>
Value accumulate(const char *op, const Arg &x, Axis axis, const ReduceOptions &options, Loc loc,
                 Function combine) {
  return accumulated(Trace::current(loc), op, x, options.dtype, loc, [&](const Value &wide) {
    return reduceOne(op, wide, axis, options.keep_dims, loc, combine);
  });
}

/// Refuses an asked dtype where the result's dtype is the operand's.
void checkNoDtype(const char *op, const ReduceOptions &options, Loc loc) {
  if (options.dtype != any)
    Trace::current(loc).fail(loc, std::string(op) +
                                      ": has no dtype to choose, cast the result to " +
                                      nameOf(options.dtype));
}

/// The place of each element among those that are reduced together: along the axis, or row-major in
/// the whole tile.
Value indexAlong(const Shape &shape, Axis axis, Loc loc) {
  if (axis)
    return index(*axis, shape, loc);
  Value total = index(shape.rank() - 1, shape, loc);
  int64_t stride = shape[shape.rank() - 1];
  for (int dim = shape.rank() - 2; dim >= 0; --dim) {
    total = Arg(total, loc) + Arg(Arg(index(dim, shape, loc), loc) * Arg(stride, loc), loc);
    stride *= shape[dim];
  }
  return total;
}

/// The extreme element and its index: of pairs (value, index) the better value wins, then the
/// smaller index; NaN loses.
ValueAndIndex extreme(const char *op, const Arg &x, Axis axis, const ReduceOptions &options,
                      Loc loc, bool largest) {
  checkNoDtype(op, options, loc);
  Trace &trace = Trace::current(loc);
  Value tile = tileOperand(trace, op, x, loc);
  TileType type = trace.type(tile, loc);
  if (axis)
    axis = checkAxis(trace, op, *axis, type.shape.rank(), loc);
  auto combine = [&](const std::vector<Value> &left, const std::vector<Value> &right) {
    Arg a(left[0], loc), b(right[0], loc), i(left[1], loc), j(right[1], loc);
    Arg better(largest ? a > b : a < b, loc), same(a == b, loc), earlier(i < j, loc);
    Value keep = better | Arg(same & earlier, loc);
    if (isFloat(type.dtype)) {
      Arg leftNan(a != a, loc), rightNan(b != b, loc);
      Arg onlyRight(Arg(~leftNan, loc) & rightNan, loc),
          both(Arg(leftNan & rightNan, loc) & earlier, loc);
      keep = Arg(Arg(keep, loc) | onlyRight, loc) | both;
    }
    return std::vector<Value>{select(Arg(keep, loc), a, b, loc), select(Arg(keep, loc), i, j, loc)};
  };
  std::vector<Value> results = reduceTiles(trace, op, {tile, indexAlong(type.shape, axis, loc)},
                                           axis, combine, options.keep_dims, loc);
  return {results[0], results[1]};
}

/// Reduces integers or i1 by a bitwise operator.
template <class Function>
Value bitwise(const char *op, const Arg &x, Axis axis, const ReduceOptions &options, Loc loc,
              Function combine) {
  checkNoDtype(op, options, loc);
  Trace &trace = Trace::current(loc);
  Value tile = tileOperand(trace, op, x, loc);
  TileType type = trace.type(tile, loc);
  if (isFloat(type.dtype))
    trace.fail(loc, std::string(op) + ": needs integers, got " + type.str(),
               {madeNote(trace, "operand", tile)});
  return reduceOne(op, tile, axis, options.keep_dims, loc, combine);
}

} // namespace

Value tile::reduce(Arg x, std::optional<int> axis, detail::FunctionRef<Value(Value, Value)> combine,
                   ReduceOptions options, Loc loc) {
  Trace &trace = Trace::current(loc);
  checkNoDtype("reduce", options, loc);
  return reduceOne("reduce", tileOperand(trace, "reduce", x, loc), axis, options.keep_dims, loc,
                   combine);
}

std::vector<Value> tile::reduce(const std::vector<Value> &tiles, std::optional<int> axis,
                                Combine combine, ReduceOptions options, Loc loc) {
  checkNoDtype("reduce", options, loc);
  return reduceTiles(Trace::current(loc), "reduce", tiles, axis, combine, options.keep_dims, loc);
}

Value tile::sum(Arg x, std::optional<int> axis, ReduceOptions options, Loc loc) {
  return accumulate("sum", x, axis, options, loc,
                    [&](Value a, Value b) { return added(a, b, loc); });
}
Value tile::prod(Arg x, std::optional<int> axis, ReduceOptions options, Loc loc) {
  return accumulate("prod", x, axis, options, loc,
                    [&](Value a, Value b) { return multiplied(a, b, loc); });
}

Value tile::mean(Arg x, std::optional<int> axis, ReduceOptions options, Loc loc) {
  Trace &trace = Trace::current(loc);
  Value tile = tileOperand(trace, "mean", x, loc);
  TileType type = trace.type(tile, loc);
  if (axis)
    axis = checkAxis(trace, "mean", *axis, type.shape.rank(), loc);
  DType result = options.dtype != any ? options.dtype : isFloat(type.dtype) ? type.dtype : f32;
  if (!isFloat(result))
    trace.fail(loc, std::string("mean: gives floats, got dtype ") + nameOf(result));
  options.dtype = result == f64 || type.dtype == f64 ? f64 : f32;
  Value total = sum(Arg(tile, loc), axis, options, loc);
  int64_t count = axis ? type.shape[*axis] : type.shape.elements();
  return castValue(trace, result, Arg(total, loc) / Arg(static_cast<double>(count), loc), loc);
}

Value tile::reduce_max(Arg x, std::optional<int> axis, ReduceOptions options, Loc loc) {
  checkNoDtype("reduce_max", options, loc);
  Value tile = tileOperand(Trace::current(loc), "reduce_max", x, loc);
  return reduceOne("reduce_max", tile, axis, options.keep_dims, loc,
                   [&](Value a, Value b) { return max(Arg(a, loc), Arg(b, loc), loc); });
}
Value tile::reduce_min(Arg x, std::optional<int> axis, ReduceOptions options, Loc loc) {
  checkNoDtype("reduce_min", options, loc);
  Value tile = tileOperand(Trace::current(loc), "reduce_min", x, loc);
  return reduceOne("reduce_min", tile, axis, options.keep_dims, loc,
                   [&](Value a, Value b) { return min(Arg(a, loc), Arg(b, loc), loc); });
}
ValueAndIndex tile::max_with_index(Arg x, std::optional<int> axis, ReduceOptions options, Loc loc) {
  return extreme("max_with_index", x, axis, options, loc, true);
}
ValueAndIndex tile::min_with_index(Arg x, std::optional<int> axis, ReduceOptions options, Loc loc) {
  return extreme("min_with_index", x, axis, options, loc, false);
}
Value tile::argmax(Arg x, std::optional<int> axis, ReduceOptions options, Loc loc) {
  return extreme("argmax", x, axis, options, loc, true).index;
}
Value tile::argmin(Arg x, std::optional<int> axis, ReduceOptions options, Loc loc) {
  return extreme("argmin", x, axis, options, loc, false).index;
}

Value tile::xor_sum(Arg x, std::optional<int> axis, ReduceOptions options, Loc loc) {
  return bitwise("xor_sum", x, axis, options, loc,
                 [&](Value a, Value b) { return Arg(a, loc) ^ Arg(b, loc); });
}
Value tile::reduce_or(Arg x, std::optional<int> axis, ReduceOptions options, Loc loc) {
  return bitwise("reduce_or", x, axis, options, loc,
                 [&](Value a, Value b) { return Arg(a, loc) | Arg(b, loc); });
}
Value tile::any_of(Arg x, std::optional<int> axis, ReduceOptions options, Loc loc) {
  Trace &trace = Trace::current(loc);
  Value truth = castValue(trace, i1, tileOperand(trace, "any_of", x, loc), loc);
  return bitwise("any_of", Arg(truth, loc), axis, options, loc,
                 [&](Value a, Value b) { return Arg(a, loc) | Arg(b, loc); });
}
Value tile::all_of(Arg x, std::optional<int> axis, ReduceOptions options, Loc loc) {
  Trace &trace = Trace::current(loc);
  Value truth = castValue(trace, i1, tileOperand(trace, "all_of", x, loc), loc);
  return bitwise("all_of", Arg(truth, loc), axis, options, loc,
                 [&](Value a, Value b) { return Arg(a, loc) & Arg(b, loc); });
}

Value tile::softmax(Arg x, int axis, Loc loc) {
  Trace &trace = Trace::current(loc);
  Value tile = tileOperand(trace, "softmax", x, loc);
  DType type = trace.type(tile, loc).dtype;
  if (!isFloat(type))
    trace.fail(loc, std::string("softmax: needs floats, got ") + nameOf(type) + ": cast it first",
               {madeNote(trace, "operand", tile)});
  Arg wide(castValue(trace, type == f64 ? f64 : f32, tile, loc), loc);
  Arg largest(reduce_max(wide, axis, {.keep_dims = true}, loc), loc);
  Arg raised(exp(Arg(wide - largest, loc), loc), loc);
  Value result = raised / Arg(sum(raised, axis, {.keep_dims = true}, loc), loc);
  return castValue(trace, type, result, loc);
}
