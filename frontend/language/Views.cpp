// Views seen as tiles: positions become element offsets, padding other than zero and NaN a mask.
#include "frontend/language/AccessHints.h"
#include "frontend/language/Checks.h"
#include "frontend/language/Promotion.h"
#include "frontend/language/ViewAccess.h"

#include <algorithm>

using namespace tile;
using namespace tile::frontend;

namespace {

std::vector<Value> linesOf(Trace &trace, const detail::TileAccess &access,
                           const detail::Offsets &offsets, Loc loc) {
  std::vector<Value> lines;
  for (int dim = 0; dim < access.shape.rank(); ++dim)
    lines.push_back(lineOf(trace, access, dim, offsets.nodes[dim], loc));
  return lines;
}

/// Which elements of a tile at these offsets are inside the view.
Value insideAt(Trace &trace, const detail::TileAccess &access, const detail::Offsets &offsets,
               Loc loc) {
  return insideOf(trace, viewOf(trace, access, loc), linesOf(trace, access, offsets, loc), loc);
}

/// `.unchecked()` is a promise: checked builds verify it.
void verifyInside(Trace &trace, const detail::TileAccess &access, const detail::Offsets &offsets,
                  Loc loc) {
  if (isChecked(trace))
    recordAssert(trace, insideAt(trace, access, offsets, loc),
                 "unchecked: the tile is not inside the tensor", loc);
}

} // namespace

Node frontend::storeOf(Trace &trace, const char *what, const detail::TileAccess &access,
                       const detail::Offsets &offsets, const Arg &value) {
  Loc loc = value.loc();
  Value view = viewOf(trace, access, loc);
  DType dtype = trace.type(view, loc).dtype;
  std::string name = what;
  checkData(trace, what, value, loc);
  if (value.isStaged()) {
    TileType type = trace.type(value.value(), loc);
    if (type.dtype != dtype)
      trace.fail(loc,
                 name + ": the view holds " + nameOf(dtype) + ", the value is " +
                     nameOf(type.dtype) + ": write cast(" + nameOf(dtype) + ", ...)",
                 {madeNote(trace, "value", value.value())});
    if (!type.isScalar() && type.shape != access.shape)
      trace.fail(
          loc, name + ": the tile is " + access.shape.str() + ", the value is " + type.shape.str(),
          {madeNote(trace, "value", value.value())}, ErrorCode::InvalidShape);
  }
  Node node;
  node.name = "tile.view_store";
  node.effect = Effect::Write;
  node.loc = loc;
  node.operands = {unify(trace, dtype, access.shape, value, what, loc).node(), view.node()};
  for (int dim = 0; dim < access.shape.rank(); ++dim)
    node.operands.push_back(trace.use(trace.handle(offsets.nodes[dim]), loc));
  if (access.unchecked) {
    node.attributes.push_back({Attribute::Unit, "unchecked", {}});
    verifyInside(trace, access, offsets, loc);
  }
  return node;
}

namespace tile::detail {

TileAccess makeAccess(const Value &view, const Shape &shape, Loc loc) {
  Trace &trace = Trace::current(loc);
  TileType type = trace.type(view, loc);
  if (shape.rank() != type.viewRank)
    trace.fail(loc,
               "tile: the view has " + std::to_string(type.viewRank) +
                   " dimensions, the tile's shape " + shape.str() + " has " +
                   std::to_string(shape.rank()),
               {}, ErrorCode::InvalidShape);
  checkShape(trace, "tile", shape, loc);
  return {view.trace(), view.node(), shape, {}, false, {}};
}

Offsets resolvePosition(const TileAccess &access, Position position, Loc loc) {
  Trace &trace = Trace::current(loc);
  viewOf(trace, access, loc);
  Offsets offsets = {};
  for (int dim = 0; dim < position.count; ++dim)
    offsets.nodes[dim] =
        offsetOf(trace, position.indices[dim], position.inElements ? 1 : access.shape[dim], loc);
  for (int dim = 0; dim < access.shape.rank() && !position.inElements; ++dim)
    noteUse(trace, access, dim);
  return offsets;
}

Value loadAt(const TileAccess &access, const Offsets &offsets, Loc loc) {
  Trace &trace = Trace::current(loc);
  Value view = viewOf(trace, access, loc);
  TileType type = trace.type(view, loc);
  Node node;
  node.name = "tile.view_load";
  node.effect = Effect::Read;
  node.loc = loc;
  node.type = {TileType::Data, type.dtype, access.shape};
  node.operands = {view.node()};
  for (int dim = 0; dim < access.shape.rank(); ++dim)
    node.operands.push_back(trace.use(trace.handle(offsets.nodes[dim]), loc));
  if (access.padding.kind == Padding::Nan && !isFloat(type.dtype))
    trace.fail(loc, std::string("tile: NaN cannot pad elements of ") + nameOf(type.dtype));
  if (access.padding.kind == Padding::Nan)
    node.attributes.push_back(
        {Attribute::I32, "padding", {static_cast<int64_t>(access.padding.kind)}});
  if (access.unchecked) {
    node.attributes.push_back({Attribute::Unit, "unchecked", {}});
    verifyInside(trace, access, offsets, loc);
  }
  addHints(node, access.hints);
  checkHints(trace, "tile", access.hints, /*isLoad=*/true, loc);
  Value loaded = recordLoad(trace, std::move(node), view, access.hints);
  if (access.padding.kind != Padding::Number || access.unchecked)
    return loaded;
  Value pad = padding(trace, type.dtype, access, loc);
  return select(Arg(insideAt(trace, access, offsets, loc), loc), Arg(loaded, loc), Arg(pad, loc),
                loc);
}

Value loadTile(const TileAccess &access, Position position, Loc loc) {
  return loadAt(access, resolvePosition(access, position, loc), loc);
}

void prefetchTile(const TileAccess &access, Position position, int level, Loc loc) {
  Trace &trace = Trace::current(loc);
  Offsets offsets = resolvePosition(access, position, loc);
  std::vector<Value> lines = linesOf(trace, access, offsets, loc);
  Value view = viewOf(trace, access, loc);
  Arg pointers(pointersTo(view, lines, loc), loc), inside(insideOf(trace, view, lines, loc), loc);
  prefetch(pointers, inside, level, loc);
}

Value insideTile(const TileAccess &access, Position position, Loc loc) {
  return insideAt(Trace::current(loc), access, resolvePosition(access, position, loc), loc);
}

void storeAt(const TileAccess &access, const Offsets &offsets, const Arg &value) {
  Trace &trace = Trace::current(value.loc());
  checkHints(trace, "store", access.hints, /*isLoad=*/false, value.loc());
  Node node = storeOf(trace, "store", access, offsets, value);
  addHints(node, access.hints);
  trace.memory(std::move(node), viewOf(trace, access, value.loc()));
}

Value permuteView(const Value &view, const int *order, int count, Loc loc) {
  Trace &trace = Trace::current(loc);
  std::vector<int64_t> dims(order, order + count), sorted = dims;
  std::sort(sorted.begin(), sorted.end());
  for (int dim = 0; dim < count; ++dim)
    if (sorted[dim] != dim)
      trace.fail(loc,
                 "permute: the order must name each of the " + std::to_string(count) +
                     " dimensions once",
                 {}, ErrorCode::InvalidShape);
  return trace.op("tile.permute_view", trace.type(view, loc), {view}, loc,
                  {{Attribute::I32Array, "order", dims}});
}

Value viewDim(const Value &view, int dim, Loc loc) {
  Trace &trace = Trace::current(loc);
  RootView root = rootOf(trace, trace.use(view, loc));
  int axis = checkAxis(trace, "dim", dim, static_cast<int>(root.dims.size()), loc);
  return trace.op("tile.dim", {TileType::Data, i32, {}}, {trace.handle(root.node)}, loc,
                  {{Attribute::I32, "dim", {root.dims[axis]}}});
}

Value viewStride(const Value &view, int dim, Loc loc) {
  Trace &trace = Trace::current(loc);
  RootView root = rootOf(trace, trace.use(view, loc));
  int axis = checkAxis(trace, "stride", dim, static_cast<int>(root.dims.size()), loc);
  DType type = trace.binding().args[root.argument].isWide ? i64 : i32;
  std::vector<int> &strides = trace.uses.strides;
  if (std::find(strides.begin(), strides.end(), root.argument) == strides.end())
    strides.push_back(root.argument);
  return trace.op("tile.stride", {TileType::Data, type, {}}, {trace.handle(root.node)}, loc,
                  {{Attribute::I32, "dim", {root.dims[axis]}}});
}

Value viewPointer(const Value &view, Loc loc) {
  Trace &trace = Trace::current(loc);
  RootView root = rootOf(trace, trace.use(view, loc));
  TileType type{TileType::Pointer, trace.at(root.node).type.dtype, {}};
  return trace.op("tile.base", type, {trace.handle(root.node)}, loc);
}

void mayAlias(const Value &view, const Value &other, Loc loc) {
  Trace &trace = Trace::current(loc);
  int first = rootOf(trace, trace.use(view, loc)).argument,
      second = rootOf(trace, trace.use(other, loc)).argument;
  if (first == second)
    trace.fail(loc, "may_alias: both views are of argument " + std::to_string(first + 1) +
                        ": accesses to one argument are always in program order");
  trace.graph().aliases.insert({{first, second}, {second, first}});
}

DType viewDtype(const Value &view) { return Trace::current({}).type(view, {}).dtype; }

} // namespace tile::detail
