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

auto compound = kernel("compound", [](In<f32, 2> x, InOut<f32, 2> y, Scalar<i32> n) {
  y.tile({4, 4})(0, 0) -= x.tile({4, 4}).offset(0, 1);
  y.tile({4, 4})(0, 0) *= select(x.tile({4, 4}).inside(0, 0), 2, 3);
  y.tile({4, 4})(0, 0, Loc::here()) /= x.tile({4, 4})(0, 1, Loc::here());
  auto go = var(n > 0);
  while_([&]() -> Value { return go; }, [&] { go = n > 1; });
  std::vector<Var> several;
  several.push_back(var(1));
  several.push_back(var(n));
});

void temporary(const Stream &stream, Stream (*make)(), float *data) {
  compound(stream, ref(data, {8, 8}), ref(data + 64, {8, 8}), 3);
  compound(make(), ref(data, {8, 8}), ref(data + 64, {8, 8}), 3);
}

void call(const Stream &stream, half *data) {
  right.consts(32)(stream, ref(data, {64}), ref(data, {64}), 3);
  right.consts(32u).warps(8).grid(2)(stream, ref(data, {64}), ref(data, {64}), 3);
}
