// Grid helpers: from the tensor a launch covers to the launch grid and this program's tile.

#include "frontend/language/Promotion.h"
#include "frontend/trace/LaunchTime.h"
#include "frontend/trace/Settings.h"
#include "frontend/trace/Trace.h"

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
  if (trace.grid.isSet())
    trace.fail(loc, "grid: the kernel already has a grid",
               {"the first grid helper is at " + text(trace.grid.loc)});
  trace.grid = {std::move(results), false, loc};
}

} // namespace

Value tile::program_id(int axis, Loc loc) {
  return programOp("tile.program_id", "program_id", axis, loc);
}
Value tile::num_programs(int axis, Loc loc) {
  return programOp("tile.num_programs", "num_programs", axis, loc);
}

// Divides the kernel's programs in `count` parts, of which none are known yet.
static void divideProgram(Trace &trace, const std::string &what, int &parts, int count, Loc loc) {
  if (trace.scope() != 0)
    trace.fail(loc, what + ": programs are divided at the top of a kernel, outside staged loops, "
                           "branches and callables");
  if (parts)
    trace.fail(loc, what + ": the kernel's programs are divided already: call it once and keep "
                           "the number");
  if (trace.addsUpPrograms && count > 1)
    trace.fail(loc, what + ": programs that add up tiles (grid_sum) are one block and one team");
  parts = count;
}

Value tile::teams(int count, Loc loc) {
  Trace &trace = Trace::current(loc);
  if (std::string wrong = wrongTeams(count); !wrong.empty())
    trace.fail(loc, "teams: " + wrong);
  divideProgram(trace, "teams", trace.teams, count, loc);
  return trace.op("tile.team_id", kIndex, {}, loc, {});
}

Value tile::cluster(int count, Loc loc) {
  Trace &trace = Trace::current(loc);
  if (std::string wrong = wrongCluster(count); !wrong.empty())
    trace.fail(loc, "cluster: " + wrong);
  divideProgram(trace, "cluster", trace.cluster, count, loc);
  return trace.op("tile.cluster_rank", kIndex, {}, loc, {});
}

Value tile::grid1d(const Value &n, int block, Loc loc) {
  Trace &trace = Trace::current(loc);
  if (!isLaunchTime(trace.graph(), trace.use(n, loc)))
    trace.fail(loc,
               "grid1d: the extent must be made of a view's dim(...), Scalar<i32> arguments and "
               "constants by + - * and / by constants, so that the launch can compute it",
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

namespace {

struct Tile2d {
  Value row, column;
};

/// Where number `index` of rows x columns tiles lies, column-major in groups of `group` rows.
Tile2d swizzledTile(const Value &index, const Value &rows, const Value &columns, int group,
                    Loc loc) {
  Value rowsPerGroup = indexConstant(group, loc);
  Value perGroup = indexOp("arith.muli", columns, rowsPerGroup, loc);
  Value first =
      indexOp("arith.muli", indexOp("arith.divui", index, perGroup, loc), rowsPerGroup, loc);
  Value rowsHere =
      indexOp("arith.minsi", indexOp("arith.subi", rows, first, loc), rowsPerGroup, loc);
  Value inGroup = indexOp("arith.remui", index, perGroup, loc);
  Value row = indexOp("arith.addi", first, indexOp("arith.remui", inGroup, rowsHere, loc), loc);
  return {row, indexOp("arith.divui", inGroup, rowsHere, loc)};
}

/// A tile count that the user computed, as an i32 of at least `least`.
Value countOf(Trace &trace, const char *what, const Arg &count, int64_t least, Loc loc) {
  if (count.isStaged()) {
    TileType type = trace.type(count.value(), loc);
    bool isCount = type.category == TileType::Data && type.isScalar() && isInteger(type.dtype) &&
                   widthOf(type.dtype) <= 32;
    if (!isCount)
      trace.fail(loc,
                 std::string(what) + ": a number of tiles must be an i32 scalar, got " + type.str(),
                 {madeNote(trace, "it was", count.value())});
  }
  Value number = convertTo(trace, i32, count, what, loc);
  return indexOp("arith.maxsi", number, indexConstant(least, loc), loc);
}

/// The node of a count for the launch, kNoNode if the launch cannot compute it.
NodeId launchCount(Trace &trace, const Arg &count, const char *what, Loc loc) {
  NodeId node = count.isStaged() ? trace.use(count.value(), loc)
                                 : convertTo(trace, i32, count, what, loc).node();
  return isLaunchTime(trace.graph(), node) ? node : kNoNode;
}

} // namespace

Grid2d Grid2d::swizzled(int group) const {
  if (group < 1)
    Trace::current(loc_).fail(loc_, "swizzled: the group must be at least 1, got " +
                                        std::to_string(group));
  Tile2d tile = swizzledTile(program_id(0, loc_), rows_, columns_, group, loc_);
  return Grid2d(rows_, columns_, tile.row, tile.column, loc_);
}

Grid2d tile::swizzle(Arg index, Arg rows, Arg columns, Swizzle options, Loc loc) {
  Trace &trace = Trace::current(loc);
  if (options.group < 1)
    trace.fail(loc, "swizzle: the group must be at least 1, got " + std::to_string(options.group));
  // At least 1, since they divide; without tiles there is no program.
  Value m = countOf(trace, "swizzle", rows, 1, loc), n = countOf(trace, "swizzle", columns, 1, loc);
  Value at = countOf(trace, "swizzle", index, 0, loc);
  Tile2d tile = swizzledTile(at, m, n, options.group, loc);
  return Grid2d(m, n, tile.row, tile.column, loc);
}

Grid2d tile::swizzle(Arg rows, Arg columns, Swizzle options, Loc loc) {
  Trace &trace = Trace::current(loc);
  NodeId m = launchCount(trace, rows, "swizzle", loc),
         n = launchCount(trace, columns, "swizzle", loc);
  bool isFirst = trace.scope() == 0 && !trace.grid.isSet();
  if (isFirst && m != kNoNode && n != kNoNode)
    setGrid(trace, {{{m, 1}, {n, 1}}}, loc);
  return swizzle(Arg(program_id(0, loc), loc), rows, columns, options, loc);
}

Range tile::persistent(Arg tiles, Loc loc) {
  Trace &trace = Trace::current(loc);
  NodeId count = launchCount(trace, tiles, "persistent", loc);
  std::vector<std::vector<GridAxis>> results;
  if (count != kNoNode)
    results = {{{count, 1}}};
  setGrid(trace, std::move(results), loc);
  trace.grid.persistent = true;
  return range(Arg(program_id(0, loc), loc), tiles, Arg(num_programs(0, loc), loc), loc);
}
