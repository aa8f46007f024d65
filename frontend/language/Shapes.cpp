// Making tiles and changing their shapes.
#include "frontend/language/Promotion.h"
#include "frontend/trace/Trace.h"
#include "ir/layout/Derived.h"

#include <algorithm>

using namespace tile;
using namespace tile::frontend;

// --- Creation ------------------------------------------------------------------------------------

Value tile::full(DType dtype, const Shape &shape, Arg fill, Loc loc) {
  Trace &trace = Trace::current(loc);
  checkShape(trace, "full", shape, loc);
  if (dtype == any)
    trace.fail(loc, "full: 'any' is not the dtype of a tile");
  checkData(trace, "full", fill, loc);
  if (fill.isStaged() && !trace.type(fill.value(), loc).isScalar())
    trace.fail(loc, "full: the fill must be a scalar, got " + trace.type(fill.value(), loc).str(),
               {madeNote(trace, "the fill", fill.value())}, ErrorCode::InvalidShape);
  return unify(trace, dtype, shape, fill, "full", loc);
}

Value tile::zeros(DType dtype, const Shape &shape, Loc loc) {
  return full(dtype, shape, Arg(0, loc), loc);
}

Value tile::zeros_like(Arg like, Loc loc) {
  Trace &trace = Trace::current(loc);
  checkData(trace, "zeros_like", like, loc);
  TileType type = trace.type(materialize(trace, like, loc), loc);
  return zeros(type.dtype, type.shape, loc);
}

Value tile::splat(Arg scalar, const Shape &shape, Loc loc) {
  Trace &trace = Trace::current(loc);
  checkShape(trace, "splat", shape, loc);
  Value value = materialize(trace, scalar, loc);
  TileType type = trace.type(value, loc);
  if (!type.isScalar() || type.category == TileType::View)
    trace.fail(loc, "splat: needs a scalar, got " + type.str(), {madeNote(trace, "it was", value)},
               ErrorCode::InvalidShape);
  return broadcastTo(trace, value, shape, loc);
}

Value tile::arange(int lo, int hi, Loc loc) {
  Trace &trace = Trace::current(loc);
  if (hi <= lo)
    trace.fail(loc,
               "arange: needs lo < hi, got " + std::to_string(lo) + " and " + std::to_string(hi),
               {}, ErrorCode::InvalidShape);
  Shape shape = {static_cast<int64_t>(hi) - lo};
  checkShape(trace, "arange", shape, loc);
  return trace.op("tile.arange", {TileType::Data, i32, shape}, {}, loc,
                  {{Attribute::I32, "start", {lo}}, {Attribute::I32, "end", {hi}}});
}
Value tile::arange(int n, Loc loc) { return arange(0, n, loc); }

Value tile::index(int dim, const Shape &shape, Loc loc) {
  Trace &trace = Trace::current(loc);
  checkShape(trace, "index", shape, loc);
  int axis = checkAxis(trace, "index", dim, shape.rank(), loc);
  Shape line;
  for (int i = 0; i < shape.rank(); ++i)
    line.append(i == axis ? shape[i] : 1);
  Value values = reshape(Arg(arange(static_cast<int>(shape[axis]), loc), loc), line, loc);
  return broadcastTo(trace, values, shape, loc);
}

// --- Shape ---------------------------------------------------------------------------------------

/// The operand of a shape operation: anything but a view.
static Value shapeOperand(Trace &trace, const char *op, const Arg &x, Loc loc) {
  Value value = materialize(trace, x, loc);
  if (trace.type(value, loc).category == TileType::View)
    trace.fail(loc, std::string(op) + ": needs a tile, got a view: load a tile of it first");
  return value;
}

/// True if a layout of one shape can be read as one of the other, which the layout algebra decides.
static bool keepsOddFactors(const Shape &from, const Shape &to) {
  layout::Shape source(from.begin(), from.end()), target(to.begin(), to.end());
  return layout::reshape(layout::Layout::replicated(source, 1), target).has_value();
}

Value tile::reshape(Arg x, const Shape &shape, Loc loc) {
  Trace &trace = Trace::current(loc);
  Value value = shapeOperand(trace, "reshape", x, loc);
  TileType type = trace.type(value, loc);
  checkShape(trace, "reshape", shape, loc);
  if (type.shape == shape)
    return value;
  if (type.shape.elements() != shape.elements())
    trace.fail(loc,
               "reshape: " + type.shape.str() + " has " + std::to_string(type.shape.elements()) +
                   " elements, " + shape.str() + " has " + std::to_string(shape.elements()),
               {madeNote(trace, "operand", value)}, ErrorCode::InvalidShape);
  if (type.isScalar())
    return broadcastTo(trace, value, shape, loc);
  if (shape.rank() == 0)
    trace.fail(loc, "reshape: a tile cannot become a scalar: reduce it",
               {madeNote(trace, "operand", value)}, ErrorCode::InvalidShape);
  if (!keepsOddFactors(type.shape, shape))
    trace.fail(
        loc,
        "reshape: " + type.shape.str() + " cannot become " + shape.str() +
            ": each extent is 2^k times an odd number, which must stay the outermost part of "
            "its dimension",
        {madeNote(trace, "operand", value)}, ErrorCode::InvalidShape);
  type.shape = shape;
  return trace.op("tile.reshape", type, {value}, loc);
}

Value tile::ravel(Arg x, Loc loc) {
  Trace &trace = Trace::current(loc);
  Value value = shapeOperand(trace, "ravel", x, loc);
  return reshape(Arg(value, loc), {trace.type(value, loc).shape.elements()}, loc);
}

Value tile::squeeze(Arg x, int axis, Loc loc) {
  Trace &trace = Trace::current(loc);
  Value value = shapeOperand(trace, "squeeze", x, loc);
  TileType type = trace.type(value, loc);
  int dim = checkAxis(trace, "squeeze", axis, type.shape.rank(), loc);
  if (type.shape[dim] != 1 || type.shape.rank() == 1)
    trace.fail(loc,
               "squeeze: dimension " + std::to_string(dim) + " of " + type.str() +
                   " cannot go: only an extent of 1 beside other dimensions can",
               {madeNote(trace, "operand", value)}, ErrorCode::InvalidShape);
  Shape shape;
  for (int i = 0; i < type.shape.rank(); ++i)
    if (i != dim)
      shape.append(type.shape[i]);
  return reshape(Arg(value, loc), shape, loc);
}

static Value permuteTile(Trace &trace, const char *op, const Value &value,
                         const std::vector<int> &order, Loc loc) {
  TileType type = trace.type(value, loc);
  std::vector<int64_t> sorted(order.begin(), order.end()), expected;
  std::sort(sorted.begin(), sorted.end());
  for (int dim = 0; dim < type.shape.rank(); ++dim)
    expected.push_back(dim);
  if (sorted != expected)
    trace.fail(loc,
               std::string(op) + ": the order must name each of the " +
                   std::to_string(type.shape.rank()) + " dimensions once",
               {madeNote(trace, "operand", value)}, ErrorCode::InvalidShape);
  Shape shape;
  for (int dim : order)
    shape.append(type.shape[dim]);
  type.shape = shape;
  return trace.op("tile.permute", type, {value}, loc,
                  {{Attribute::I32Array, "order", {order.begin(), order.end()}}});
}

Value tile::permute(Arg x, std::initializer_list<int> order, Loc loc) {
  Trace &trace = Trace::current(loc);
  return permuteTile(trace, "permute", shapeOperand(trace, "permute", x, loc), order, loc);
}

Value tile::trans(Arg x, Loc loc) {
  Trace &trace = Trace::current(loc);
  Value value = shapeOperand(trace, "trans", x, loc);
  int rank = trace.type(value, loc).shape.rank();
  if (rank < 2)
    trace.fail(loc, "trans: needs at least 2 dimensions, got " + trace.type(value, loc).str(),
               {madeNote(trace, "operand", value)}, ErrorCode::InvalidShape);
  std::vector<int> order;
  for (int dim = 0; dim < rank; ++dim)
    order.push_back(dim);
  std::swap(order[rank - 1], order[rank - 2]);
  return permuteTile(trace, "trans", value, order, loc);
}

Value tile::expand_dims(Arg x, int axis, Loc loc) {
  Trace &trace = Trace::current(loc);
  Value value = shapeOperand(trace, "expand_dims", x, loc);
  TileType type = trace.type(value, loc);
  int position = checkAxis(trace, "expand_dims", axis, type.shape.rank() + 1, loc);
  if (type.isScalar())
    return broadcastTo(trace, value, {1}, loc);
  Shape shape;
  for (int dim = 0; dim <= type.shape.rank(); ++dim)
    shape.append(dim == position ? 1 : type.shape[dim < position ? dim : dim - 1]);
  checkShape(trace, "expand_dims", shape, loc);
  type.shape = shape;
  return trace.op("tile.expand_dims", type, {value}, loc, {{Attribute::I32, "axis", {position}}});
}

bool tile::frontend::broadcasts(const Shape &from, const Shape &to) {
  bool fits = from.rank() == 0 || from.rank() == to.rank();
  for (int dim = 0; fits && dim < from.rank(); ++dim)
    fits = from[dim] == to[dim] || from[dim] == 1;
  return fits;
}

Value tile::broadcast_to(Arg x, const Shape &shape, Loc loc) {
  Trace &trace = Trace::current(loc);
  checkShape(trace, "broadcast_to", shape, loc);
  Value value = shapeOperand(trace, "broadcast_to", x, loc);
  TileType type = trace.type(value, loc);
  if (!broadcasts(type.shape, shape))
    trace.fail(loc,
               "broadcast_to: " + type.shape.str() + " cannot become " + shape.str() +
                   ": ranks must be equal, and only extents of 1 can grow",
               {madeNote(trace, "operand", value)}, ErrorCode::InvalidShape);
  return broadcastTo(trace, value, shape, loc);
}
