// Combine functions: traced once on scalars, in a scope of their own.
#include "frontend/language/Combine.h"

#include "frontend/language/Promotion.h"

namespace tile::frontend {

namespace {
/// Leaves the combine scope when the user's function throws.
struct CombineGuard {
  Trace &trace;
  ScopeId scope;
  ~CombineGuard() { trace.abandon(scope); }
};
} // namespace

static std::vector<Value> scalarArguments(Trace &trace, ScopeId scope,
                                          const std::vector<TileType> &types, Loc loc) {
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

static void checkCombined(Trace &trace, const char *op, const std::vector<Value> &combined,
                          const std::vector<TileType> &types, Loc loc) {
  if (combined.size() != types.size())
    trace.fail(loc, std::string(op) + ": the combine function must return " +
                        std::to_string(types.size()) + " values, it returned " +
                        std::to_string(combined.size()));
  for (size_t i = 0; i < types.size(); ++i) {
    TileType expected{TileType::Data, types[i].dtype, {}}, actual = trace.type(combined[i], loc);
    if (actual != expected)
      trace.fail(loc,
                 std::string(op) + ": the combine function must return " + expected.str() +
                     ", it returned " + actual.str(),
                 {madeNote(trace, "the result was", combined[i])});
  }
}

static ScopeId traceCombine(Trace &trace, const char *op, const std::vector<TileType> &types,
                            Combine combine, Loc loc) {
  ScopeId scope = trace.open(Scope::Combine, loc);
  CombineGuard guard{trace, scope};
  std::vector<Value> left = scalarArguments(trace, scope, types, loc),
                     right = scalarArguments(trace, scope, types, loc);
  std::vector<Value> combined = combine(left, right);
  checkCombined(trace, op, combined, types, loc);
  for (const Value &value : combined)
    trace.scopeAt(scope).yields.push_back(trace.use(value, loc));
  trace.close(scope);
  return scope;
}

std::vector<TileType> tileTypes(Trace &trace, const char *op, const std::vector<Value> &tiles,
                                Loc loc) {
  if (tiles.empty())
    trace.fail(loc, std::string(op) + ": needs at least one tile");
  std::vector<TileType> types;
  for (const Value &tile : tiles) {
    TileType type = trace.type(tile, loc);
    if (type.category != TileType::Data || type.isScalar())
      trace.fail(loc, std::string(op) + ": needs a tile of numbers, got " + type.str(),
                 {madeNote(trace, "operand", tile)}, ErrorCode::InvalidShape);
    if (!types.empty() && type.shape != types[0].shape)
      trace.fail(loc,
                 std::string(op) + ": tiles differ in shape: " + types[0].shape.str() + " and " +
                     type.shape.str(),
                 {madeNote(trace, Arg(tiles[0], loc), Arg(tile, loc))}, ErrorCode::InvalidShape);
    types.push_back(type);
  }
  return types;
}

std::vector<Value> combineTiles(Trace &trace, const CombineOp &op, const std::vector<Value> &tiles,
                                const std::vector<TileType> &types,
                                const std::vector<TileType> &results, Combine combine, Loc loc) {
  Node node;
  node.name = op.name;
  node.loc = loc;
  node.regions = {traceCombine(trace, op.userName, types, combine, loc)};
  node.attributes = op.attributes;
  for (const Value &tile : tiles)
    node.operands.push_back(trace.use(tile, loc));
  node.results = results;
  NodeId id = trace.add(node);
  std::vector<Value> values;
  for (size_t i = 0; i < results.size(); ++i)
    values.push_back(trace.handle(trace.resultOf(id, static_cast<int>(i))));
  return values;
}

Value tileOperand(Trace &trace, const char *op, const Arg &x, Loc loc) {
  checkData(trace, op, x, loc);
  Value value = materialize(trace, x, loc);
  if (trace.type(value, loc).isScalar())
    trace.fail(loc,
               std::string(op) + ": needs a tile, got a scalar, " + trace.type(value, loc).str(),
               {madeNote(trace, "operand", value)}, ErrorCode::InvalidShape);
  return value;
}

static DType accumulationType(DType type) {
  if (isFloat(type))
    return sizeOf(type) < 4 ? f32 : type;
  if (widthOf(type) >= 32)
    return type;
  return isUnsigned(type) ? u32 : i32;
}

/// The dtype in which a sum or product is formed, and the one that it has.
struct Accumulation {
  DType during, result;
};

static Accumulation accumulationOf(DType operand, DType asked) {
  if (asked == any)
    return {accumulationType(operand), isFloat(operand) ? operand : accumulationType(operand)};
  return {isFloat(asked) ? accumulationType(asked) : asked, asked};
}

Value accumulated(Trace &trace, const char *op, const Arg &x, DType asked, Loc loc,
                  detail::FunctionRef<Value(const Value &)> collect) {
  Value tile = tileOperand(trace, op, x, loc);
  auto [during, result] = accumulationOf(trace.type(tile, loc).dtype, asked);
  if (asked != any)
    tile = castValue(trace, asked, tile, loc);
  return castValue(trace, result, collect(castValue(trace, during, tile, loc)), loc);
}

Value added(const Value &a, const Value &b, Loc loc) {
  Arg lhs(a, loc), rhs(b, loc);
  return a.dtype() == i1 ? lhs ^ rhs : lhs + rhs;
}

Value multiplied(const Value &a, const Value &b, Loc loc) {
  Arg lhs(a, loc), rhs(b, loc);
  return a.dtype() == i1 ? lhs & rhs : lhs * rhs;
}

} // namespace tile::frontend
