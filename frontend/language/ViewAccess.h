// What the accesses of views have in common: the argument behind a view, positions along its
// dimensions, and the pointers and masks of accesses that are made element by element.
//
// A line is the positions of a tile's elements along one dimension: an integer tile with the tile's
// extent there and 1 elsewhere.
#pragma once

#include "frontend/trace/Trace.h"

namespace tile::frontend {

/// A view's kernel argument, and for each of its dimensions the argument's.
struct RootView {
  NodeId node;
  int argument;
  std::vector<int64_t> dims;
};
RootView rootOf(const Trace &trace, NodeId view);

/// The view of an access, after checking that it may be used here.
Value viewOf(Trace &trace, const detail::TileAccess &access, Loc loc);
/// Notes that dimension `dim` is addressed in tiles, so that the runtime can promise divisibility.
void noteUse(Trace &trace, const detail::TileAccess &access, int dim);

/// A tile index or element offset as an i32 scalar, times `scale`.
NodeId offsetOf(Trace &trace, const Arg &index, int64_t scale, Loc loc);
/// A tile of the number that pads.
Value padding(Trace &trace, DType dtype, const detail::TileAccess &access, Loc loc);

/// A store of `value`, a tile of the view's dtype and the access's shape or what fills one, without hints. `what` begins
/// messages.
Node storeOf(Trace &trace, const char *what, const detail::TileAccess &access,
             const detail::Offsets &offsets, const Arg &value);

Shape lineShape(const detail::TileAccess &access, int dim);
/// The line of neighbours that begins at an offset.
Value lineOf(Trace &trace, const detail::TileAccess &access, int dim, NodeId offset, Loc loc);
/// Which elements at these lines the view has: an i1 tile.
Value insideOf(Trace &trace, const Value &view, const std::vector<Value> &lines, Loc loc);
/// Pointers to the elements at these lines. Outside the view they may point anywhere.
Value pointersTo(const Value &view, const std::vector<Value> &lines, Loc loc);

} // namespace tile::frontend
