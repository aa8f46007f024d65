// expect: a kernel's parameters are In<dtype, rank>, Out<dtype, rank>, InOut<dtype, rank>, Scalar<dtype>, Const or ConstOf<T>, taken by value
// expect-lines: 34
#include <tile/tile.h>
using namespace tile;

auto wrong = kernel("wrong", [](In<f32, 1> x, Out<f32, 1> y, int B) {
  Value i = grid1d(y, {B});
  y.tile({B})(i) = x.tile({B})(i);
});

void call(const Stream &stream, float *data) {
  wrong.consts(32)(stream, ref(data, {64}), ref(data + 64, {64}));
}
