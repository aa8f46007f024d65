// Promises: facts about values that the compiler cannot see. They make accesses through pointers
// wider. A broken promise is undefined; checked builds (`.checked()`,
// TILE_CHECKED=1) verify each and end the launch with an error at its line.
//
// Errors: operands that are not integers, numbers below 1, another count of numbers than
// dimensions (one for a scalar).
#pragma once

#include <tile/Value.h>

namespace tile {

/// A scalar: divisible by the number. A tile: along each dimension, elements at positions that the
/// number divides are divisible by it.
///   Value offset = multiple_of(item(offsets.tile({1})(i)), {16});
Value multiple_of(Arg x, Shape numbers, Loc loc = Loc::here());
/// Along each dimension runs of that many elements, beginning at multiples of it, grow by one.
Value max_contiguous(Arg x, Shape lengths, Loc loc = Loc::here());
/// Along each dimension runs of that many elements, beginning at multiples of it, are equal.
Value max_constancy(Arg x, Shape lengths, Loc loc = Loc::here());

/// Promises that a condition, an i1 scalar, holds where the program reaches it. Conditions of the
/// form `x % c == 0`, at the top of a kernel, give divisors; extents promised to be equal,
/// `a.dim(0) == b.dim(0)`, share one bounds check.
void assume(Arg condition, Loc loc = Loc::here());

} // namespace tile
