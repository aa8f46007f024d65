// Grids: which tile this program owns. A grid helper takes the tensor that a launch covers and
// returns this program's tile indices. The launch grid follows from the tensor's extents, so
// callers pass none. A kernel calls at most one helper.
#pragma once

#include <tile/Control.h>
#include <tile/View.h>

#include <utility>

namespace tile {

/// The index of this program along an axis (0, 1, 2) of the launch grid: an i32 scalar.
Value program_id(int axis, Loc loc = Loc::here());
/// The number of programs along an axis of the launch grid: an i32 scalar.
Value num_programs(int axis, Loc loc = Loc::here());

/// This program's (m, n), from grid2d: `auto [m, n] = grid2d(C, {BM, BN}).swizzled(8);`
class Grid2d {
public:
  /// For a launch of `rows` x `columns` programs along grid axis 0; use grid2d.
  Grid2d(Value rows, Value columns, Loc loc);
  /// Tile (row, column) of such a launch.
  Grid2d(Value rows, Value columns, Value row, Value column, Loc loc)
      : rows_(rows), columns_(columns), row_(row), column_(column), loc_(loc) {}
  /// The same tiles in another order: column-major within groups of `group` rows, so that programs
  /// that run together share operands in the L2 cache. The last group may be smaller. Error: group
  /// below 1.
  [[nodiscard]] Grid2d swizzled(int group) const;

  Value row() const { return row_; }
  Value column() const { return column_; }

private:
  Value rows_, columns_, row_, column_;
  Loc loc_;
};

/// This program's (batch, m, n), from grid3d.
struct Grid3d {
  Value batch, row, column;
};

/// How `swizzle` orders tiles: column-major within groups of `group` rows.
struct Swizzle {
  int group = 8;
};
/// Tile number `index` of rows x columns tiles, in an order in which programs that run together
/// share operands in the L2 cache; the last group may be smaller. The default `index` is this
/// program's, along grid axis 0.
/// `auto [m, n] = swizzle(cdiv(C.dim(0), BM), cdiv(C.dim(1), BN), {.group = 8});`
/// Without an index, at the top of a kernel that has no grid yet, the launch grid becomes rows *
/// columns, if both are made of `dim(...)`, Scalar<i32> arguments and constants. Errors: counts
/// that are no i32 scalars, group below 1.
Grid2d swizzle(Arg rows, Arg columns, Swizzle options = {}, Loc loc = Loc::here());
Grid2d swizzle(Arg index, Arg rows, Arg columns, Swizzle options = {}, Loc loc = Loc::here());

/// A loop over this program's share of `tiles` tiles: `program_id(0)`, `program_id(0) +
/// num_programs(0)`, ...
///   for (auto t : persistent(tiles)) { auto [m, n] = swizzle(t, rows, columns); ... }
/// The launch has at most as many programs as the device runs at once, and few enough that all
/// compute equally many tiles: for 512 tiles on 132 multiprocessors, 128 programs compute 4 each.
/// Errors: a second grid helper, and those of `range`.
Range persistent(Arg tiles, Loc loc = Loc::here());

/// Divides this program among `count` teams and returns the team's number: an i32 scalar. Each team
/// has as many warps as the kernel and executes the whole kernel, as a separate program would. In a
/// loop with `.warp_specialize()` the producer warp loads tiles that do not depend on the team's
/// number once, for all teams. The teams then share one block, which gets `count` times the warps.
/// If no loop of the kernel has a producer warp, the teams run one after the other.
///   auto tile = grid1d(q, {3 * 64}) * 3 + teams(3); // 64 rows per team, with the same keys
/// Teams are not ordered with each other: no two of them may store to the same address.
/// Errors: a count that is not from 1 to 6, a second call, a call in a loop, branch or callable.
Value teams(int count, Loc loc = Loc::here());

/// Divides this program among the `count` blocks of a cluster and returns the block's rank: an i32
/// scalar. Each block executes the whole kernel, as a separate program would. On sm_90a, in a loop
/// with `.warp_specialize()`, each block loads a share of the tiles that do not depend on the rank
/// and sends it to all blocks (multicast), if the trip counts of that loop and of those around it
/// do not depend on the rank either. Otherwise each block loads everything it needs.
///   auto [m, n] = grid2d(c, {2 * 128, 256});
///   Value row = m * 2 + cluster(2); // the blocks share columns of b and have separate rows
/// Blocks are not ordered with each other: no two of them may store to the same address. On an H100
/// multicast gained nothing for matmuls that fill it: measure before you use it.
/// Errors: a count other than 1, 2, 4 or 8, a second call, a call in a loop, branch or callable.
Value cluster(int count, Loc loc = Loc::here());

/// The elementwise sum of the tiles `x` of this cluster's blocks, added in the order of the blocks'
/// ranks: all blocks get the same bits. The sum goes through the blocks' shared memory, and all of
/// them synchronize for it. It serves split-K within a cluster:
///   Value part = cluster(2), steps = cdiv(K, BK);
///   for (auto k : range(part * steps / 2, (part + 1) * steps / 2)) ...
///   auto all = cluster_sum(sums);
/// A kernel with such a sum in a loop gets no producer warp. Errors: no cluster(...) before, teams,
/// a scalar, dtypes other than f32, f64 and integers of 32 and 64 bits; while the kernel is
/// compiled: a loop or branch around it that depends on the rank, a target whose blocks do not see
/// each other's shared memory (those before sm_90a).
Value cluster_sum(Arg x, Loc loc = Loc::here());
/// This block's slice of the same sum. The slices divide dimension 0 and have extent
/// `x.shape()[0] / count`; each block reads its slice of all tiles, and stores the sum.
///   c.tile({BM / 2, BN})(m * 2 + part, n) = cluster_sum_scatter(sums);
/// Errors: those of cluster_sum, extents that are no powers of two, a dimension 0 shorter than
/// `count`.
Value cluster_sum_scatter(Arg x, Loc loc = Loc::here());

/// The elementwise sum of the tiles `x` of `programs` consecutive programs, added in the order of
/// their numbers. Programs are numbered along grid axis 0 first, then 1, then 2; each group starts
/// at a multiple of `programs`. The last program of a group to finish, whichever it is, executes
/// `body(sum)`; the others end. It serves split-K across programs:
///   Value tile = program_id(0) / 2, part = program_id(0) % 2; // 2 programs per tile
///   for (auto k : range(part * steps / 2, (part + 1) * steps / 2)) ...
///   grid_sum(sums, 2, [&](Value sum) { c.tile({BM, BN})(m, n) = sum; });
/// Tiles go through a workspace that the launch allocates, as large as all tiles together; no
/// program waits. A launch throws InvalidShape if its programs are no multiple of `programs`.
/// Errors: `programs` that is not from 1 to 256, a scalar, dtypes other than f32, f64 and integers
/// of 32 and 64 bits, a cluster or teams, a call in a loop, branch or callable.
void grid_sum(Arg x, int programs, detail::FunctionRef<void(Value)> body, Loc loc = Loc::here());

namespace detail {
Value grid1dOf(const Value &view, const Shape &tile, Loc loc);
Grid2d grid2dOf(const Value &view, const Shape &tile, Loc loc);
Grid3d grid3dOf(const Value &view, const Shape &tile, Loc loc);
} // namespace detail

/// One program per tile of `extent` elements along dimension 0 of the view (a rank-1 view, or the
/// rows of a matrix).
template <class V>
requires requires(const V &view) { view.handle(); }
Value grid1d(const V &view, Shape tile, Loc loc = Loc::here()) {
  return detail::grid1dOf(view.handle(), tile, loc);
}
/// One program per `block` elements of the extent `n`, which is made of `dim(...)`, Scalar<i32>
/// arguments and constants.
Value grid1d(const Value &n, int block, Loc loc = Loc::here());
/// One program per tile of a matrix, in row-major order unless `.swizzled(group)` changes it.
template <class V> Grid2d grid2d(const V &view, Shape tile, Loc loc = Loc::here()) {
  static_assert(V::rank() == 2, "grid2d covers a view of rank 2");
  return detail::grid2dOf(view.handle(), tile, loc);
}
/// One program per tile of a rank-3 view: grid axis 2 is dimension 0, axis 1 dimension 1, axis 0
/// dimension 2.
template <class V> Grid3d grid3d(const V &view, Shape tile, Loc loc = Loc::here()) {
  static_assert(V::rank() == 3, "grid3d covers a view of rank 3");
  return detail::grid3dOf(view.handle(), tile, loc);
}

/// For structured bindings.
template <size_t I> Value get(const Grid2d &grid) {
  static_assert(I < 2);
  return I == 0 ? grid.row() : grid.column();
}

} // namespace tile

template <> struct std::tuple_size<tile::Grid2d> { static constexpr size_t value = 2; };
template <size_t I> struct std::tuple_element<I, tile::Grid2d> { using type = tile::Value; };
