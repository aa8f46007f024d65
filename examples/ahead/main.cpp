// Launches kernels that were compiled ahead of time. This program has no compiler: it links the
// runtime alone.
#include "ahead_kernels.h" // made of kernels.cpp by `tilec aot`; see CMakeLists.txt

#include <tile/Tensor.h>

#include <cmath>
#include <cstdio>

using namespace tile;

int main() {
  constexpr int64_t rows = 37, columns = 201;
  std::vector<float> x(rows * columns);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = 3 * std::sin(0.7f * static_cast<float>(i));

  Device device = Device::best();
  Stream stream = device.stream();
  auto in = device.tensor<float>({rows, columns}, x), out = device.tensor<float>({rows, columns});
  ahead_kernels::softmax(stream, in, out); // as the kernel is called, and checked alike

  std::vector<float> y = out.download();
  double error = 0;
  for (int64_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (int64_t i = row * columns; i < (row + 1) * columns; ++i)
      sum += std::exp(double(x[i]));
    for (int64_t i = row * columns; i < (row + 1) * columns; ++i)
      error = std::fmax(error, std::abs(y[i] - std::exp(double(x[i])) / sum));
  }
  std::printf("softmax, ahead of time, on %s: maximal error %.2g\n", device.name().c_str(), error);
  return error < 1e-6 ? 0 : 1;
}
