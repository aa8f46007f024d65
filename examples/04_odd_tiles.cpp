// Tiles need not be powers of two: 96 columns waste nothing of a matrix 480 wide, 176 of one 1056 wide.
#include <tile/tile.h>

#include <cmath>
#include <cstdio>

using namespace tile;

const auto matmul = kernel(
    "odd_matmul", [](In<f16, 2> A, In<f16, 2> B, Out<f32, 2> C, Const BM, Const BN, Const BK) {
      auto [m, n] = grid2d(C, {BM, BN});
      auto sums = var(zeros(f32, {BM, BN}));
      for (auto k : range(cdiv(A.dim(1), BK)))
        sums = dot(A.tile({BM, BK})(m, k), B.tile({BK, BN})(k, n), sums);
      C.tile({BM, BN})(m, n) = sums;
    });

int main() {
  constexpr int64_t M = 192, N = 352, K = 100;
  std::vector<half> x(M * K), y(K * N);
  for (size_t i = 0; i < y.size(); ++i)
    x[i % x.size()] = std::sin(0.3f * i), y[i] = std::cos(0.7f * i);
  Device device = Device::best();
  Stream stream = device.stream();
  auto a = device.tensor<half>({M, K}, x), b = device.tensor<half>({K, N}, y);
  double error = 0;
  for (int columns : {96, 176}) {
    auto c = device.tensor<float>({M, N});
    matmul.consts(64, columns, 32).warps(2)(stream, a, b, c);
    auto z = c.download();
    for (int64_t i = 0; i < M * N; ++i) {
      double sum = 0;
      for (int64_t k = 0; k < K; ++k)
        sum += double(x[i / N * K + k]) * y[k * N + i % N];
      error = std::fmax(error, std::abs(z[i] - sum));
    }
  }
  std::printf("odd tiles on %s: maximal error %.2g\n", device.name().c_str(), error);
  return error < 1e-4 ? 0 : 1;
}
