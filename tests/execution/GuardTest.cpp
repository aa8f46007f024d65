// Guards, persistent kernels, swizzled tile orders, and hints that change code but not results.
#include "tests/execution/Harness.h"

#include <set>

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(Guards, Targets::One);

TEST_P(Guards, TheRestOfAKernelIsPredicated) {
  static const auto program = kernel("guarded", [](InOut<i32, 1> y, Scalar<i32> limit, Const B) {
    Value i = grid1d(y, {B});
    guard(i < limit);
    Value x = y.tile({B})(i); // reassigned below: the guard opens no region of its own
    x = x + 1;
    guard(i != 1);
    y.tile({B})(i) = x * 2;
  });
  constexpr int kBlock = 32, kSize = 5 * kBlock + 3;
  for (int limit : {0, 1, 3, 100}) {
    std::vector<int> x(kSize);
    for (int i = 0; i < kSize; ++i)
      x[size_t(i)] = i;
    auto y = input<int32_t>({kSize}, x);
    program.consts(kBlock)(stream, y, limit);
    std::vector<int32_t> result = y.download();
    for (int i = 0; i < kSize; ++i) {
      int block = i / kBlock;
      EXPECT_EQ(result[size_t(i)], block < limit && block != 1 ? (i + 1) * 2 : i) << i;
    }
  }
}

TEST_P(Guards, InALoopTheRestOfTheIterationIsPredicated) {
  static const auto program = kernel("odd_sums", [](Out<i32, 1> y, Scalar<i32> n, Const B) {
    auto sum = var(zeros(i32, {B})), rounds = var(0);
    for (auto i : range(n)) {
      rounds += 1;
      guard(i % 2 == 1);
      sum += index(0, {B}) * i;
      guard(i > 3);
      sum += 1000;
    }
    y.tile({B})(0) = sum + rounds;
  });
  for (int n : {0, 1, 2, 9}) {
    auto y = output<int32_t>({50});
    program.consts(64).grid(1)(stream, y.tensor(), n);
    expectAll(y.result(), [&](int64_t e) {
      int64_t sum = n;
      for (int i = 1; i < n; i += 2)
        sum += e * i + (i > 3 ? 1000 : 0);
      return sum;
    });
  }
}

TEST_P(Guards, InBranchesAndHelperFunctions) {
  static const auto program = kernel("guarded_branches", [](Out<i32, 1> y, Scalar<i32> n) {
    auto value = var(0);
    auto addIfPositive = [&](Value amount) {
      guard(amount > 0);
      value += amount;
    };
    if_(n > 5, [&] {
      addIfPositive(n - 7);
      value += 100; // predicated by the guard in the function, whose region this is
    }).else_([&] {
      guard(n != 3);
      value = 50;
    });
    y.tile({1})(0) = splat(value, {1});
  });
  for (int n : {0, 3, 6, 7, 9}) {
    auto y = output<int32_t>({1});
    program.grid(1)(stream, y.tensor(), n);
    int expected = n > 5 ? (n > 7 ? n - 7 + 100 : 0) : n != 3 ? 50 : 0;
    EXPECT_EQ(y.result()[0], expected) << n;
  }
}

TEST_P(Guards, ReductionsAndBarriersInside) {
  static const auto program =
      kernel("guarded_sum", [](In<f32, 2> x, Out<f32, 1> y, Scalar<i32> skip, Const B) {
        Value row = grid1d(y, {1});
        guard(row != skip);
        Value sums = sum(x.tile({1, B})(row, 0), 1);
        y.tile({1})(row) = sums;
      });
  std::vector<float> x = uniform<float>(7 * 300);
  auto y = input<float>({7}, std::vector<float>(7, -1.0f));
  program.consts(512)(stream, input({7, 300}, x), y, 4);
  std::vector<float> result = y.download();
  for (int row = 0; row < 7; ++row) {
    double sum = 0;
    for (int i = 0; i < 300; ++i)
      sum += x[size_t(row * 300 + i)];
    EXPECT_NEAR(result[size_t(row)], row == 4 ? -1.0 : sum, 1e-3) << row;
  }
}

const auto persistentCopy =
    kernel("persistent_copy", [](In<f32, 2> x, Out<f32, 2> y, Out<i32, 1> programs, Const B) {
      Value rows = cdiv(x.dim(0), B), columns = cdiv(x.dim(1), B);
      for (auto t : persistent(rows * columns)) {
        auto [m, n] = swizzle(t, rows, columns, {.group = 3});
        y.tile({B, B})(m, n) = x.tile({B, B})(m, n) + 1.0f;
      }
      programs.tile({1})(program_id(0)) = splat(num_programs(0), {1});
    });

/// One program when there is one tile; as many as run at once when there are more tiles than that.
TEST_P(Guards, PersistentProgramsCoverAllTiles) {
  for (auto [m, n] : {std::pair{1, 1}, {33, 130}, {70, 700}, {1000, 1100}}) {
    SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n));
    std::vector<float> x = uniform<float>(m * n);
    auto y = output<float>({m, n});
    auto programs = input<int32_t>({100000}, std::vector<int32_t>(100000, 0));
    persistentCopy.consts(32)(stream, input({m, n}, x), y.tensor(), programs);
    expectAll(y.result(), [&](int64_t i) { return x[size_t(i)] + 1.0f; });
    int64_t tiles = int64_t((m + 31) / 32) * ((n + 31) / 32), launched = programs.download()[0];
    EXPECT_LE(launched, tiles);
    EXPECT_GE(launched, std::min<int64_t>(tiles, 64)) << "a GPU runs many programs at once";
    int64_t rounds = (tiles + launched - 1) / launched;
    EXPECT_EQ(launched, (tiles + rounds - 1) / rounds) << "fewer would do in as many rounds";
  }
}

/// A count that the launch cannot compute: the grid is what the device runs at once.
TEST_P(Guards, PersistentWithACountReadFromMemory) {
  static const auto program = kernel("persistent_count", [](In<i32, 1> n, Out<i32, 1> y) {
    for (auto t : persistent(item(n.tile({1})(0))))
      y.tile({1})(t) = splat(t * 2, {1});
  });
  for (int n : {0, 1, 500}) {
    auto y = input<int32_t>({500}, std::vector<int32_t>(500, -1));
    program(stream, input<int32_t>({1}, {n}), y);
    std::vector<int32_t> result = y.download();
    for (int i = 0; i < 500; ++i)
      EXPECT_EQ(result[size_t(i)], i < n ? i * 2 : -1);
  }
}

TEST_P(Guards, SwizzledTilesAreAllOfThemOnce) {
  static const auto program = kernel("swizzled_order", [](InOut<i32, 2> y, Const G) {
    auto [m, n] = swizzle(y.dim(0), y.dim(1), {.group = G});
    y.tile({1, 1})(m, n) = y.tile({1, 1})(m, n) + splat(program_id(0) + 1, {1, 1});
  });
  for (auto [m, n] : {std::pair{1, 1}, {5, 3}, {8, 4}, {3, 9}})
    for (int group : {1, 2, 8}) {
      auto y = input<int32_t>({m, n}, std::vector<int32_t>(size_t(m * n), 0));
      program.consts(group)(stream, y);
      std::vector<int32_t> order = y.download();
      EXPECT_EQ(std::set(order.begin(), order.end()).size(), size_t(m * n));
      // Column-major inside a group: the second program is below the first.
      if (group > 1 && m > 1)
        EXPECT_EQ(order[size_t(n)], 2);
    }
}

TEST_P(Guards, HintsDoNotChangeResults) {
  static const auto program =
      kernel("hinted", [](In<f32, 1> x, Out<f32, 1> y, Scalar<i32> rounds, Const B) {
        hint::warps(8);
        hint::maxnreg(64);
        hint::occupancy(2);
        hint::stages(2);
        Value i = grid1d(y, {B}), v = x.tile({B})(i);
        auto sum = var(zeros(f32, {B}));
        for (auto r : range(rounds).no_licm().unroll(3))
          sum += v * v + cast(f32, r);
        y.tile({B})(i) = sum;
      });
  std::vector<float> x = uniform<float>(1000);
  auto y = output<float>({1000});
  program.consts(256)(stream, input({1000}, x), y.tensor(), 7);
  expectAll(y.result(),
            [&](int64_t i) {
              double sum = 0, v = x[size_t(i)];
              for (int r = 0; r < 7; ++r)
                sum += v * v + r;
              return sum;
            },
            {.absolute = 1e-4});
}

/// a * b + c with a * b not representable: one rounding keeps the low bits, two lose them.
TEST_P(Guards, FusionAndDenormalsAsAsked) {
  static const auto program =
      kernel("rounding", [](In<f32, 1> a, In<f32, 1> b, In<f32, 1> c, Out<f32, 1> y) {
        Value i = grid1d(y, {1});
        y.tile({1})(i) = a.tile({1})(i) * b.tile({1})(i) + c.tile({1})(i);
      });
  float a = 1.0f + 0x1p-23f, c = -(1.0f + 0x1p-22f), tiny = 0x1p-130f;
  auto run = [&](const auto &launcher, float p, float q, float r) {
    auto y = output<float>({1});
    launcher(stream, input<float>({1}, {p}), input<float>({1}, {q}), input<float>({1}, {r}),
             y.tensor());
    return y.result()[0];
  };
  EXPECT_EQ(run(program, a, a, c), 0x1p-46f);
  EXPECT_EQ(run(program.fp_fusion(false), a, a, c), 0.0f);
  EXPECT_EQ(run(program, tiny, 1.0f, tiny), 2 * tiny);
  EXPECT_EQ(run(program.ftz(), tiny, 1.0f, tiny), 0.0f);
}

} // namespace
