// Softmax of the rows of a matrix: a row is one tile, so its maximum and sum never leave the chip.
#include <tile/tile.h>

#include <cmath>
#include <cstdio>

using namespace tile;

const auto rowSoftmax = kernel("softmax", [](In<f32, 2> x, Out<f32, 2> y, Const Columns) {
  Value row = grid1d(y, {1});
  Value tile = x.tile({1, Columns}).pad(-inf)(row, 0); // beyond the row: exp(-inf) is 0
  Value powers = exp(tile - reduce_max(tile, 1, {.keep_dims = true}));
  y.tile({1, Columns})(row, 0) = powers / sum(powers, 1, {.keep_dims = true});
});

int main() {
  constexpr int64_t rows = 1823, columns = 781;
  std::vector<float> x(rows * columns);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = 3 * std::sin(0.7f * i);

  Device device = Device::best();
  Stream stream = device.stream();
  auto in = device.tensor<float>({rows, columns}, x), out = device.tensor<float>({rows, columns});
  rowSoftmax.consts(1024)(stream, in, out);

  std::vector<float> y = out.download();
  double error = 0;
  for (int64_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (int64_t i = 0; i < columns; ++i)
      sum += std::exp(double(x[row * columns + i]));
    for (int64_t i = row * columns; i < (row + 1) * columns; ++i)
      error = std::fmax(error, std::abs(y[i] - std::exp(double(x[i])) / sum));
  }
  std::printf("softmax on %s: maximal error %.2g\n", device.name().c_str(), error);
  return error < 1e-6 ? 0 : 1;
}
