// Nested operands everywhere: g++ and clang evaluate them in opposite order.
#include "tests/frontend/canonical/Programs.h"

#include <cmath>

using namespace tile;

static auto matmul =
    kernel("matmul", [](In<f16, 2> A, In<f16, 2> B, Out<f16, 2> C, Const BM, Const BN, Const BK) {
      auto [m, n] = grid2d(C, {BM, BN}).swizzled(8);
      auto acc = var(zeros(f32, {BM, BN}));
      for (auto k : range(cdiv(A.dim(1), BK)).stages(3))
        acc = dot(A.tile({BM, BK})(m, k), B.tile({BK, BN})(k, n), acc);
      C.tile({BM, BN})(m, n) = cast(f16, acc);
    });

static auto fused = kernel("fused", [](In<f32, 1> x, In<f32, 1> y, InOut<f32, 1> z, Scalar<f32> s,
                                       Scalar<i32> n, Const B) {
  Value i = grid1d(z, {B});
  z.tile({B})(i) = fma(x.tile({B})(i) * s, exp(y.tile({B})(i)) - x.tile({B})(i + 1),
                       z.tile({B})(i) / (y.tile({B})(n) + s));
  z.tile({B})(i + n) =
      select(x.tile({B})(i) > y.tile({B})(i), z.tile({B})(i - 1) + z.tile({B})(i), z.tile({B})(n));
});

static auto rows = kernel("rows", [](In<bf16, 2> x, Out<bf16, 2> y, Const N) {
  Value r = grid1d(y, {1});
  Value t = cast(f32, x.tile({1, N}).pad(-INFINITY)(r, 0));
  y.tile({1, N})(r, 0) =
      cast(bf16, softmax(t, 1) * sigmoid(t) + (t - mean(t, 1, {.keep_dims = true})) /
                                                  cast(f32, argmax(t, 1, {.keep_dims = true}) + 1));
});

static auto control = kernel("control", [](In<i32, 1> x, InOut<i32, 1> y, Scalar<i32> n) {
  auto low = var(0), high = var(n + 1);
  for (auto i : range(low, n * 2)) {
    if_(sum(x.tile({32})(i) * y.tile({32})(i), 0) > sum(x.tile({32})(i), 0) + low, [&] {
      low = high + i;
    }).else_([&] { high = select(low < high, low + i, high - i); });
    while_([&] { return low < high + i; }, [&] { low += max(high, i) - min(low, i); });
    y.tile({32})(i) = low + high * y.tile({32})(i + 1);
  }
  store(y.ptr() + (arange(32) + low),
        load(x.ptr() + (arange(32) * high), arange(32) < n, 0) + load(y.ptr() + arange(32)),
        arange(32) < high);
});

std::vector<Program> programs() {
  return {{&matmul.record(), {128, 64, 32}},
          {&fused.record(), {256}},
          {&rows.record(), {1024}},
          {&control.record(), {}}};
}
