// Tiles of a view whose positions along one dimension are computed: loads and stores through
// pointers, masked where an index lies outside.
#include "frontend/language/Checks.h"
#include "frontend/language/Promotion.h"
#include "frontend/language/ViewAccess.h"

#include <cmath>

using namespace tile;
using namespace tile::frontend;

namespace {

/// The indices as a line of i32, or i64 if they have 64 bits.
Value lineOfIndices(Trace &trace, const detail::TileAccess &access, int dim, const Arg &indices,
                    Loc loc) {
  checkData(trace, "gather", indices, loc);
  std::string wanted = "integers of shape " + std::to_string(access.shape[dim]) +
                       ", the tile's extent along dimension " + std::to_string(dim);
  if (!indices.isStaged())
    trace.fail(loc, "gather: the indices must be a tile of " + wanted + ", got a host number");
  TileType type = trace.type(indices.value(), loc);
  bool fits = isInteger(type.dtype) && type.dtype != i1 && type.shape == Shape{access.shape[dim]};
  if (!fits)
    trace.fail(loc, "gather: the indices must be a tile of " + wanted + ", got " + type.str(),
               {madeNote(trace, "they were", indices.value())}, ErrorCode::InvalidShape);
  DType wide = widthOf(type.dtype) > 32 ? i64 : i32;
  Value line = reshape(indices, lineShape(access, dim), loc);
  return castValue(trace, wide, line, loc);
}

} // namespace

namespace tile::detail {

Elements resolveElements(const TileAccess &access, int dim, const Arg &indices, Position others,
                         Loc loc) {
  Trace &trace = Trace::current(loc);
  Value view = viewOf(trace, access, loc);
  int rank = access.shape.rank();
  dim = checkAxis(trace, "gather", dim, rank, loc);
  if (others.count != rank - 1)
    trace.fail(loc, "gather: a view of " + std::to_string(rank) + " dimensions needs " +
                        std::to_string(rank - 1) + " tile indices beside the gathered one, got " +
                        std::to_string(others.count));
  WithoutChecks quiet(trace); // positions outside may overflow: nothing is accessed there
  std::vector<Value> lines;
  for (int other = 0, next = 0; other < rank; ++other) {
    if (other == dim) {
      lines.push_back(lineOfIndices(trace, access, dim, indices, loc));
      continue;
    }
    NodeId offset = offsetOf(trace, others.indices[next++], access.shape[other], loc);
    noteUse(trace, access, other);
    lines.push_back(lineOf(trace, access, other, offset, loc));
  }
  return {pointersTo(view, lines, loc).node(), insideOf(trace, view, lines, loc).node()};
}

/// `.unchecked()` is a promise: checked builds verify it.
static void verifyInside(Trace &trace, const Value &inside, Loc loc) {
  if (isChecked(trace))
    recordAssert(trace, inside, "unchecked: an index is outside the tensor", loc);
}

Value loadElements(const TileAccess &access, const Elements &elements, Loc loc) {
  Trace &trace = Trace::current(loc);
  DType dtype = trace.type(viewOf(trace, access, loc), loc).dtype;
  Arg pointers(trace.handle(elements.pointers), loc), inside(trace.handle(elements.inside), loc);
  if (access.unchecked) {
    verifyInside(trace, inside.value(), loc);
    return load(pointers, access.hints, loc);
  }
  if (access.padding.kind == Padding::Nan && !isFloat(dtype))
    trace.fail(loc, std::string("tile: NaN cannot pad elements of ") + nameOf(dtype));
  return load(pointers, inside, Arg(padding(trace, dtype, access, loc), loc), access.hints, loc);
}

void storeElements(const TileAccess &access, const Elements &elements, const Arg &value) {
  Loc loc = value.loc();
  Trace &trace = Trace::current(loc);
  viewOf(trace, access, loc);
  Arg pointers(trace.handle(elements.pointers), loc), inside(trace.handle(elements.inside), loc);
  if (access.unchecked) {
    verifyInside(trace, inside.value(), loc);
    return store(pointers, value, access.hints, loc);
  }
  store(pointers, value, inside, access.hints, loc);
}

} // namespace tile::detail
