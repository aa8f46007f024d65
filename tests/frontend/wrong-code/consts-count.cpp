// expect: consts(...) needs one number for each Const parameter of the kernel
#include <tile/tile.h>
using namespace tile;

auto copy = kernel("copy", [](In<f16, 2> x, Out<f16, 2> y, Scalar<i32> n, Const B) {
  y.tile({B, B})(n, 0) = x.tile({B, B})(n, 0);
});

auto bound = copy.consts(32, 64);
