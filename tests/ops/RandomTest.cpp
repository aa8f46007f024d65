// Random tensors: the numbers of a state, their statistics; dropout and its replay.
#include "tests/execution/Harness.h"
#include "tests/ops/Refusals.h"

#include <tile/ops/Random.h>

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(RandomOps, Targets::One);

struct Moments {
  double mean = 0, variance = 0;
};
template <class T> Moments momentsOf(const std::vector<T> &values) {
  Moments result;
  for (T value : values)
    result.mean += double(exact(value)) / double(values.size());
  for (T value : values)
    result.variance += std::pow(double(exact(value)) - result.mean, 2) / double(values.size());
  return result;
}

/// The sum over all cells of (observed - expected)^2 / expected, each cell being equally likely. Of k cells its mean is
/// k - 1 and its deviation sqrt(2 (k - 1)).
double chiSquare(const std::vector<int> &cells) {
  double total = 0, result = 0;
  for (int count : cells)
    total += count;
  for (int count : cells)
    result += std::pow(count - total / double(cells.size()), 2) / (total / double(cells.size()));
  return result;
}
void expectUniform(const std::vector<int> &cells) {
  double freedom = double(cells.size()) - 1;
  EXPECT_NEAR(chiSquare(cells), freedom, 4 * std::sqrt(2 * freedom));
}

constexpr int64_t kMany = 40000;
const double kDeviation = 4 / std::sqrt(double(kMany)); // four standard deviations of a mean

/// Philox-4x32-10 as its paper defines it: the words of one counter.
std::array<uint32_t, 4> philox(uint64_t seed, uint64_t offset) {
  std::array<uint32_t, 4> c = {uint32_t(offset), uint32_t(offset >> 32), 0, 0};
  uint32_t key0 = uint32_t(seed), key1 = uint32_t(seed >> 32);
  for (int round = 0; round < 10; ++round, key0 += 0x9E3779B9, key1 += 0xBB67AE85) {
    uint64_t a = uint64_t(0xD2511F53) * c[0], b = uint64_t(0xCD9E8D57) * c[2];
    c = {uint32_t(b >> 32) ^ c[1] ^ key0, uint32_t(b), uint32_t(a >> 32) ^ c[3] ^ key1,
         uint32_t(a)};
  }
  return c;
}

TEST_P(RandomOps, NumbersAreThoseOfTheirState) {
  constexpr uint64_t kSeed = 0xFEDCBA9876543210u, kOffset = 0xFFFFFFFFFFFFFF00u; // wraps at 256
  ops::Generator generator{kSeed, kOffset};
  auto y = output<float>({700});
  ops::rand(stream, generator, y.tensor());
  expectAll(y.result(), [&](int64_t i) {
    return std::ldexp(double(philox(kSeed, kOffset + uint64_t(i))[0] >> 8), -24);
  });
  EXPECT_EQ(generator, (ops::Generator{kSeed, kOffset + 700}));
  auto z = output<double>({300});
  ops::rand(stream, generator, z.tensor());
  expectAll(z.result(), [&](int64_t i) {
    auto words = philox(kSeed, kOffset + 700 + uint64_t(i));
    return std::ldexp(double((uint64_t(words[0]) << 32 | words[1]) >> 11), -53);
  });
  auto whole = output<int32_t>({300});
  ops::Generator before = generator;
  ops::randint(stream, generator, -5, 95, whole.tensor());
  expectAll(whole.result(), [&](int64_t i) {
    auto words = philox(kSeed, before.offset + uint64_t(i));
    auto word = static_cast<unsigned __int128>(uint64_t(words[0]) << 32 | words[1]);
    return int32_t(word * 100 >> 64) - 5;
  });
  auto normal = output<double>({300});
  before = generator;
  ops::randn(stream, generator, normal.tensor(), 3, 0.5);
  expectAll(normal.result(),
            [&](int64_t i) {
              auto words = philox(kSeed, before.offset + uint64_t(i));
              double u = std::ldexp(double((uint64_t(words[0]) << 32 | words[1]) >> 11), -53);
              double v = std::ldexp(double((uint64_t(words[2]) << 32 | words[3]) >> 11), -53);
              return 3 + 0.5 * std::sqrt(-2 * std::log(u + 0x1p-54)) * std::cos(2 * M_PI * v);
            },
            {0, 1e-13});
}

TEST_P(RandomOps, SameNumbersWhateverTheShapeAndStrides) {
  ops::Generator start{.seed = 7, .offset = 1000};
  auto drawn = [&](auto fill, auto &&y) {
    ops::Generator generator = start;
    fill(generator, y.tensor());
    EXPECT_EQ(generator.offset, 1000 + 6 * 5 * 7u);
    return y.result();
  };
  auto check = [&](auto fill) {
    auto flat = drawn(fill, output<float>({210}));
    EXPECT_EQ(flat, drawn(fill, output<float>({6, 5, 7}, 3)));
    EXPECT_EQ(flat, drawn(fill, output<float>({30, 7})));
    auto crossed = output<float>({7, 30});
    ops::Generator generator = start;
    fill(generator, crossed.tensor().T());
    expectAll(crossed.result(), [&](int64_t i) { return flat[size_t(i % 30 * 7 + i / 30)]; });
  };
  check([&](auto &generator, const Tensor &y) { ops::rand(stream, generator, y); });
  check([&](auto &generator, const Tensor &y) { ops::randn(stream, generator, y); });
}

TEST_P(RandomOps, StateIsSavedRestoredAndContinued) {
  std::vector<int64_t> shape = {100};
  auto draw = [&](ops::Generator &generator) {
    return TensorOf<float>(ops::randn(stream, generator, f32, shape)).download();
  };
  ops::Generator generator{.seed = 5};
  auto first = draw(generator);
  ops::Generator restored{generator.seed, generator.offset};
  auto second = draw(generator);
  EXPECT_NE(first, second);
  EXPECT_NE(restored, generator);
  EXPECT_EQ(second, draw(restored));
  EXPECT_EQ(restored, generator);
  // One call of twice the size draws both.
  ops::Generator whole{.seed = 5};
  shape = {200};
  auto both = draw(whole);
  first.insert(first.end(), second.begin(), second.end());
  EXPECT_EQ(first, both);
  ops::Generator other{.seed = 6};
  EXPECT_NE(both, draw(other));
}

TEST_P(RandomOps, Uniform) {
  ops::Generator generator{.seed = 11};
  auto check = [&]<class T>(T) {
    SCOPED_TRACE(nameOf(dtypeOf<T>));
    auto y = output<T>({kMany});
    ops::rand(stream, generator, y.tensor());
    std::vector<T> values = y.result();
    std::vector<int> cells(64);
    for (T value : values) {
      ASSERT_GE(exact(value), 0);
      ASSERT_LT(exact(value), 1);
      ++cells[size_t(exact(value) * 64)];
    }
    expectUniform(cells);
    double step = std::is_same_v<T, bfloat16> ? 0x1p-8 : std::is_same_v<T, half> ? 0x1p-11 : 0;
    EXPECT_NEAR(momentsOf(values).mean, 0.5 - step / 2, kDeviation / std::sqrt(12.0));
    EXPECT_NEAR(momentsOf(values).variance, 1 / 12.0, 0.001);
  };
  check(float()), check(double()), check(half()), check(bfloat16());
}

TEST_P(RandomOps, Normal) {
  ops::Generator generator{.seed = 12};
  auto check = [&]<class T>(T) {
    SCOPED_TRACE(nameOf(dtypeOf<T>));
    auto y = output<T>({kMany});
    ops::randn(stream, generator, y.tensor());
    std::vector<T> values = y.result();
    EXPECT_NEAR(momentsOf(values).mean, 0, kDeviation);
    EXPECT_NEAR(momentsOf(values).variance, 1, kDeviation * std::sqrt(2.0));
    // Through the distribution's own function every part of it is equally likely.
    std::vector<int> cells(50);
    for (T value : values)
      ++cells[size_t(std::min(49.0, 25 * std::erfc(-exact(value) / std::sqrt(2.0))))];
    expectUniform(cells);
    ops::randn(stream, generator, y.tensor(), -3, 0.25);
    EXPECT_NEAR(momentsOf(y.result()).mean, -3, kDeviation / 4 + 1e-3);
    EXPECT_NEAR(momentsOf(y.result()).variance, 1 / 16.0, kDeviation / 11);
  };
  check(float()), check(double()), check(half());
}

TEST_P(RandomOps, WholeNumbers) {
  ops::Generator generator{.seed = 13};
  auto check = [&]<class T>(T, int64_t low, int64_t high) {
    SCOPED_TRACE(nameOf(dtypeOf<T>));
    auto y = output<T>({10000});
    ops::randint(stream, generator, low, high, y.tensor());
    std::vector<int> cells(size_t(high - low));
    for (T value : y.result()) {
      ASSERT_GE(int64_t(value), low);
      ASSERT_LT(int64_t(value), high);
      ++cells[size_t(int64_t(value) - low)];
    }
    expectUniform(cells);
  };
  check(int8_t(), -128, 128), check(uint8_t(), 0, 256), check(int16_t(), -3, 4);
  check(int32_t(), -50, 51), check(uint64_t(), 7, 9), check(int64_t(), 1 << 20, (1 << 20) + 100);
  auto y = output<int64_t>({2000});
  ops::randint(stream, generator, std::numeric_limits<int64_t>::min(),
               std::numeric_limits<int64_t>::max(), y.tensor());
  std::vector<int> cells(16);
  for (int64_t value : y.result())
    ++cells[uint64_t(value) >> 60];
  expectUniform(cells);
}

TEST_P(RandomOps, Bernoulli) {
  ops::Generator generator{.seed = 14};
  for (double p : {0.0, 0.001, 0.3, 1.0}) {
    SCOPED_TRACE(p);
    auto y = output<half>({kMany});
    auto flags = output<bool>({kMany});
    ops::Generator again = generator;
    ops::bernoulli(stream, generator, p, y.tensor());
    ops::bernoulli(stream, again, p, flags.tensor());
    EXPECT_EQ(generator, again);
    EXPECT_NEAR(momentsOf(y.result()).mean, p, kDeviation * std::sqrt(p * (1 - p)) + 1e-9);
    auto drawn = y.result();
    auto same = flags.result();
    for (size_t i = 0; i < drawn.size(); ++i)
      ASSERT_EQ(float(drawn[i]), float(same[i]));
  }
}

TEST_P(RandomOps, DropoutKeepsScalesAndReplays) {
  auto check = [&]<class T>(T) {
    SCOPED_TRACE(nameOf(dtypeOf<T>));
    auto x = uniform<T>(kMany, 1, 2), dy = uniform<T>(kMany, 1, 2, 2),
         residual = uniform<T>(kMany, -1, 1, 3);
    for (double p : {0.0, 0.25, 0.9}) {
      SCOPED_TRACE(p);
      ops::Generator generator{.seed = 15, .offset = 1u << 31}, before = generator,
                                                                fused = generator;
      auto y = output<T>({200, kMany / 200}, 3);
      auto sum = output<T>({kMany});
      ops::dropout(stream, generator, input({200, kMany / 200}, x), p, y.tensor());
      EXPECT_EQ(generator.offset, before.offset + kMany);
      std::vector<T> values = y.result();
      auto isKept = [&](int64_t i) { return float(values[size_t(i)]) != 0; };
      double kept = 0, scale = 1 / (1 - p);
      for (int64_t i = 0; i < kMany; ++i)
        kept += isKept(i);
      EXPECT_NEAR(kept / kMany, 1 - p, kDeviation * std::sqrt(p * (1 - p)));
      auto scaled = [&](const std::vector<T> &of, int64_t i) {
        return isKept(i) ? exact(of[size_t(i)]) * scale : 0;
      };
      expectAll(values, [&](int64_t i) { return scaled(x, i); }, {1});
      auto dx = output<T>({kMany});
      ops::dropoutBackward(stream, before, input({kMany}, dy), p, dx.tensor());
      expectAll(dx.result(), [&](int64_t i) { return scaled(dy, i); }, {1});
      ops::dropoutAdd(stream, fused, input({kMany}, x), input({kMany}, residual), p, sum.tensor());
      EXPECT_EQ(fused, generator);
      expectAll(sum.result(), [&](int64_t i) { return exact(residual[size_t(i)]) + scaled(x, i); },
                {1, 1e-6});
      ops::Generator again = before;
      Tensor same = ops::dropout(stream, again, input({kMany}, x), p);
      EXPECT_EQ(std::memcmp(TensorOf<T>(same).download().data(), values.data(),
                            values.size() * sizeof(T)),
                0);
    }
  };
  check(float()), check(half()), check(bfloat16()), check(double());
}

TEST_P(RandomOps, DropoutOfEverythingAndOfNothing) {
  std::vector<float> x = {1, -2, NAN, INFINITY, 0x1p-149f, 3.25f};
  auto y = output<float>({6});
  ops::Generator generator{.seed = 1};
  ops::dropout(stream, generator, input({6}, x), 1, y.tensor());
  expectAll(y.result(), [](int64_t) { return 0; });
  ops::dropout(stream, generator, input({6}, x), 0, y.tensor());
  expectAll(y.result(), [&](int64_t i) { return x[size_t(i)]; });
  y.tensor().upload(x);
  ops::dropout(stream, generator, y.tensor(), 0, y.tensor());
  expectAll(y.result(), [&](int64_t i) { return x[size_t(i)]; });
  ops::dropoutBackward(stream, generator, input({6}, x), 1, y.tensor());
  expectAll(y.result(), [](int64_t) { return 0; });
  auto none = device().tensor<float>({0});
  ops::Generator before = generator;
  ops::dropout(stream, generator, none, 0.5, none);
  ops::rand(stream, generator, none);
  EXPECT_EQ(generator, before);
}

TEST_P(RandomOps, Refusals) {
  ops::Generator generator{.seed = 1, .offset = 2};
  auto x = device().tensor<float>({4});
  auto bytes = device().tensor<int8_t>({4});
  expectRefused(ErrorCode::InvalidArgument, "dropout: p is 1.5",
                [&] { ops::dropout(stream, generator, x, 1.5, x); });
  expectRefused(ErrorCode::InvalidArgument, "randn: deviation is -1",
                [&] { ops::randn(stream, generator, device().tensor<float>({4}), 0, -1); });
  expectRefused(ErrorCode::InvalidArgument, "bernoulli: probability is nan",
                [&] { ops::bernoulli(stream, generator, NAN, x); });
  expectRefused(ErrorCode::InvalidArgument, "rand: y is i8 4; supported dtypes",
                [&] { ops::rand(stream, generator, bytes); });
  expectRefused(ErrorCode::InvalidArgument, "randint: low is 3, high is 3",
                [&] { ops::randint(stream, generator, 3, 3, bytes); });
  expectRefused(ErrorCode::InvalidArgument, "randint: high - 1 is 128",
                [&] { ops::randint(stream, generator, 0, 129, bytes); });
  EXPECT_EQ(generator, (ops::Generator{1, 2})) << "a refused call draws nothing";
}

} // namespace
