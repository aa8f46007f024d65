// expect: the kernel has Const parameters: call .consts(...) before launching it
#include <tile/tile.h>
using namespace tile;

auto copy = kernel("copy", [](In<f16, 2> x, Out<f16, 2> y, Scalar<i32> n, Const B) {
  y.tile({B, B})(n, 0) = x.tile({B, B})(n, 0);
});

void call(const Stream &stream, half *x) { copy(stream, ref(x, {8, 8}), ref(x, {8, 8}), 3); }
