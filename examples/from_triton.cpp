// The kernels of docs/from-triton.md, run and compared with plain loops.
#include <tile/tile.h>

#include <cstdio>
#include <vector>

using namespace tile;

// [axpy]
const auto axpy = kernel("axpy", [](In<f32, 1> x, InOut<f32, 1> y, Scalar<f32> a, Const Block) {
  Value i = grid1d(y, {Block});                            // tl.program_id(0), and the grid
  Value sum = a * x.tile({Block})(i) + y.tile({Block})(i); // tl.load with its mask
  y.tile({Block})(i) = sum;                                // tl.store
});
// [end]

// [product]
const auto product =
    kernel("product", [](In<f16, 2> a, In<f16, 2> b, Out<f16, 2> c, Const M, Const N, Const K) {
      auto [m, n] = grid2d(c, {M, N});
      auto sums = var(zeros(f32, {M, N})); // changes in the loop, so it is a var
      for (auto k : range(cdiv(a.dim(1), K)).stages(3))
        sums = dot(a.tile({M, K})(m, k), b.tile({K, N})(k, n), sums);
      c.tile({M, N})(m, n) = cast(f16, sums);
    });
// [end]

// [pointers]
const auto picked = kernel("picked", [](In<f32, 1> x, In<i32, 1> at, Out<f32, 1> y, Const Block) {
  Value i = grid1d(y, {Block});
  Value offsets = at.tile({Block})(i), inside = offsets < x.dim(0);
  y.tile({Block})(i) = load(x.ptr() + offsets, inside, 0.0f);
});
// [end]

static bool checkVectors(const Device &device, const Stream &stream) {
  constexpr int64_t n = 1000;
  std::vector<float> x(n), y(n, 1.0f);
  std::vector<int32_t> at(n);
  for (int64_t i = 0; i < n; ++i)
    x[i] = static_cast<float>(i % 37), at[i] = static_cast<int32_t>((i * 7) % 1200);
  auto a = device.tensor<float>({n}, x), b = device.tensor<float>({n}, y);
  auto c = device.tensor<float>({n});
  axpy.consts(256)(stream, a, b, 2.0f);
  picked.consts(256)(stream, a, device.tensor<int32_t>({n}, at), c);
  stream.synchronize();
  std::vector<float> sums = b.download(), values = c.download();
  bool isRight = true;
  for (int64_t i = 0; i < n; ++i)
    isRight &= sums[i] == 2 * x[i] + 1 && values[i] == (at[i] < n ? x[at[i]] : 0);
  return isRight;
}

static bool checkProduct(const Device &device, const Stream &stream) {
  constexpr int64_t m = 70, n = 50, k = 90;
  std::vector<half> a(m * k), b(k * n);
  for (int64_t i = 0; i < m * k; ++i)
    a[i] = half(static_cast<float>(i % 5));
  for (int64_t i = 0; i < k * n; ++i)
    b[i] = half(static_cast<float>(i % 3));
  auto left = device.tensor<half>({m, k}, a), right = device.tensor<half>({k, n}, b);
  auto result = device.tensor<half>({m, n});
  product.consts(64, 32, 32)(stream, left, right, result);
  stream.synchronize();
  std::vector<half> c = result.download();
  bool isRight = true;
  for (int64_t row = 0; row < m; ++row)
    for (int64_t column = 0; column < n; ++column) {
      float sum = 0;
      for (int64_t i = 0; i < k; ++i)
        sum += static_cast<float>(a[row * k + i]) * static_cast<float>(b[i * n + column]);
      isRight &= static_cast<float>(c[row * n + column]) == sum; // small integers: exact
    }
  return isRight;
}

int main() {
  Device device = Device::best();
  Stream stream = device.stream();
  bool isRight = checkVectors(device, stream) && checkProduct(device, stream);
  std::printf("%s\n", isRight ? "all are right" : "something is wrong");
  return isRight ? 0 : 1;
}
