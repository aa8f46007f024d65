// A library product with an epilogue of one's own: the lambda is compiled into the kernel.
#include <tile/ops/Matmul.h>

#include <cmath>
#include <cstdio>

using namespace tile;

int main() {
  constexpr int64_t M = 130, N = 70, K = 90;
  std::vector<half> x(M * K), y(N * K);
  for (int64_t i = 0; i < M * K; ++i)
    x[i] = std::sin(0.3f * i);
  for (int64_t i = 0; i < N * K; ++i)
    y[i] = std::cos(0.7f * i);

  Device device = Device::best();
  Stream stream = device.stream();
  auto a = device.tensor<half>({M, K}, x);
  auto b = device.tensor<half>({N, K}, y).T(); // column-major: nothing is copied
  auto c = device.tensor<float>({M, N});
  ops::matmul(stream, a, b, c, [](Value sums) { return gelu(sums * 0.1f); });

  std::vector<float> z = c.download();
  double error = 0;
  for (int64_t i = 0; i < M * N; ++i) {
    double sum = 0;
    for (int64_t k = 0; k < K; ++k)
      sum += double(x[i / N * K + k]) * y[i % N * K + k];
    sum *= 0.1;
    error = std::fmax(error, std::abs(z[i] - sum * (1 + std::erf(sum / std::sqrt(2.0))) / 2));
  }
  std::printf("fused epilogue on %s: maximal error %.2g\n", device.name().c_str(), error);
  return error < 1e-4 ? 0 : 1;
}
