// Reductions: a combine function, traced once on scalars, and the library of them. Sums of narrow
// types are widened first.
#include "frontend/Promotion.h"
#include "frontend/Trace.h"

using namespace tile;
using namespace tile::frontend;

namespace {

using Combine =
    detail::FunctionRef<std::vector<Value>(const std::vector<Value> &, const std::vector<Value> &)>;

/// Leaves the combine scope when the user's function throws.
struct CombineGuard {
  Trace &trace;
  ScopeId scope;
  ~CombineGuard() { trace.abandon(scope); }
};

std::vector<Value> scalarArguments(Trace &trace, ScopeId scope, const std::vector<TileType> &types,
                                   Loc loc) {
  std::vector<Value> scalars;
  for (const TileType &type : types) {
    Node argument;
    argument.kind = Node::BlockArg;
    argument.type = {TileType::Data, type.dtype, {}};
    argument.loc = loc;
    NodeId id = trace.add(std::move(argument));
    trace.scopeAt(scope).arguments.push_back(id);
    scalars.push_back(trace.handle(id));
  }
  return scalars;
}

void checkCombined(Trace &trace, const std::vector<Value> &combined,
                   const std::vector<TileType> &types, Loc loc) {
  if (combined.size() != types.size())
    trace.fail(loc, "reduce: the combine function must return " + std::to_string(types.size()) +
                        " values, it returned " + std::to_string(combined.size()));
  for (size_t i = 0; i < types.size(); ++i) {
    TileType expected{TileType::Data, types[i].dtype, {}}, actual = trace.type(combined[i], loc);
    if (actual != expected)
      trace.fail(loc,
                 "reduce: the combine function must return " + expected.str() + ", it returned " +
                     actual.str(),
                 {madeNote(trace, "the result was", combined[i])});
  }
}

ScopeId traceCombine(Trace &trace, const std::vector<TileType> &types, Combine combine, Loc loc) {
  ScopeId scope = trace.open(Scope::Combine, loc);
  CombineGuard guard{trace, scope};
  std::vector<Value> left = scalarArguments(trace, scope, types, loc),
                     right = scalarArguments(trace, scope, types, loc);
  std::vector<Value> combined = combine(left, right);
  checkCombined(trace, combined, types, loc);
  for (const Value &value : combined)
    trace.scopeAt(scope).yields.push_back(trace.use(value, loc));
  trace.close(scope);
  return scope;
}

std::vector<TileType> tileTypes(Trace &trace, const std::vector<Value> &tiles, Loc loc) {
  if (tiles.empty())
    trace.fail(loc, "reduce: needs at least one tile");
  std::vector<TileType> types;
  for (const Value &tile : tiles) {
    TileType type = trace.type(tile, loc);
    if (type.category != TileType::Data || type.isScalar())
      trace.fail(loc, "reduce: needs a tile of numbers, got " + type.str(),
                 {madeNote(trace, "operand", tile)}, ErrorCode::InvalidShape);
    if (!types.empty() && type.shape != types[0].shape)
      trace.fail(loc,
                 "reduce: tiles differ in shape: " + types[0].shape.str() + " and " +
                     type.shape.str(),
                 {madeNote(trace, Arg(tiles[0], loc), Arg(tile, loc))}, ErrorCode::InvalidShape);
    types.push_back(type);
  }
  return types;
}

std::vector<Value> reduceTiles(Trace &trace, const std::vector<Value> &tiles, int axis,
                               Combine combine, bool keepDims, Loc loc) {
  std::vector<TileType> types = tileTypes(trace, tiles, loc);
  int dim = checkAxis(trace, "reduce", axis, types[0].shape.rank(), loc);
  Node node;
  node.name = "tile.reduce";
  node.loc = loc;
  node.regions = {traceCombine(trace, types, combine, loc)};
  node.attributes = {{Attribute::I32, "axis", {dim}}};
  Shape reduced;
  for (int i = 0; i < types[0].shape.rank(); ++i)
    if (i != dim)
      reduced.append(types[0].shape[i]);
  for (size_t i = 0; i < tiles.size(); ++i) {
    node.operands.push_back(trace.use(tiles[i], loc));
    node.results.push_back({TileType::Data, types[i].dtype, reduced});
  }
  NodeId id = trace.add(node);
  std::vector<Value> results;
  for (size_t i = 0; i < tiles.size(); ++i) {
    Node result;
    result.kind = Node::Result;
    result.type = node.results[i];
    result.operands = {id};
    result.index = static_cast<int>(i);
    result.loc = loc;
    Value value = trace.handle(trace.add(std::move(result)));
    results.push_back(keepDims ? expand_dims(Arg(value, loc), dim, loc) : value);
  }
  return results;
}

template <class Function>
Value reduceOne(const Value &tile, int axis, bool keepDims, Loc loc, Function combine) {
  auto combineLists = [&](const std::vector<Value> &left, const std::vector<Value> &right) {
    return std::vector<Value>{combine(left[0], right[0])};
  };
  return reduceTiles(Trace::current(loc), {tile}, axis, combineLists, keepDims, loc)[0];
}

/// The operand of a reduction, with its dtype.
Value tileOperand(Trace &trace, const char *op, const Arg &x, Loc loc) {
  checkData(trace, op, x, loc);
  Value value = materialize(trace, x, loc);
  if (trace.type(value, loc).isScalar())
    trace.fail(loc,
               std::string(op) + ": needs a tile, got a scalar, " + trace.type(value, loc).str(),
               {madeNote(trace, "operand", value)}, ErrorCode::InvalidShape);
  return value;
}

/// The dtype in which a sum is formed, and the one that it has.
DType accumulationType(DType type) {
  if (isFloat(type))
    return sizeOf(type) < 4 ? f32 : type;
  if (widthOf(type) >= 32)
    return type;
  return isUnsigned(type) ? u32 : i32;
}
DType sumType(DType type) { return isFloat(type) ? type : accumulationType(type); }

template <class Function>
Value accumulate(const char *op, const Arg &x, int axis, ReduceOptions options, Loc loc,
                 Function combine) {
  Trace &trace = Trace::current(loc);
  Value tile = tileOperand(trace, op, x, loc);
  DType type = trace.type(tile, loc).dtype;
  Value wide = castValue(trace, accumulationType(type), tile, loc);
  return castValue(trace, sumType(type), reduceOne(wide, axis, options.keep_dims, loc, combine),
                   loc);
}

/// The index of the extreme element: of pairs (value, index) the better value wins, then the
/// smaller index; NaN loses.
Value argExtreme(const char *op, const Arg &x, int axis, ReduceOptions options, Loc loc,
                 bool largest) {
  Trace &trace = Trace::current(loc);
  Value tile = tileOperand(trace, op, x, loc);
  TileType type = trace.type(tile, loc);
  int dim = checkAxis(trace, op, axis, type.shape.rank(), loc);
  auto combine = [&](const std::vector<Value> &left, const std::vector<Value> &right) {
    Arg a(left[0], loc), b(right[0], loc), i(left[1], loc), j(right[1], loc);
    Arg better(largest ? a > b : a < b, loc), same(a == b, loc), earlier(i < j, loc);
    Value keep = better | Arg(same & earlier, loc);
    if (isFloat(type.dtype)) {
      Arg leftNan(a != a, loc), rightNan(b != b, loc);
      Arg onlyRight(Arg(~leftNan, loc) & rightNan, loc),
          both(Arg(leftNan & rightNan, loc) & earlier, loc);
      return std::vector<Value>{
          select(Arg(Arg(Arg(keep, loc) | onlyRight, loc) | both, loc), a, b, loc),
          select(Arg(Arg(Arg(keep, loc) | onlyRight, loc) | both, loc), i, j, loc)};
    }
    return std::vector<Value>{select(Arg(keep, loc), a, b, loc), select(Arg(keep, loc), i, j, loc)};
  };
  return reduceTiles(trace, {tile, index(dim, type.shape, loc)}, dim, combine, options.keep_dims,
                     loc)[1];
}

} // namespace

Value tile::reduce(Arg x, int axis, detail::FunctionRef<Value(Value, Value)> combine,
                   ReduceOptions options, Loc loc) {
  Trace &trace = Trace::current(loc);
  return reduceOne(tileOperand(trace, "reduce", x, loc), axis, options.keep_dims, loc, combine);
}

std::vector<Value> tile::reduce(const std::vector<Value> &tiles, int axis, Combine combine,
                                ReduceOptions options, Loc loc) {
  return reduceTiles(Trace::current(loc), tiles, axis, combine, options.keep_dims, loc);
}

Value tile::sum(Arg x, int axis, ReduceOptions options, Loc loc) {
  return accumulate("sum", x, axis, options, loc,
                    [&](Value a, Value b) { return Arg(a, loc) + Arg(b, loc); });
}
Value tile::prod(Arg x, int axis, ReduceOptions options, Loc loc) {
  return accumulate("prod", x, axis, options, loc,
                    [&](Value a, Value b) { return Arg(a, loc) * Arg(b, loc); });
}

Value tile::mean(Arg x, int axis, ReduceOptions options, Loc loc) {
  Trace &trace = Trace::current(loc);
  Value tile = tileOperand(trace, "mean", x, loc);
  TileType type = trace.type(tile, loc);
  int dim = checkAxis(trace, "mean", axis, type.shape.rank(), loc);
  Value wide = castValue(trace, type.dtype == f64 ? f64 : f32, tile, loc);
  Value total = sum(Arg(wide, loc), dim, options, loc);
  Value average = Arg(total, loc) / Arg(static_cast<double>(type.shape[dim]), loc);
  return isFloat(type.dtype) ? castValue(trace, type.dtype, average, loc) : average;
}

Value tile::reduce_max(Arg x, int axis, ReduceOptions options, Loc loc) {
  Value tile = tileOperand(Trace::current(loc), "reduce_max", x, loc);
  return reduceOne(tile, axis, options.keep_dims, loc,
                   [&](Value a, Value b) { return max(Arg(a, loc), Arg(b, loc), loc); });
}
Value tile::reduce_min(Arg x, int axis, ReduceOptions options, Loc loc) {
  Value tile = tileOperand(Trace::current(loc), "reduce_min", x, loc);
  return reduceOne(tile, axis, options.keep_dims, loc,
                   [&](Value a, Value b) { return min(Arg(a, loc), Arg(b, loc), loc); });
}
Value tile::argmax(Arg x, int axis, ReduceOptions options, Loc loc) {
  return argExtreme("argmax", x, axis, options, loc, true);
}
Value tile::argmin(Arg x, int axis, ReduceOptions options, Loc loc) {
  return argExtreme("argmin", x, axis, options, loc, false);
}

Value tile::any_of(Arg x, int axis, ReduceOptions options, Loc loc) {
  Trace &trace = Trace::current(loc);
  Value truth = castValue(trace, i1, tileOperand(trace, "any_of", x, loc), loc);
  return reduceOne(truth, axis, options.keep_dims, loc,
                   [&](Value a, Value b) { return Arg(a, loc) | Arg(b, loc); });
}
Value tile::all_of(Arg x, int axis, ReduceOptions options, Loc loc) {
  Trace &trace = Trace::current(loc);
  Value truth = castValue(trace, i1, tileOperand(trace, "all_of", x, loc), loc);
  return reduceOne(truth, axis, options.keep_dims, loc,
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
