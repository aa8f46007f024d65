// argmax, topK and sampling: lengths round their tiles, ties, special values, memory orders, the
// distribution of what is drawn, refusals.
#include "tests/execution/Harness.h"
#include "tests/execution/Philox.h"
#include "tests/ops/Refusals.h"

#include <tile/ops/Sampling.h>

#include <algorithm>
#include <numeric>
#include <tuple>

using namespace tile;
using namespace tile::test;

namespace {

/// Indices of a row in the documented order.
template <class T> std::vector<int> ordered(const T *row, int64_t length) {
  std::vector<int> order(static_cast<size_t>(length));
  std::iota(order.begin(), order.end(), 0);
  auto key = [&](int i) {
    double value = exact(row[i]);
    return std::isnan(value) ? std::tuple(1, 0.0, i) : std::tuple(0, -value, i);
  };
  std::sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
  return order;
}

class SamplingOp : public OnDevice {
protected:
  template <class T> void check(const std::vector<T> &x, int64_t rows, int64_t length, int64_t k) {
    SCOPED_TRACE(std::to_string(k) + " of " + std::to_string(rows) + "x" + std::to_string(length));
    Tensor tensor = input({rows, length}, x);
    auto values = output<T>({rows, k}, 3);
    auto indices = output<int>({rows, k}, 1);
    ops::topK(stream, tensor, values.tensor(), indices.tensor());
    auto largest = output<int64_t>({rows});
    ops::argmax(stream, tensor, largest.tensor());
    auto gotValues = values.result();
    auto gotIndices = indices.result();
    auto gotLargest = largest.result();
    for (int64_t r = 0; r < rows; ++r) {
      const T *row = x.data() + r * length;
      auto order = ordered(row, length);
      ASSERT_EQ(gotLargest[size_t(r)], order[0]) << "argmax of row " << r;
      for (int64_t i = 0; i < k; ++i) {
        ASSERT_EQ(gotIndices[size_t(r * k + i)], order[size_t(i)]) << "row " << r << ", " << i;
        ASSERT_EQ(std::memcmp(&gotValues[size_t(r * k + i)], row + order[size_t(i)], sizeof(T)), 0);
      }
    }
  }
  /// The token that is drawn, by the formula, and how near the next one is.
  struct Drawn {
    int token;
    double distance;
  };
  static Drawn drawn(const std::vector<float> &row, int64_t k, double temperature, uint64_t seed,
                     uint64_t position) {
    auto order = ordered(row.data(), int64_t(row.size()));
    std::vector<double> sums;
    for (int64_t i = 0; i < k; ++i)
      sums.push_back(
          (sums.empty() ? 0 : sums.back()) +
          std::exp((row[size_t(order[size_t(i)])] - row[size_t(order[0])]) / temperature));
    double threshold = std::ldexp(philoxAt(seed, position)[0] >> 8, -24) * sums.back();
    size_t chosen = 0;
    while (chosen + 1 < sums.size() && sums[chosen] <= threshold)
      ++chosen;
    double distance = 1;
    for (double sum : sums)
      distance = std::min(distance, std::abs(sum - threshold) / sums.back());
    return {order[chosen], distance};
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, SamplingOp, ::testing::ValuesIn(deviceNames(Targets::One)),
                         [](const auto &run) { return testName(run.param); });

TEST_P(SamplingOp, LengthsAndCounts) {
  for (auto [rows, length, k] : {std::array<int64_t, 3>{3, 1, 1},
                                 {5, 7, 7},
                                 {2, 64, 3},
                                 {3, 1000, 40},
                                 {1, 4096, 1024},
                                 {2, 4097, 5},
                                 {0, 10, 2}})
    check(uniform<float>(rows * length, -4, 4, 1), rows, length, k);
}

TEST_P(SamplingOp, Vocabularies) {
  check(uniform<float>(2 * 131072, -8, 8, 1), 2, 131072, 50);
  check(uniform<bfloat16>(50257, -8, 8, 2), 1, 50257, 129); // many ties; three passes
}

TEST_P(SamplingOp, Dtypes) {
  check(uniform<half>(4 * 300, -4, 4, 1), 4, 300, 9);
  check(uniform<bfloat16>(4 * 300, -4, 4, 1), 4, 300, 9);
}

TEST_P(SamplingOp, TiesAndSpecialValues) {
  std::vector<float> x = {-0.0f, 0.0f, 1e-45f, -1e-45f,  NAN,       -INFINITY, INFINITY,
                          5,     5,    -5,     INFINITY, -INFINITY, -NAN,      3e38f};
  check(x, 1, int64_t(x.size()), int64_t(x.size()));
  check(std::vector<float>(9000, 2.5f), 1, 9000, 33); // the first ones
  check(std::vector<float>(5000, NAN), 1, 5000, 3);
  check(std::vector<float>(5000, -INFINITY), 1, 5000, 3);
}

TEST_P(SamplingOp, MemoryOrders) {
  auto x = uniform<float>(2 * 3 * 50, -4, 4, 1);
  auto memory = device().tensor<float>({50, 3, 2}).permute({2, 1, 0});
  memory.upload(x);
  auto [values, indices] = ops::topK(stream, memory, 4);
  auto largest = TensorOf<int>(ops::argmax(stream, memory)).download();
  auto got = TensorOf<int>(indices).download();
  auto gotValues = TensorOf<float>(values).download();
  ASSERT_EQ(got.size(), 24u);
  for (int64_t r = 0; r < 6; ++r) {
    auto order = ordered(x.data() + r * 50, 50);
    EXPECT_EQ(largest[size_t(r)], order[0]);
    for (int64_t i = 0; i < 4; ++i) {
      EXPECT_EQ(got[size_t(r * 4 + i)], order[size_t(i)]);
      EXPECT_EQ(gotValues[size_t(r * 4 + i)], x[size_t(r * 50 + order[size_t(i)])]);
    }
  }
  auto row = input({5}, std::vector<float>{1, 4, 2, 8, 5});
  EXPECT_EQ(TensorOf<int>(ops::argmax(stream, row)).download(), std::vector<int>{3});
}

TEST_P(SamplingOp, DrawsByTheFormula) {
  constexpr int64_t kRows = 300, kLength = 90, kChosen = 11;
  auto x = uniform<float>(kRows * kLength, -3, 3, 1);
  Tensor logits = input({kRows, kLength}, x);
  for (double temperature : {0.05, 0.7, 30.0}) {
    ops::Generator generator = {.seed = 0x123456789abcdef, .offset = 77};
    auto tokens = output<int64_t>({kRows});
    ops::sampleTopK(stream, generator, logits, kChosen, temperature, tokens.tensor());
    EXPECT_EQ(generator, (ops::Generator{0x123456789abcdef, 77 + kRows}));
    auto got = tokens.result();
    int near = 0;
    for (int64_t r = 0; r < kRows; ++r) {
      std::vector<float> row(x.begin() + r * kLength, x.begin() + (r + 1) * kLength);
      auto [token, distance] =
          drawn(row, kChosen, temperature, 0x123456789abcdef, uint64_t(77 + r));
      if (distance < 1e-5)
        ++near;
      else
        ASSERT_EQ(got[size_t(r)], token) << "row " << r << ", temperature " << temperature;
    }
    EXPECT_LT(near, 5);
  }
}

TEST_P(SamplingOp, FrequenciesAreTheProbabilities) {
  constexpr int64_t kRows = 8000;
  std::vector<float> x;
  for (int64_t r = 0; r < kRows; ++r)
    x.insert(x.end(), {0.5f, -1, 2, 1.5f, -4});
  ops::Generator generator = {.seed = 5};
  auto tokens =
      TensorOf<int>(ops::sampleTopK(stream, generator, input({kRows, 5}, x), 4, 2)).download();
  std::array<double, 5> counts = {};
  for (int token : tokens)
    ++counts.at(size_t(token));
  double total = 0;
  for (double logit : {0.5, -1.0, 2.0, 1.5})
    total += std::exp(logit / 2);
  for (size_t i = 0; i < 4; ++i) {
    double p = std::exp(x[i] / 2) / total;
    EXPECT_NEAR(counts[i], kRows * p, 5 * std::sqrt(kRows * p * (1 - p))) << i;
  }
  EXPECT_EQ(counts[4], 0);
}

TEST_P(SamplingOp, ExtremeTemperaturesAndLogits) {
  auto draw = [&](const std::vector<float> &row, int64_t k, double temperature) {
    constexpr int64_t kRows = 64;
    std::vector<float> x;
    for (int64_t r = 0; r < kRows; ++r)
      x.insert(x.end(), row.begin(), row.end());
    ops::Generator generator = {.seed = 9};
    Tensor logits = input({kRows, int64_t(row.size())}, x);
    auto tokens =
        TensorOf<int>(ops::sampleTopK(stream, generator, logits, k, temperature)).download();
    EXPECT_EQ(generator.offset, uint64_t(kRows));
    std::sort(tokens.begin(), tokens.end());
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    return tokens;
  };
  using Tokens = std::vector<int>;
  EXPECT_EQ(draw({1, 3, 3, 2}, 4, 0), Tokens{1});
  EXPECT_EQ(draw({1, 3, 2.99f, 2}, 4, 1e-40), Tokens{1});
  EXPECT_EQ(draw({1, 3, 3, 2}, 3, 1e-6), (Tokens{1, 2}));
  EXPECT_EQ(draw({1, 300, -300, 2}, 3, INFINITY), (Tokens{0, 1, 3}));
  EXPECT_EQ(draw({1, 3, 3, 2}, 1, 1), Tokens{1});
  EXPECT_EQ(draw({1, INFINITY, 2, INFINITY}, 4, 1), (Tokens{1, 3}));
  EXPECT_EQ(draw({-INFINITY, -INFINITY, NAN}, 3, 1), (Tokens{0, 1}));
  EXPECT_EQ(draw({NAN, 5, NAN, -INFINITY}, 4, 1), Tokens{1});
  EXPECT_EQ(draw({NAN, NAN, NAN}, 2, 1), Tokens{0});
}

TEST_P(SamplingOp, Refusals) {
  auto x = device().tensor<float>({3, 20});
  auto refused = [&](ErrorCode code, const std::string &words, auto call) {
    expectRefused(code, words, call);
  };
  ops::Generator generator;
  refused(ErrorCode::InvalidShape, "topK: k is 21; of x, f32 3x20, 1 to 20 can be chosen a row",
          [&] { ops::topK(stream, x, 21); });
  refused(ErrorCode::InvalidShape, "k is 0", [&] { ops::topK(stream, x, 0); });
  refused(ErrorCode::InvalidShape, "1 to 1024 can be chosen", [&] {
    ops::topK(stream, device().tensor<float>({1, 5000}), 1025);
  });
  refused(ErrorCode::InvalidShape,
          "argmax: x is f32 3x0: of rows without elements none can be chosen", [&] {
            ops::argmax(stream, device().tensor<float>({3, 0}));
          });
  refused(ErrorCode::InvalidArgument, "argmax: x is f64 3x20", [&] {
    ops::argmax(stream, device().tensor<double>({3, 20}));
  });
  refused(ErrorCode::InvalidArgument, "indices is f32 3",
          [&] { ops::argmax(stream, x, device().tensor<float>({3})); });
  refused(ErrorCode::InvalidShape, "indices is i32 4",
          [&] { ops::argmax(stream, x, device().tensor<int>({4})); });
  refused(ErrorCode::InvalidShape, "values is f32 3x4, but indices is i32 3x5", [&] {
    ops::topK(stream, x, device().tensor<float>({3, 4}), device().tensor<int>({3, 5}));
  });
  refused(ErrorCode::Aliasing, "values overlaps x", [&] {
    ops::topK(stream, x, x, device().tensor<int>({3, 20}));
  });
  for (double temperature : {-1.0, double(NAN)})
    refused(ErrorCode::InvalidArgument, "sampleTopK: temperature is",
            [&] { ops::sampleTopK(stream, generator, x, 2, temperature); });
  EXPECT_EQ(generator, ops::Generator());
}

} // namespace
