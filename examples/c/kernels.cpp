// A kernel in a library, for programs in C and Python: loading the library makes it.
#include <tile/tile.h>

using namespace tile;

auto scale = kernel("scale", [](In<f32, 1> x, Out<f32, 1> y, Scalar<f32> by, Const B) {
               Value i = grid1d(y, {B});
               y.tile({B})(i) = x.tile({B})(i) * by;
             }).named("x", "y", "by", "B");
