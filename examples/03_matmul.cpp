// Matrix product on tensor cores: each program owns one tile of C and walks along K.
#include <tile/tile.h>

#include <cmath>
#include <cstdio>

using namespace tile;

const auto matmul =
    kernel("matmul", [](In<f16, 2> A, In<f16, 2> B, Out<f16, 2> C, Const BM, Const BN, Const BK) {
      auto [m, n] = grid2d(C, {BM, BN}).swizzled(8); // the launch grid follows from C
      auto sums = var(zeros(f32, {BM, BN}));
      for (auto k : range(cdiv(A.dim(1), BK)).stages(3))
        sums = dot(A.tile({BM, BK})(m, k), B.tile({BK, BN})(k, n), sums);
      C.tile({BM, BN})(m, n) = cast(f16, sums);
    });

int main() {
  constexpr int64_t M = 300, N = 200, K = 250;
  std::vector<half> x(M * K), y(K * N);
  for (int64_t i = 0; i < M * K; ++i)
    x[i] = std::sin(0.3f * i);
  for (int64_t i = 0; i < K * N; ++i)
    y[i] = std::cos(0.7f * i);
  Device device = Device::best();
  Stream stream = device.stream();
  auto a = device.tensor<half>({M, K}, x), b = device.tensor<half>({K, N}, y);
  auto c = device.tensor<half>({M, N});
  matmul.consts(64, 64, 32).warps(4)(stream, a, b, c);
  std::vector<half> z = c.download();
  double error = 0;
  for (int64_t i = 0; i < M * N; ++i) {
    double sum = 0;
    for (int64_t k = 0; k < K; ++k)
      sum += double(x[i / N * K + k]) * y[k * N + i % N];
    error = std::fmax(error, std::abs(z[i] - sum));
  }
  std::printf("matmul on %s: maximal error %.2g\n", device.name().c_str(), error);
  return error < 0.05 ? 0 : 1; // f16 has 11 bits
}
