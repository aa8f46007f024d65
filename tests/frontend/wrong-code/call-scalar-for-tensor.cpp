// expect: a tensor is expected for an In, Out or InOut parameter of the kernel, but this argument is not one
#include <tile/tile.h>
using namespace tile;

auto copy = kernel("copy", [](In<f16, 2> x, Out<f16, 2> y, Scalar<i32> n, Const B) {
  y.tile({B, B})(n, 0) = x.tile({B, B})(n, 0);
});

void call(const Stream &stream, half *x) { copy.consts(32)(stream, ref(x, {8, 8}), 3, 3); }
