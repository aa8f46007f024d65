// Lesson 7: settings that are found by trying. docs/tutorial/7-tuning.md explains it.
#include <tile/tile.h>

#include <cmath>
#include <cstdio>

using namespace tile;

// [kernel]
const auto softmaxRows =
    kernel("softmax_rows",
           [](In<f32, 2> x, Out<f32, 2> y, Const Rows, Const Columns) {
             Value program = grid1d(y, {Rows});
             Value tile = x.tile({Rows, Columns}).pad(-inf)(program, 0);
             Value powers = exp(tile - reduce_max(tile, 1, {.keep_dims = true}));
             y.tile({Rows, Columns})(program, 0) = powers / sum(powers, 1, {.keep_dims = true});
           })
        .named("x", "y", "Rows", "Columns")
        .tunable("Rows", pow2(1, 16), 4)
        .tunable("warps", {1, 2, 4, 8}, 4)
        // [end]
        // [rules]
        .where("a warp has a row at least",
               [](const Config &c, const Problem &) { return c["Rows"] >= c["warps"]; })
        .otherwise([](const Problem &problem) { // few rows are spread over more programs
          return Config{{"Rows", problem.extent(0, 0) < 1000 ? 1 : 4}, {"warps", 1}};
        })
        .work([](const Config &c, const Problem &problem) {
          double rows = static_cast<double>(c["Rows"]), columns = double(problem.extent(0, 1));
          Work work;
          work.threads = int(c["warps"]) * 32;
          work.operations = rows * columns * 12;
          work.bytesRead = work.bytesWritten = rows * columns * 4;
          work.programs = double((problem.extent(0, 0) + c["Rows"] - 1) / c["Rows"]);
          work.distinctBytes = work.programs * 2 * work.bytesRead;
          return work;
        });
// [end]

int main() {
  Device device = Device::best();
  Stream stream = device.stream();
  std::vector<float> numbers(2000 * 100);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = 4 * std::sin(0.7f * i);
  auto x = device.tensor<float>({2000, 100}, numbers);
  auto y = device.tensor<float>({2000, 100});

  // [call]
  auto softmax = softmaxRows.tuned().with("Columns", 128);
  softmax(stream, x, y);
  softmax(stream, x.slice(0, 0, 37), y.slice(0, 0, 37));
  // [end]

  // [choice]
  for (int64_t rows : {2000, 37}) {
    TunedChoice choice = softmax.choice(device, x.slice(0, 0, rows), y.slice(0, 0, rows));
    std::printf("%4ld rows: %s, says %s\n", static_cast<long>(rows), choice.config.str().c_str(),
                choice.source.c_str());
  }
  // [end]

  double total = 0;
  for (float value : y.download())
    total += value;
  bool isRight = std::abs(total - 2000) < 1e-3;
  std::printf("every row adds up to 1: %s\n", isRight ? "yes" : "no");

  // [mistake]
  try {
    softmaxRows.tunable("Row", pow2(1, 16));
  } catch (const Error &mistake) {
    std::printf("%s\n", mistake.message().c_str());
  }
  // [end]
  return isRight ? 0 : 1;
}
