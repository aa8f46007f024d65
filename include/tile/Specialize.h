// Arguments made constants: while it is traced a kernel asks for the value that an argument of the
// launch has, and goes on with a host number, which may be a tile's extent, a bound of a plain C++
// loop, a condition of a C++ `if`.
//
//   auto filter = kernel("filter", [](In<f32, 1> x, Out<f32, 1> y, Scalar<i32> taps, Const B) {
//     Value i = grid1d(y, {B}), sum = zeros(f32, {B});
//     for (int tap = 0, n = specialize(taps); tap < n; ++tap)
//       sum += x.tile({B}).offset(i * B - tap);
//     y.tile({B})(i) = sum;
//   });
//   filter.consts(256)(stream, x, y, 3); // compiles, and again for any other number of taps
//
// The value is part of the key by which a launch finds its compiled code, and a constant wherever
// the kernel uses the argument. Each new value compiles the kernel again: specialise what has few
// values. Where there are no arguments, as for `tileIr`, give examples with values.
//
// Errors: what is neither a scalar argument nor an extent of a view (`x.dim(0)`); integers that do
// not fit an int; a kernel traced without the value.
#pragma once

#include <tile/Value.h>

namespace tile {

namespace detail {
double specializedNumber(const Value &argument, Loc loc);
}

/// The value of an integer or i1 argument, or of a view's extent, in the launch this kernel is
/// compiled for: a constant.
Const specialize(const Value &argument, Loc loc = Loc::here());
/// The value of a float argument.
template <DType D>
requires(isFloat(D)) double specialize(const Scalar<D> &argument, Loc loc = Loc::here()) {
  return detail::specializedNumber(argument, loc);
}

} // namespace tile
