// Grid helpers: from the tensor a launch covers to the launch grid and this program's tile.

#include "frontend/Promotion.h"
#include "frontend/Trace.h"

#include <tile/Grid.h>

using namespace tile;
using namespace tile::frontend;

namespace {

const TileType kIndex{TileType::Data, i32, {}};

Value programOp(const char *name, const char *what, int axis, Loc loc) {
  Trace &trace = Trace::current(loc);
  if (axis < 0 || axis > 2)
    trace.fail(loc,
               std::string(what) + ": the axis must be 0, 1 or 2, got " + std::to_string(axis));
  return trace.op(name, kIndex, {}, loc, {{Attribute::I32, "axis", {axis}}});
}

/// Arithmetic on program ids and tile counts: never negative, divisors never zero, so nothing needs
/// a guard.
Value indexOp(const char *name, const Value &a, const Value &b, Loc loc) {
  return Trace::current(loc).op(name, kIndex, {a, b}, loc);
}
Value indexConstant(int64_t value, Loc loc) { return Trace::current(loc).integer(i32, value, loc); }

/// The number of tiles along a dimension, at least 1 so that it can divide.
Value tileCount(const Value &extent, int64_t tile, Loc loc) {
  Value rounded = indexOp("arith.addi", extent, indexConstant(tile - 1, loc), loc);
  Value count = indexOp("arith.divui", rounded, indexConstant(tile, loc), loc);
  return indexOp("arith.maxsi", count, indexConstant(1, loc), loc);
}

void checkTile(Trace &trace, const char *helper, const Shape &tile, int rank, Loc loc) {
  if (tile.rank() != rank)
    trace.fail(loc,
               std::string(helper) + ": the tile's shape needs " + std::to_string(rank) +
                   " extents, got " + tile.str(),
               {}, ErrorCode::InvalidShape);
  checkShape(trace, helper, tile, loc);
}

void setGrid(Trace &trace, std::vector<std::vector<GridAxis>> results, Loc loc) {
  if (trace.scope() != 0)
    trace.fail(
        loc,
        "grid: a grid helper belongs at the top of the kernel, outside staged loops and branches");
  if (!trace.grid.results.empty())
    trace.fail(loc, "grid: the kernel already has a grid",
               {"the first grid helper is at " + text(trace.grid.loc)});
  trace.grid = {std::move(results), loc};
}

} // namespace

Value tile::program_id(int axis, Loc loc) {
  return programOp("tile.program_id", "program_id", axis, loc);
}
Value tile::num_programs(int axis, Loc loc) {
  return programOp("tile.num_programs", "num_programs", axis, loc);
}

Value tile::grid1d(const Value &n, int block, Loc loc) {
  Trace &trace = Trace::current(loc);
  const Node &node = trace.node(n, loc);
  bool isDim = node.kind == Node::Op && std::string_view(node.name) == "tile.dim";
  bool isScalar = node.kind == Node::FuncArg && node.type == kIndex;
  if (!isDim && !isScalar)
    trace.fail(loc,
               "grid1d: the extent must be a view's dim(...) or a Scalar<i32> argument, so that "
               "the launch can compute it",
               {madeNote(trace, "extent", n)});
  if (block < 1)
    trace.fail(loc, "grid1d: the block must be at least 1, got " + std::to_string(block), {},
               ErrorCode::InvalidShape);
  setGrid(trace, {{{n.node(), block}}}, loc);
  return program_id(0, loc);
}

namespace tile::detail {

Value grid1dOf(const Value &view, const Shape &tile, Loc loc) {
  Trace &trace = Trace::current(loc);
  checkTile(trace, "grid1d", tile, 1, loc);
  setGrid(trace, {{{viewDim(view, 0, loc).node(), tile[0]}}}, loc);
  return program_id(0, loc);
}

Grid2d grid2dOf(const Value &view, const Shape &tile, Loc loc) {
  Trace &trace = Trace::current(loc);
  checkTile(trace, "grid2d", tile, 2, loc);
  Value m = viewDim(view, 0, loc), n = viewDim(view, 1, loc);
  setGrid(trace, {{{m.node(), tile[0]}, {n.node(), tile[1]}}}, loc);
  return Grid2d(tileCount(m, tile[0], loc), tileCount(n, tile[1], loc), loc);
}

Grid3d grid3dOf(const Value &view, const Shape &tile, Loc loc) {
  Trace &trace = Trace::current(loc);
  checkTile(trace, "grid3d", tile, 3, loc);
  std::vector<std::vector<GridAxis>> results;
  for (int dim : {2, 1, 0})
    results.push_back({{viewDim(view, dim, loc).node(), tile[dim]}});
  setGrid(trace, std::move(results), loc);
  return {program_id(2, loc), program_id(1, loc), program_id(0, loc)};
}

} // namespace tile::detail

Grid2d::Grid2d(Value rows, Value columns, Loc loc) : rows_(rows), columns_(columns), loc_(loc) {
  Value program = program_id(0, loc);
  row_ = indexOp("arith.divui", program, columns, loc);
  column_ = indexOp("arith.remui", program, columns, loc);
}

Grid2d Grid2d::swizzled(int group) const {
  if (group < 1)
    Trace::current(loc_).fail(loc_, "swizzled: the group must be at least 1, got " +
                                        std::to_string(group));
  Value program = program_id(0, loc_), rowsPerGroup = indexConstant(group, loc_);
  Value perGroup = indexOp("arith.muli", columns_, rowsPerGroup, loc_);
  Value first =
      indexOp("arith.muli", indexOp("arith.divui", program, perGroup, loc_), rowsPerGroup, loc_);
  Value rowsHere =
      indexOp("arith.minsi", indexOp("arith.subi", rows_, first, loc_), rowsPerGroup, loc_);
  Value inGroup = indexOp("arith.remui", program, perGroup, loc_);
  Value row = indexOp("arith.addi", first, indexOp("arith.remui", inGroup, rowsHere, loc_), loc_);
  return Grid2d(rows_, columns_, row, indexOp("arith.divui", inGroup, rowsHere, loc_), loc_);
}
