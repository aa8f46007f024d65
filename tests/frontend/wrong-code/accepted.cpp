// expect-ok: the right forms of what the other programs do wrong.
#include <tile/tile.h>
using namespace tile;

auto right = kernel("right", [](In<f16, 1> x, InOut<f16, 1> y, Scalar<i32> n, Const B) {
  Value loaded = y.tile({B})(0);
  y.tile({B})(0) = loaded + x.tile({B})(0);
  y.tile({B})(1) += loaded;
  if_((n > 0) & ~(n == 3), [&] { y.tile({B})(2) = y.tile({B})(3); });
  if (B == 32 && B * 2 > 3)
    y.tile({B * 2})(0) = 0;
});

void call(Stream &stream, half *data) {
  right.consts(32)(stream, ref(data, {64}), ref(data, {64}), 3);
  right.consts(32u).warps(8).grid(2)(stream, ref(data, {64}), ref(data, {64}), 3);
}
