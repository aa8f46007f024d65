// expect: a tensor is expected for an In, Out or InOut parameter of the kernel, but this argument is not one
// expect-lines: 24
#include <tile/tile.h>
using namespace tile;

auto right = kernel("right", [](In<f32, 1> x, Out<f32, 1> y, Const B) {
  Value i = grid1d(y, {B});
  y.tile({B})(i) = x.tile({B})(i);
});

void call(const Stream &stream, std::vector<float> x, float *y) {
  right.consts(32)(stream, x, ref(y, {64}));
}
