// Lesson 4: a product whose results are changed before they reach memory. docs/tutorial/4-fused-epilogue.md explains it.
#include <tile/ops/Map.h>
#include <tile/ops/Matmul.h>
#include <tile/tile.h>

#include <cmath>
#include <cstdio>

using namespace tile;

constexpr int64_t M = 130, N = 96, K = 200;

// [reference]
/// The largest difference to gelu(a b + bias) in float64.
static double largestError(const std::vector<half> &a, const std::vector<half> &b,
                           const std::vector<half> &bias, const std::vector<half> &c) {
  double error = 0;
  for (int64_t m = 0; m < M; ++m)
    for (int64_t n = 0; n < N; ++n) {
      double sum = bias[n];
      for (int64_t k = 0; k < K; ++k)
        sum += double(a[m * K + k]) * double(b[k * N + n]);
      double gelu = sum * (1 + std::erf(sum / std::sqrt(2.0))) / 2;
      error = std::fmax(error, std::abs(c[m * N + n] - gelu));
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
  std::vector<half> x = wave(M * K, 0.3f), y = wave(K * N, 0.7f), z = wave(N, 1.1f);
  Device device = Device::best();
  Stream stream = device.stream();
  auto a = device.tensor<half>({M, K}, x), b = device.tensor<half>({K, N}, y);
  auto bias = device.tensor<half>({N}, z), c = device.tensor<half>({M, N});

  // [apart]
  ops::matmul(stream, a, b, c);
  ops::map(
      stream, [](Value sum, Value bias) { return gelu(sum + bias); }, c, c, bias);
  double apart = largestError(x, y, z, c.download());
  // [end]

  // [fused]
  ops::matmul(stream, a, b, c,
              ops::epilogue([](Value sum, Value bias) { return gelu(sum + bias); }, bias));
  double fused = largestError(x, y, z, c.download());
  // [end]
  std::printf("two kernels: largest error %.4f\n", apart);
  std::printf("one kernel:  largest error %.4f\n", fused);

  // [numbers]
  for (float scale : {5.0f, 50.0f}) {
    ops::matmul(
        stream, a, b, c,
        ops::epilogue([](Value sum, Value scale) { return clamp(sum * scale, -1, 1); }, scale));
    std::printf("scaled by %g and clamped: c[0, 2] = %.3f\n", scale, float(c.download()[2]));
  }
  // [end]

  // [mistake]
  try {
    auto short_ = device.tensor<half>({N - 1}, wave(N - 1, 1));
    ops::matmul(stream, a, b, c, ops::epilogue([](Value x, Value y) { return x + y; }, short_));
  } catch (const Error &error) {
    std::printf("%s\n", error.message().c_str());
  }
  // [end]
  return fused <= apart && fused < 0.01 ? 0 : 1;
}
