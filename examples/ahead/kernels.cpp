// Kernels to compile ahead of time: main.cpp and scale.c launch them without a compiler.
#include <tile/tile.h>

using namespace tile;

const auto scale = kernel("scale", [](In<f32, 1> x, Out<f32, 1> y, Scalar<f32> s, Const B) {
  Value i = grid1d(y, {B});
  y.tile({B})(i) = x.tile({B})(i) * s;
});

// Each program makes one row, which is one tile.
const auto softmax = kernel("softmax", [](In<f32, 2> x, Out<f32, 2> y, Const Columns) {
  Value row = grid1d(y, {1});
  Value tile = x.tile({1, Columns}).pad(-inf)(row, 0);
  Value powers = exp(tile - reduce_max(tile, 1, {.keep_dims = true}));
  y.tile({1, Columns})(row, 0) = powers / sum(powers, 1, {.keep_dims = true});
});
