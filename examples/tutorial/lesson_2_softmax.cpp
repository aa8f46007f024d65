// Lesson 2: softmax of the rows of a matrix. docs/tutorial/2-softmax.md explains it.
#include <tile/tile.h>

#include <cmath>
#include <cstdio>

using namespace tile;

// [kernel]
const auto softmaxRows =
    kernel("softmax", [](In<f32, 2> x, Out<f32, 2> y, Const Rows, Const Columns) {
      Value program = grid1d(y, {Rows});
      Value tile = x.tile({Rows, Columns}).pad(-inf)(program, 0);
      Value largest = reduce_max(tile, 1, {.keep_dims = true}); // Rows x 1
      Value powers = exp(tile - largest);                       // broadcasts, as in NumPy
      Value total = sum(powers, 1, {.keep_dims = true});
      y.tile({Rows, Columns})(program, 0) = powers / total;
    });
// [end]

// [reference]
/// The largest difference to softmax in float64.
static double largestError(const std::vector<float> &x, const std::vector<float> &y,
                           int64_t columns) {
  double error = 0;
  for (size_t row = 0; row < x.size(); row += columns) {
    double total = 0;
    for (int64_t i = 0; i < columns; ++i)
      total += std::exp(double(x[row + i]));
    for (int64_t i = 0; i < columns; ++i)
      error = std::fmax(error, std::abs(y[row + i] - std::exp(double(x[row + i])) / total));
  }
  return error;
}
// [end]

int main() {
  constexpr int64_t rows = 37, columns = 100;
  std::vector<float> numbers(rows * columns);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = 4 * std::sin(0.7f * i);

  Device device = Device::best();
  Stream stream = device.stream();
  auto x = device.tensor<float>({rows, columns}, numbers);
  auto y = device.tensor<float>({rows, columns});

  // [call]
  double error = 0;
  for (int rowsAProgram : {1, 4, 8}) {
    y.fill(0);
    softmaxRows.consts(rowsAProgram, 128).warps(4)(stream, x, y);
    std::vector<float> result = y.download();
    error = std::fmax(error, largestError(numbers, result, columns));
    std::printf("%d rows a program: row 0 begins %.4f %.4f %.4f\n", rowsAProgram, result[0],
                result[1], result[2]);
  }
  std::printf("largest error below 1e-6: %s\n", error < 1e-6 ? "yes" : "no");
  // [end]

  // [mistake]
  try {
    tileIr(softmaxRows.consts(3, 0));
  } catch (const Error &mistake) {
    std::printf("%s\n", mistake.message().c_str());
  }
  // [end]
  return error < 1e-6 ? 0 : 1;
}
