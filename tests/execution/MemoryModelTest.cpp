// The order inside a program: accesses of one tensor argument behave in program order, whichever
// threads they fall to. Each kernel hands elements from one thread to another through global memory,
// so that it is wrong as soon as a barrier between the two accesses is missing.
#include "tests/execution/Harness.h"

#include <numeric>

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(MemoryModel, Targets::One);

constexpr int kSize = 512; // four warps, four elements a thread: neighbours are of other warps

std::vector<int> numbers(int count) {
  std::vector<int> list(static_cast<size_t>(count));
  std::iota(list.begin(), list.end(), 0);
  return list;
}

TEST_P(MemoryModel, ALoadSeesWhatOtherThreadsStored) {
  static const auto program = kernel("store_load", [](InOut<i32, 1> y, Out<i32, 1> z, Const B) {
    y.tile({B})(0) = index(0, {B}) * 3;
    Value mirrored = load(y.ptr() + (B - 1 - index(0, {B})));
    z.tile({B})(0) = mirrored;
  });
  auto y = output<int32_t>({kSize}), z = output<int32_t>({kSize});
  program.consts(kSize).grid(1)(stream, y.tensor(), z.tensor());
  expectAll(z.result(), [](int64_t i) { return (kSize - 1 - i) * 3; });
}

TEST_P(MemoryModel, AStoreWaitsForLoadsOfOtherThreads) {
  static const auto program = kernel("load_store", [](InOut<i32, 1> y, Const B) {
    Value mirrored = load(y.ptr() + (B - 1 - index(0, {B})));
    y.tile({B})(0) = mirrored;
  });
  auto y = input<int32_t>({kSize}, numbers(kSize));
  program.consts(kSize).grid(1)(stream, y);
  expectAll(y.download(), [](int64_t i) { return kSize - 1 - i; });
}

TEST_P(MemoryModel, OfTwoStoresTheLaterCounts) {
  static const auto program = kernel("store_store", [](InOut<i32, 1> y, Const B) {
    y.tile({B})(0) = index(0, {B});
    store(y.ptr() + (B - 1 - index(0, {B})), index(0, {B}) + 1000);
  });
  auto y = output<int32_t>({kSize});
  program.consts(kSize).grid(1)(stream, y.tensor());
  expectAll(y.result(), [](int64_t i) { return kSize - 1 - i + 1000; });
}

/// Each round rotates the tensor by one, through memory.
TEST_P(MemoryModel, RoundALoop) {
  static const auto program = kernel("rotate", [](InOut<i32, 1> y, Scalar<i32> rounds, Const B) {
    for ([[maybe_unused]] auto round : range(rounds)) {
      Value next = load(y.ptr() + (index(0, {B}) + 1) % B);
      y.tile({B})(0) = next;
    }
  });
  for (int rounds : {0, 1, 2, 7}) {
    auto y = input<int32_t>({kSize}, numbers(kSize));
    program.consts(kSize).grid(1)(stream, y, rounds);
    expectAll(y.download(), [&](int64_t i) { return (i + rounds) % kSize; });
  }
}

TEST_P(MemoryModel, RoundAWhileLoopAndThroughBranches) {
  static const auto program = kernel("while_rotate", [](InOut<i32, 1> y, Scalar<i32> n, Const B) {
    auto round = var(0);
    while_([&] { return round < n; },
           [&] {
             if_(round % 2 == 0, [&] {
               Value next = load(y.ptr() + (index(0, {B}) + 5) % B);
               y.tile({B})(0) = next;
             }).else_([&] { y.tile({B})(0) = flip(y.tile({B})(0), 0); });
             round += 1;
           });
  });
  for (int rounds : {1, 2, 5}) {
    auto y = input<int32_t>({kSize}, numbers(kSize));
    program.consts(kSize).grid(1)(stream, y, rounds);
    std::vector<int> expected = numbers(kSize);
    for (int round = 0; round < rounds; ++round)
      if (round % 2 == 0)
        std::rotate(expected.begin(), expected.begin() + 5, expected.end());
      else
        std::reverse(expected.begin(), expected.end());
    EXPECT_EQ(y.download(), expected) << rounds;
  }
}

TEST_P(MemoryModel, TilesOfDifferentShapesOfOneTensor) {
  static const auto program =
      kernel("shapes", [](InOut<i32, 2> y, Out<i32, 2> z, Const M, Const N) {
        y.tile({M, N})(0, 0) = index(0, {M, N}) * N + index(1, {M, N});
        for (auto half : range(2)) // read in other tiles than it was written in
          z.tile({N, M / 2})(0, half) = y.T().tile({N, M / 2})(0, half);
      });
  constexpr int kRows = 32, kColumns = 64;
  auto y = output<int32_t>({kRows, kColumns}), z = output<int32_t>({kColumns, kRows});
  program.consts(kRows, kColumns).grid(1)(stream, y.tensor(), z.tensor());
  expectAll(z.result(), [](int64_t i) { return i % kRows * kColumns + i / kRows; });
}

TEST_P(MemoryModel, AtomicsAndPlainAccesses) {
  static const auto program = kernel("atomics", [](InOut<i32, 1> y, Out<i32, 1> z, Const B) {
    y.tile({B})(0) = zeros(i32, {B});
    // Each element of a pair adds to the other's place.
    atomic_add(y.ptr() + (index(0, {B}) ^ 128), index(0, {B}), {.sem = MemorySem::relaxed});
    Value seen = y.tile({B})(0);
    y.tile({B})(0) = seen + 1;
    z.tile({B})(0) = atomic_xchg(y.ptr() + (index(0, {B}) ^ 256), 7, {.sem = MemorySem::relaxed});
  });
  auto y = output<int32_t>({kSize}), z = output<int32_t>({kSize});
  program.consts(kSize).grid(1)(stream, y.tensor(), z.tensor());
  expectAll(y.result(), [](int64_t) { return 7; });
  expectAll(z.result(), [](int64_t i) { return ((i ^ 256) ^ 128) + 1; });
}

/// Two arguments in one memory: what some threads store through one, others read through the other. The kernel says so, or
/// both arguments are one view, for which it is compiled.
TEST_P(MemoryModel, ArgumentsThatMayOverlap) {
  static const auto program =
      kernel("overlap", [](In<i32, 1> x, InOut<i32, 1> y, Out<i32, 1> z, Const B, Const Said) {
        if (Said)
          x.may_alias(y);
        Value before = x.tile({B})(0), mirrored = x.ptr() + (B - 1 - index(0, {B}));
        y.tile({B})(0) = load(mirrored) + 1000;
        z.tile({B})(0) = load(mirrored) + before * 10000;
      });
  for (bool said : {true, false}) {
    auto memory = input<int32_t>({kSize}, numbers(kSize));
    auto z = output<int32_t>({kSize});
    program.consts(kSize, int(said)).grid(1)(stream, memory, memory, z.tensor());
    expectAll(memory.download(), [](int64_t i) { return kSize - 1 - i + 1000; });
    expectAll(z.result(), [](int64_t i) { return i + 1000 + i * 10000; });
  }
}

TEST_P(MemoryModel, ShiftedArgumentsRoundALoop) {
  static const auto program =
      kernel("prefix", [](In<i32, 1> x, Out<i32, 1> y, Scalar<i32> rounds, Const B) {
        y.may_alias(x);
        for ([[maybe_unused]] auto round : range(rounds))
          y.tile({B})(0) = x.tile({B})(0) + 1;
      });
  constexpr int kShift = 100, kRounds = 4; // the output lies that much further on
  auto memory = input<int32_t>({kSize + kShift}, std::vector<int32_t>(kSize + kShift, 0));
  program.consts(kSize).grid(1)(stream, memory.slice(0, 0, kSize), memory.slice(0, kShift, kSize),
                                kRounds);
  expectAll(memory.download(), [](int64_t i) { return std::min<int64_t>(i / kShift, kRounds); });
}

/// A scalar is stored by one thread and read by all.
TEST_P(MemoryModel, ScalarsBetweenThreads) {
  static const auto program = kernel("scalars", [](InOut<i32, 1> y, Out<i32, 1> z, Const B) {
    auto sum = var(zeros(i32, {B}));
    for (auto i : range(5)) {
      store(y.ptr() + i, i * i);
      sum += load(y.ptr() + i);
    }
    z.tile({B})(0) = sum;
  });
  auto y = output<int32_t>({5}), z = output<int32_t>({kSize});
  program.consts(kSize).grid(1)(stream, y.tensor(), z.tensor());
  expectAll(z.result(), [](int64_t) { return 30; });
}

/// Pointers into one tensor that were carried round a loop or chosen by a select.
TEST_P(MemoryModel, PointersWhoseOriginIsNotPlain) {
  static const auto program = kernel("pointers", [](InOut<i32, 1> y, Out<i32, 1> z, Const B) {
    auto places = var(y.ptr() + index(0, {B}));
    for ([[maybe_unused]] auto i : range(2)) {
      store(places, index(0, {B}) + i * 1000);
      places = places + B;
    }
    Value chosen = select(index(0, {B}) % 2 == 0, y.ptr() + (B - 1 - index(0, {B})),
                          y.ptr() + (2 * B - 1 - index(0, {B})));
    z.tile({B})(0) = load(chosen);
  });
  auto y = output<int32_t>({2 * kSize}), z = output<int32_t>({kSize});
  program.consts(kSize).grid(1)(stream, y.tensor(), z.tensor());
  expectAll(z.result(), [](int64_t i) { return kSize - 1 - i + (i % 2 ? 1000 : 0); });
}

} // namespace
