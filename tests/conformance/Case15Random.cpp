// Case 15, random numbers: word for word Philox-4x32-10, for constant and run-time seeds and offsets of both widths; what
// they become lies in [0, 1).
#include "tests/execution/Harness.h"
#include "tests/execution/Philox.h"

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(RandomWords, Targets::One);

constexpr uint64_t kSeeds[] = {0, 42, 54, 124, 0xffffffffu, 0xfcafeb0bau};
constexpr int64_t kSizes[][2] = {{1, 10}, {4, 53}, {1, 400}};

/// Row s of each output comes from seed s of the list, as a constant, and the last row from the run-time seed.
template <DType Offset> auto program() {
  return [](Out<u32, 2> words, Out<f32, 2> numbers, Scalar<i64> seed, Scalar<i64> first, Const B) {
    Value i = grid1d(words.dim(1), {B});
    Value at = cast(Offset, first) + cast(Offset, i * B) + cast(Offset, arange(B));
    auto store = [&](int row, Arg of) {
      words.tile({1, B})(row, i) = expand_dims(randint(of, at), 0);
      numbers.tile({1, B})(row, i) = expand_dims(rand(of, at), 0);
    };
    int row = 0;
    for (uint64_t constant : kSeeds)
      store(row++, constant);
    store(row, seed);
  };
}

TEST_P(RandomWords, EqualTheDefinition) {
  static const auto narrow = kernel("narrow", program<i32>());
  static const auto wide = kernel("wide", program<i64>());
  constexpr int64_t kRows = std::size(kSeeds) + 1;
  auto check = [&](const auto &program, int64_t size, uint64_t seed, int64_t first) {
    auto words = output<uint32_t>({kRows, size}, 3);
    auto numbers = output<float>({kRows, size}, 1);
    program.consts(64).warps(2)(stream, words.tensor(), numbers.tensor(),
                                static_cast<int64_t>(seed), first);
    auto expected = [&](int64_t i) {
      uint64_t key = i / size + 1 < kRows ? kSeeds[i / size] : seed;
      return philoxAt(key, static_cast<uint64_t>(first + i % size))[0];
    };
    expectAll(words.result(), expected);
    std::vector<float> values = numbers.result();
    expectAll(values, [&](int64_t i) { return uniformOf(expected(i)); });
    for (float value : values)
      ASSERT_TRUE(value >= 0 && value < 1) << value;
  };
  for (auto [rows, columns] : kSizes)
    for (uint64_t seed : kSeeds) {
      SCOPED_TRACE(std::to_string(rows * columns) + " with seed " + std::to_string(seed));
      check(narrow, rows * columns, seed, 0);
      check(wide, rows * columns, seed, 0);
      check(wide, rows * columns, seed, (int64_t(1) << 32) - 5); // into the counter's second word
    }
}

// The numbers depend on the offsets alone, not on the shape of the tile that holds them.
TEST_P(RandomWords, OfTilesOfTwoDimensions) {
  static const auto program = kernel("matrix", [](Out<u32, 2> y, Scalar<i64> seed) {
    Value at = index(0, {4, 64}) * 53 + index(1, {4, 64});
    y.tile({4, 64})(0, 0) = randint(seed, at);
  });
  for (uint64_t seed : kSeeds) {
    auto y = output<uint32_t>({4, 53}, 2);
    program.grid(1)(stream, y.tensor(), static_cast<int64_t>(seed));
    expectAll(y.result(), [&](int64_t i) { return philoxAt(seed, static_cast<uint64_t>(i))[0]; });
  }
}

// The words that lie at the ends of what a conversion to f32 could round up to 1.
TEST(UniformNumbers, StayBelowOne) {
  for (uint32_t word : {0x7fffffffu, 0x80000000u, 0x7fffffc0u, 0x80000040u, 0u, 0xffffffffu}) {
    ASSERT_GE(uniformOf(word), 0.0f) << word;
    ASSERT_LT(uniformOf(word), 1.0f) << word;
  }
}

} // namespace
