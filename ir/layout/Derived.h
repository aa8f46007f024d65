// Operations on layouts that mirror operations on tiles: the layout a result has when no data
// moves.
//
// All are closed: the result is a layout again, over the same threads. Data does not move between
// threads; registers may be renumbered (odd digits are row-major over the dimensions, so permuting
// two dimensions with odd factors renumbers them). The register of the operand that feeds a result
// register is found with Layout::registerAt on the mapped coordinates at lane 0, warp 0; it is the
// same for all threads.
#pragma once

#include "ir/layout/Layout.h"

namespace tile::layout {

/// Result dimension i is source dimension order[i].
Layout permute(const Layout &source, const std::vector<int32_t> &order);

/// Inserts a dimension of size 1 before dimension `axis` (axis == rank appends).
Layout expandDims(const Layout &source, int axis);

/// Repeats dimension `axis`, which has size 1, `size` times, all copies in the same thread (as the
/// highest register bits and an odd digit).
Layout broadcast(const Layout &source, int axis, int64_t size);

/// The layout with coordinate `axis` forced to 0 and the dimension kept with size 1: where an
/// operand of size 1 must be for a broadcast to `source` to move nothing.
Layout collapse(const Layout &source, int axis);

/// The layout of the result of a reduction: the coordinate is dropped, registers that became copies
/// go away, lanes and warps that became copies stay as free bits (every one of them has the
/// result).
Layout reduceAxis(const Layout &source, int axis);

/// Row-major reshape. Refused, with a sentence in *why, if the element counts differ or an odd
/// factor would not stay outermost in its dimension.
std::optional<Layout> reshape(const Layout &source, const Shape &shape, Refusal *why = nullptr);

/// The layout of a part of the tile: `size` elements along dimension `dim`, a power of two that
/// divides its extent, whatever multiple of `size` they begin at. Nothing if threads or bits of
/// several dimensions tell the parts apart: only registers of their own may.
std::optional<Layout> part(const Layout &source, int dim, int64_t size);

/// Appends a dimension of size 2 whose two halves are consecutive registers (register bit 0): the
/// result of joining two tiles of layout `source`.
Layout joined(const Layout &source);

/// The layout nearest to `source` in which threads hold `elements` (a power of two) consecutive
/// elements along `dim`, in registers 0, 1, 2...: lane bits that move by less change places with
/// register bits that move by more. Nothing if there are no such registers.
std::optional<Layout> withVectors(const Layout &source, int dim, int64_t elements);

/// The layout after renaming places: new input bit i stands for the place inputs.columns()[i] of
/// `outer` (packed words: register bits lowest, then lane, warp, block). `counts` says how many of
/// the new bits are register, lane, warp and block bits, in this order. Odd digits are untouched.
Layout compose(const Layout &outer, const LinearMap &inputs,
               const std::array<int, kNumIns> &counts);

/// A tile made of tiles: each inner tile is laid out as `inner`, their grid as `outer`; inner's
/// bits are the low ones of each kind. Refused if the ranks differ or `inner` has odd factors (they
/// must stay outermost).
std::optional<Layout> product(const Layout &inner, const Layout &outer);

} // namespace tile::layout
