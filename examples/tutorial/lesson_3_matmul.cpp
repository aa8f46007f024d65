// Lesson 3: a matrix product on tensor cores. docs/tutorial/3-matmul.md explains it.
#include <tile/tile.h>

#include <cmath>
#include <cstdio>

using namespace tile;

// [kernel]
const auto multiply =
    kernel("multiply", [](In<f16, 2> A, In<f16, 2> B, Out<f32, 2> C, Const BM, Const BN, Const BK) {
      auto [m, n] = grid2d(C, {BM, BN}).swizzled(8);
      auto sums = var(zeros(f32, {BM, BN}));
      for (auto k : range(cdiv(A.dim(1), BK)))
        sums = dot(A.tile({BM, BK})(m, k), B.tile({BK, BN})(k, n), sums);
      C.tile({BM, BN})(m, n) = sums;
    });
// [end]

// [reference]
/// The largest difference to the product of the same f16 numbers in float64.
static double largestError(const std::vector<half> &a, const std::vector<half> &b,
                           const std::vector<float> &c, int64_t M, int64_t N, int64_t K) {
  double error = 0;
  for (int64_t m = 0; m < M; ++m)
    for (int64_t n = 0; n < N; ++n) {
      double sum = 0;
      for (int64_t k = 0; k < K; ++k)
        sum += double(a[m * K + k]) * double(b[k * N + n]);
      error = std::fmax(error, std::abs(c[m * N + n] - sum));
    }
  return error;
}
// [end]

/// Numbers between -1 and 1.
static std::vector<half> wave(int64_t size, float frequency) {
  std::vector<half> numbers(size);
  for (int64_t i = 0; i < size; ++i)
    numbers[i] = std::sin(frequency * i);
  return numbers;
}

int main() {
  constexpr int64_t M = 200, N = 150, K = 100;
  std::vector<half> x = wave(M * K, 0.3f), y = wave(K * N, 0.7f);
  Device device = Device::best();
  Stream stream = device.stream();

  // [call]
  auto a = device.tensor<half>({M, K}, x), b = device.tensor<half>({K, N}, y);
  auto c = device.tensor<float>({M, N});
  multiply.consts(64, 64, 32).warps(4)(stream, a, b, c);
  bool isRight = largestError(x, y, c.download(), M, N, K) < 1e-4;
  std::printf("a b: largest error below 1e-4: %s\n", isRight ? "yes" : "no");
  // [end]

  // [transposed]
  auto columns = device.tensor<half>({N, K}, wave(N * K, 0.7f)).T(); // K x N, nothing is copied
  multiply.consts(64, 64, 32).warps(4)(stream, a, columns, c);
  std::printf("column-major b: c[0, 0] = %.3f\n", c.download()[0]);
  // [end]

  // [mistake]
  const auto wrong = kernel("wrong", [](In<f16, 2> A, In<f16, 2> B, Out<f32, 2> C) {
    C.tile({64, 64})(0, 0) = dot(A.tile({64, 32})(0, 0), B.tile({16, 64})(0, 0));
  });
  try {
    wrong(stream, a, b, c);
  } catch (const Error &error) {
    std::printf("%s\n", error.message().c_str());
  }
  // [end]
  return isRight ? 0 : 1;
}
