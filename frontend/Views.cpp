// Views seen as tiles: positions become element offsets, padding other than zero and NaN a mask,
// and every tile extent used is noted, so that the runtime can promise divisibility.
#include "frontend/AccessHints.h"
#include "frontend/Checks.h"
#include "frontend/Promotion.h"
#include "frontend/Trace.h"

#include <algorithm>
#include <cmath>

using namespace tile;
using namespace tile::frontend;

namespace {

/// A view's kernel argument, and for each of its dimensions the argument's.
struct RootView {
  NodeId node;
  int argument;
  std::vector<int64_t> dims;
};

RootView rootOf(const Trace &trace, NodeId view) {
  std::vector<int64_t> dims;
  for (int dim = 0; dim < trace.at(view).type.viewRank; ++dim)
    dims.push_back(dim);
  while (trace.at(view).kind != Node::FuncArg) {
    for (int64_t &dim : dims)
      dim = trace.at(view).attributes[0].numbers[dim];
    view = trace.at(view).operands[0];
  }
  return {view, trace.at(view).index, std::move(dims)};
}

Value viewOf(Trace &trace, const detail::TileAccess &access, Loc loc) {
  return trace.handle(trace.use(Value(access.trace, access.view), loc));
}

/// A 64-bit index as an i32 one. Extents are below 2^31, so an index is limited to the nearest whose
/// tile lies outside every view: in 32 bits its offset, index * scale, is negative or wraps so.
/// Multiples of powers of two stay multiples, for the width of accesses.
Value limitIndex(Trace &trace, const Value &index, int64_t scale, Loc loc) {
  constexpr int64_t kSpan = int64_t(1) << 31;
  auto limit = [&](const char *op, const Value &value, int64_t bound) {
    return trace.op(op, {TileType::Data, i64, {}}, {value, trace.integer(i64, bound, loc)}, loc);
  };
  bool isSigned = !isUnsigned(trace.type(index, loc).dtype);
  Value wide = castValue(trace, i64, index, loc);
  if (isSigned)
    wide = limit("arith.maxsi", wide, -(kSpan / scale));
  wide = limit(isSigned ? "arith.minsi" : "arith.minui", wide, (kSpan + scale - 1) / scale);
  return castValue(trace, i32, wide, loc);
}

/// A tile index or element offset as an i32 scalar, times `scale`.
NodeId offsetOf(Trace &trace, const Arg &index, int64_t scale, Loc loc) {
  if (!index.isStaged()) {
    convertTo(trace, i32, index, "tile",
              loc); // refuses what is no i32, so that the product is exact
    return convertTo(trace, i32, Arg(index.asInt() * scale, loc), "tile", loc).node();
  }
  TileType type = trace.type(index.value(), loc);
  if (type.category != TileType::Data || !type.isScalar() || !isInteger(type.dtype))
    trace.fail(loc, "tile: an index must be an integer scalar, got " + type.str(),
               {madeNote(trace, "it was", index.value())});
  Value narrow = widthOf(type.dtype) > 32 ? limitIndex(trace, index.value(), scale, loc)
                                          : castValue(trace, i32, index.value(), loc);
  if (scale == 1)
    return narrow.node();
  return trace
      .op("arith.muli", {TileType::Data, i32, {}}, {narrow, trace.integer(i32, scale, loc)}, loc)
      .node();
}

void noteUses(Trace &trace, const detail::TileAccess &access) {
  RootView root = rootOf(trace, access.view);
  for (size_t dim = 0; dim < root.dims.size(); ++dim) {
    TileUse use{root.argument, static_cast<int>(root.dims[dim]),
                access.shape[static_cast<int>(dim)]};
    if (std::find(trace.tileUses.begin(), trace.tileUses.end(), use) == trace.tileUses.end())
      trace.tileUses.push_back(use);
  }
}

/// A tile of the number that pads.
Value padding(Trace &trace, DType dtype, const detail::TileAccess &access, Loc loc) {
  double number = access.padding.number;
  if (isFloat(dtype))
    return convertTo(trace, dtype, Arg(number, loc), "pad", loc, access.shape);
  constexpr double kLargest = 9.2e18; // below 2^63, so that the conversion is defined
  bool isWhole = std::fabs(number) < kLargest && std::trunc(number) == number;
  if (!isWhole)
    trace.fail(loc,
               "pad: the number " + std::to_string(number) + " cannot become " + nameOf(dtype));
  return convertTo(trace, dtype, Arg(static_cast<int64_t>(number), loc), "pad", loc, access.shape);
}

/// Which elements of a tile at these offsets are inside the view; one unsigned comparison a
/// dimension covers both ends.
Value insideAt(Trace &trace, const detail::TileAccess &access, const detail::Offsets &offsets,
               Loc loc) {
  Value view = viewOf(trace, access, loc);
  NodeId inside = kNoNode;
  for (int dim = 0; dim < access.shape.rank(); ++dim) {
    // Compared along its own line first; `&` broadcasts the lines to the tile.
    Shape line;
    for (int other = 0; other < access.shape.rank(); ++other)
      line.append(other == dim ? access.shape[dim] : 1);
    Arg position(Arg(index(dim, line, loc), loc) + Arg(trace.handle(offsets.nodes[dim]), loc), loc);
    Arg extent(detail::viewDim(view, dim, loc), loc);
    Value here = Arg(cast(u32, position, loc), loc) < Arg(cast(u32, extent, loc), loc);
    inside =
        inside == kNoNode ? here.node() : (Arg(trace.handle(inside), loc) & Arg(here, loc)).node();
  }
  return trace.handle(inside);
}

/// `.unchecked()` is a promise: checked builds verify it.
void verifyInside(Trace &trace, const detail::TileAccess &access, const detail::Offsets &offsets,
                  Loc loc) {
  if (isChecked(trace))
    recordAssert(trace, insideAt(trace, access, offsets, loc),
                 "unchecked: the tile is not inside the tensor", loc);
}

} // namespace

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
  if (!position.inElements)
    noteUses(trace, access);
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
    node.attributes.push_back({Attribute::I32, "padding", {1}});
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
void mayAlias(const Value &view, const Value &other, Loc loc) {
  Trace &trace = Trace::current(loc);
  int first = rootOf(trace, trace.use(view, loc)).argument,
      second = rootOf(trace, trace.use(other, loc)).argument;
  if (first == second)
    trace.fail(loc, "may_alias: both views are of argument " + std::to_string(first + 1) +
                        ": accesses to one argument are always in program order");
  trace.graph().aliases.insert({{first, second}, {second, first}});
}


Value loadTile(const TileAccess &access, Position position, Loc loc) {
  return loadAt(access, resolvePosition(access, position, loc), loc);
}

void prefetchTile(const TileAccess &access, Position position, int level, Loc loc) {
  Trace &trace = Trace::current(loc);
  Offsets offsets = resolvePosition(access, position, loc);
  Value view = viewOf(trace, access, loc);
  Arg pointers(viewPointer(view, loc), loc);
  for (int dim = 0; dim < access.shape.rank(); ++dim) {
    Shape line;
    for (int other = 0; other < access.shape.rank(); ++other)
      line.append(other == dim ? access.shape[dim] : 1);
    Arg at(Arg(index(dim, line, loc), loc) + Arg(trace.handle(offsets.nodes[dim]), loc), loc);
    Arg step(viewStride(view, dim, loc), loc);
    pointers = Arg(pointers + Arg(at * step, loc), loc);
  }
  Arg inside(insideAt(trace, access, offsets, loc), loc);
  prefetch(pointers, inside, level, loc);
}

Value insideTile(const TileAccess &access, Position position, Loc loc) {
  return insideAt(Trace::current(loc), access, resolvePosition(access, position, loc), loc);
}

void storeAt(const TileAccess &access, const Offsets &offsets, const Arg &value) {
  Loc loc = value.loc();
  Trace &trace = Trace::current(loc);
  Value view = viewOf(trace, access, loc);
  DType dtype = trace.type(view, loc).dtype;
  checkData(trace, "store", value, loc);
  if (value.isStaged()) {
    TileType type = trace.type(value.value(), loc);
    if (type.dtype != dtype)
      trace.fail(loc,
                 std::string("store: the view holds ") + nameOf(dtype) + ", the value is " +
                     nameOf(type.dtype) + ": write cast(" + nameOf(dtype) + ", ...)",
                 {madeNote(trace, "value", value.value())});
    if (!type.isScalar() && type.shape != access.shape)
      trace.fail(loc,
                 "store: the tile is " + access.shape.str() + ", the value is " + type.shape.str(),
                 {madeNote(trace, "value", value.value())}, ErrorCode::InvalidShape);
  }
  Node node;
  node.name = "tile.view_store";
  node.effect = Effect::Write;
  node.loc = loc;
  node.operands = {unify(trace, dtype, access.shape, value, "store", loc).node(), view.node()};
  for (int dim = 0; dim < access.shape.rank(); ++dim)
    node.operands.push_back(trace.use(trace.handle(offsets.nodes[dim]), loc));
  if (access.unchecked) {
    node.attributes.push_back({Attribute::Unit, "unchecked", {}});
    verifyInside(trace, access, offsets, loc);
  }
  checkHints(trace, "store", access.hints, /*isLoad=*/false, loc);
  addHints(node, access.hints);
  trace.memory(std::move(node), view);
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
  DType type = trace.binding().args[root.argument].wide ? i64 : i32;
  return trace.op("tile.stride", {TileType::Data, type, {}}, {trace.handle(root.node)}, loc,
                  {{Attribute::I32, "dim", {root.dims[axis]}}});
}

Value viewPointer(const Value &view, Loc loc) {
  Trace &trace = Trace::current(loc);
  RootView root = rootOf(trace, trace.use(view, loc));
  TileType type{TileType::Pointer, trace.at(root.node).type.dtype, {}};
  return trace.op("tile.base", type, {trace.handle(root.node)}, loc);
}

DType viewDtype(const Value &view) { return Trace::current({}).type(view, {}).dtype; }

} // namespace tile::detail
