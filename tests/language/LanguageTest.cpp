// Runs the examples of docs/language.md.
#include "tests/language/Examples.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace tile;
using namespace tile::language;

namespace {

class Language : public ::testing::TestWithParam<size_t> {};

TEST_P(Language, Example) {
  const Example &example = examples()[GetParam()];
  auto shown = kernel_capturing(
      std::to_string(GetParam()), "example",
      [run = example.run](In<f32, 2> A, In<f32, 3> T, In<f32, 1> numbers, InOut<f32, 1> f,
                          InOut<i32, 1> c, Out<f64, 1> result, Scalar<i32> n) {
        Value x = numbers.tile({4})(0), m = reshape(numbers.tile({8})(0), {2, 4});
        Given given{x, 5 - x, m, arange(4), x > 2, n, A, T, f, c};
        Value value = cast(f64, run(given));
        Value row = value.rank() == 0 ? splat(value, {1}) : ravel(value);
        result.tile(row.shape())(0) = row;
      });
  Device device = Device::open("virtual");
  Stream stream = device.stream();
  std::vector<float> counted(15), numbers(8);
  std::iota(counted.begin(), counted.end(), 0.0f);
  std::iota(numbers.begin(), numbers.end(), 1.0f);
  auto a = device.tensor<float>({3, 5}, counted), x = device.tensor<float>({8}, numbers);
  auto f = device.tensor<float>({8});
  auto c = device.tensor<int32_t>({8});
  f.fill(0), c.fill(0);
  auto result = device.tensor<double>({static_cast<int64_t>(example.expected.size())});
  try {
    shown.warps(1).grid(1)(stream, a,
                           a.slice(0, 0, 1).slice(1, 0, 1).withStrides({1, 1, 1}, {5, 5, 1}), x, f,
                           c, result, 3);
  } catch (const Error &error) {
    if (error.code() == ErrorCode::ToolMissing)
      GTEST_SKIP() << error.what();
    throw;
  }
  std::vector<double> values = result.download();
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_FLOAT_EQ(float(values[i]), float(example.expected[i]))
        << "element " << i << " of the example of " << example.operation;
}

INSTANTIATE_TEST_SUITE_P(All, Language, ::testing::Range(size_t(0), examples().size()),
                         [](const auto &run) {
                           std::string name;
                           for (char letter : std::string(examples()[run.param].operation))
                             name +=
                                 std::isalnum(static_cast<unsigned char>(letter)) ? letter : '_';
                           return name + "_" + std::to_string(run.param);
                         });

} // namespace
