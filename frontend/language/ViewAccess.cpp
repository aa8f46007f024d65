#include "frontend/language/ViewAccess.h"

#include "frontend/language/Promotion.h"

#include <algorithm>
#include <cmath>

using namespace tile;

namespace tile::frontend {

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

/// A 64-bit index as an i32 one. Extents are below 2^31, so an index is limited to the nearest whose
/// tile lies outside every view: in 32 bits its offset, index * scale, is negative or wraps so.
/// Multiples of powers of two stay multiples, for the width of accesses.
static Value limitIndex(Trace &trace, const Value &index, int64_t scale, Loc loc) {
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

void noteUse(Trace &trace, const detail::TileAccess &access, int dim) {
  RootView root = rootOf(trace, access.view);
  TileUse use{root.argument, static_cast<int>(root.dims[dim]), access.shape[dim]};
  if (std::find(trace.uses.tiles.begin(), trace.uses.tiles.end(), use) == trace.uses.tiles.end())
    trace.uses.tiles.push_back(use);
}

Value viewOf(Trace &trace, const detail::TileAccess &access, Loc loc) {
  return trace.handle(trace.use(Value(access.trace, access.view), loc));
}

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

Shape lineShape(const detail::TileAccess &access, int dim) {
  Shape line;
  for (int other = 0; other < access.shape.rank(); ++other)
    line.append(other == dim ? access.shape[dim] : 1);
  return line;
}

Value lineOf(Trace &trace, const detail::TileAccess &access, int dim, NodeId offset, Loc loc) {
  Value line = index(dim, lineShape(access, dim), loc);
  return Arg(line, loc) + Arg(trace.handle(offset), loc);
}

Value insideOf(Trace &trace, const Value &view, const std::vector<Value> &lines, Loc loc) {
  NodeId inside = kNoNode;
  for (size_t dim = 0; dim < lines.size(); ++dim) {
    // One unsigned comparison covers both ends. `&` broadcasts the lines to the tile.
    DType type = widthOf(trace.type(lines[dim], loc).dtype) > 32 ? u64 : u32;
    Arg extent(detail::viewDim(view, static_cast<int>(dim), loc), loc);
    Value here =
        Arg(cast(type, Arg(lines[dim], loc), loc), loc) < Arg(cast(type, extent, loc), loc);
    inside =
        inside == kNoNode ? here.node() : (Arg(trace.handle(inside), loc) & Arg(here, loc)).node();
  }
  return trace.handle(inside);
}

Value pointersTo(const Value &view, const std::vector<Value> &lines, Loc loc) {
  Arg pointers(detail::viewPointer(view, loc), loc);
  for (size_t dim = 0; dim < lines.size(); ++dim) {
    Arg step(detail::viewStride(view, static_cast<int>(dim), loc), loc);
    pointers = Arg(pointers + Arg(Arg(lines[dim], loc) * step, loc), loc);
  }
  return pointers.value();
}

} // namespace tile::frontend
