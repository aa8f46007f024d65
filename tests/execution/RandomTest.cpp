// Random numbers: word for word the published generator, checked against a scalar version that
// itself reproduces the published known answers; and mulhi, which it is made of.
#include "tests/execution/Harness.h"
#include "tests/execution/Philox.h"

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(RandomNumbers, Targets::One);

using Words = PhiloxWords;

TEST(Philox, KnownAnswers) { // of Random123, the authors' library
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

const std::vector<uint64_t> kSeeds = {0, 42, 54, 124, 0xffffffffu, 0xfcafeb0bau, ~uint64_t{0}};

TEST_P(RandomNumbers, WordsOfRunTimeSeeds) {
  static const auto program = kernel("words", [](Out<u32, 2> y, Scalar<i64> seed, Const B) {
    Value i = grid1d(y.dim(1), {B});
    std::array<Value, 4> words = randint4x(seed, i * B + arange(B));
    for (int word = 0; word < 4; ++word)
      y.tile({1, B})(word, i) = expand_dims(words[size_t(word)], 0);
  });
  for (auto [size, tile, warps] :
       {std::tuple(10, 16, 1), {4 * 53, 96, 2}, {400, 256, 4}, {77, 64, 8}})
    for (uint64_t seed : kSeeds) {
      auto results = output<uint32_t>({4, size}, 3);
      program.consts(tile).warps(warps).grid((size + tile - 1) / tile)(stream, results.tensor(),
                                                                       static_cast<int64_t>(seed));
      expectAll(results.result(), [&](int64_t at) {
        return philoxAt(seed, static_cast<uint64_t>(at % size))[size_t(at / size)];
      });
    }
}

TEST_P(RandomNumbers, WideOffsetsFillTheSecondWord) {
  static const auto program = kernel("wide", [](In<i64, 1> x, Out<u32, 1> y, Scalar<i32> seed) {
    Value i = grid1d(y, {64});
    y.tile({64})(i) = randint(seed, x.tile({64})(i));
  });
  std::vector<int64_t> x;
  Random random(3);
  for (int i = 0; i < 150; ++i)
    x.push_back(static_cast<int64_t>(random.bits()));
  for (int32_t seed : {7, -1}) {
    auto results = output<uint32_t>({150});
    program(stream, input({150}, x), results.tensor(), seed);
    expectAll(results.result(), [&](int64_t i) {
      return philoxAt(static_cast<uint64_t>(int64_t{seed}), static_cast<uint64_t>(x[size_t(i)]))[0];
    });
  }
}

TEST_P(RandomNumbers, UniformAndNormalWithConstantSeeds) {
  static const auto program = kernel("floats", [](Out<f32, 2> y, Const B) {
    Value i = grid1d(y.dim(1), {B}), at = i * B + arange(B);
    Value rows[] = {rand(42, at), rand(0xfcafeb0baull, at), randn(54, at)};
    for (int row = 0; row < 3; ++row)
      y.tile({1, B})(row, i) = expand_dims(rows[row], 0);
  });
  int64_t size = 1000;
  auto results = output<float>({3, size}, 1);
  program.consts(256).grid(4)(stream, results.tensor());
  std::vector<float> values = results.result();
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < size; ++i) {
    auto at = static_cast<uint64_t>(i);
    ASSERT_EQ(values[at], uniformOf(philoxAt(42, at)[0])) << i;
    ASSERT_EQ(values[at + size_t(size)], uniformOf(philoxAt(0xfcafeb0bau, at)[0])) << i;
    Words words = philoxAt(54, at);
    double first = std::max(1e-7f, uniformOf(words[0])), second = uniformOf(words[1]);
    double normal = std::sqrt(-2 * std::log(first)) * std::cos(2 * M_PI * second);
    ASSERT_NEAR(values[at + 2 * size_t(size)], normal, 2e-5) << i;
    sum += normal, squares += normal * normal;
  }
  EXPECT_NEAR(sum / double(size), 0, 0.1);
  EXPECT_NEAR(squares / double(size), 1, 0.15);
}

template <class T> T highOf(T x, T y) {
  using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  return static_cast<T>((static_cast<Wide>(x) * static_cast<Wide>(y)) >> (sizeof(T) * 8));
}

TEST_P(RandomNumbers, UpperHalfOfProducts) {
  auto check = [&]<class T>(T) {
    std::vector<T> x, y;
    for (T a : edges<T>())
      for (T b : edges<T>())
        x.push_back(a), y.push_back(b);
    Random random(11);
    for (int i = 0; i < 300; ++i)
      x.push_back(static_cast<T>(random.bits())), y.push_back(static_cast<T>(random.bits()));
    zipRows<T>(
        [](Value a, Value b) {
          return std::vector<Value>{mulhi(a, b), mulhi(a, 7)};
        },
        std::vector<Row<T (*)(T, T)>>{{"mulhi", [](T a, T b) { return highOf(a, b); }, {}},
                                      {"by 7", [](T a, T) { return highOf<T>(a, 7); }, {}}},
        x, y);
  };
  check(int32_t()), check(uint32_t()), check(int64_t()), check(uint64_t());
}

} // namespace
