// Elementwise functions of any number of tensors, with broadcasting: the engine under add, gelu and
// their like, for functions of your own as well.
//
//   ops::map(stream, [](Value x, Value y) { return x * sigmoid(y); }, out, a, b);
//   ops::map(stream, [](Value x, Value s) { return x * s; }, out, a, 0.5f);
#pragma once

#include <tile/detail/ops/Map.h>

#include <array>

namespace tile::ops {

/// An argument of `map` that stands for the position of each element in the output, in row-major
/// order: an i64 tile.
struct Position {};

/// The outputs of a `map` with several: `map(stream, f, outputs(y, z), x)`, where f returns a
/// std::array of as many Values.
template <class... Y> std::array<Operand, sizeof...(Y)> outputs(const Y &...y) {
  return {Operand(y)...};
}

/// y[i] = f(x0[i], x1[i], ...) for every index i of y.
///
/// `f` is a lambda without captures over Values and may use any elementwise operation of the
/// language. Floats of 16 and 8 bits reach it as f32; its result is rounded to y's dtype.
/// The arguments x are tensors, numbers or Position(). Floating-point numbers reach f as f32, as
/// f64 if y is f64, integers as i32 or i64. Numbers may differ from call to call without a compile.
///
/// Shapes: each x broadcasts to y's extents by NumPy's rule. Any strides; if more than 5 dimensions
/// are left after those that all tensors walk alike are merged, a kernel is launched for each index
/// of the outermost. Nothing happens if y is empty.
/// Dtypes: any. y may be one of x, element for element; it may not overlap them in another way, nor
/// repeat elements.
///
/// Errors: InvalidArgument at an operation of f that is not elementwise, such as a sum;
/// InvalidShape if it returns a tile of another shape.
/// Errors (InvalidShape, WrongDevice, Aliasing, Unsupported), at the caller's line: an x does not
/// broadcast to y, tensors of different devices, y overlaps an x or repeats elements; more than
/// 5 such dimensions and a Position().
template <class F, class... X> void map(CallSite site, F f, const Operand &y, const X &...x) {
  detail::mapNamed({"map", {}}, site, f, std::array{y}, x...);
}
/// The same with several outputs of equal extents, which may not overlap: f returns a std::array of
/// Values.
template <class F, size_t Outs, class... X>
void map(CallSite site, F f, const std::array<Operand, Outs> &y, const X &...x) {
  detail::mapNamed({"map", {}}, site, f, y, x...);
}

} // namespace tile::ops
