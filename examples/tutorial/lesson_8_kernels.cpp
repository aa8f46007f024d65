// Lesson 8: the kernels, which are compiled ahead of time. docs/tutorial/8-shipping.md explains it.
#include <tile/tile.h>

using namespace tile;

// [kernels]
const auto spread = kernel("spread", [](In<f32, 1> x, Out<f32, 1> y, Const B) {
  Value i = grid1d(y, {B});
  Value middle = x.tile({B})(i);
  Value left = x.tile({B}).offset(i * B - 1), right = x.tile({B}).offset(i * B + 1);
  y.tile({B})(i) = middle + (left - middle * 2 + right) * 0.25f;
});
const auto heat = kernel("heat", [](In<f32, 1> source, InOut<f32, 1> x, Scalar<f32> s, Const B) {
  Value i = grid1d(x, {B});
  x.tile({B})(i) = x.tile({B})(i) + source.tile({B})(i) * s;
});
// [end]
