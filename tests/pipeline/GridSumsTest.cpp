// Programs of a launch add up what each of them has; the one that comes last goes on with it.
#include "tests/pipeline/Summands.h"

#include <tile/Debug.h>
#include <tile/Graph.h>

namespace tile::test {
namespace {

class GridSums : public SumsOfParts {};

struct Tiles {
  int programs;
  int64_t groups, rows, columns;
};

/// Each program has a tile of x; a tile of y is the sum of `programs` of them.
const auto summing =
    kernel("grid_sums", [](In<any, 2> x, Out<any, 2> y, Const programs, Const rows, Const columns) {
      Value number = program_id(0);
      grid_sum(x.tile({rows, columns})(number, 0), programs, [&](const Value &sum) {
        y.tile({rows, columns})(number / int64_t{programs}, 0) = sum;
      });
    });

/// Element `i` of all sums.
template <class T> T sumAt(const Tiles &tiles, int64_t i) {
  int64_t elements = tiles.rows * tiles.columns;
  return sumOfParts<T>(i / elements * tiles.programs, tiles.programs, i % elements);
}

template <class T> std::vector<T> summandsOf(const Tiles &tiles) {
  return summands<T>(tiles.groups * tiles.programs, tiles.rows * tiles.columns);
}

TEST_P(GridSums, AreInTheOrderOfPrograms) {
  auto check = [&]<class T>(const Tiles &tiles, int warps, T) {
    auto [programs, groups, rows, columns] = tiles;
    SCOPED_TRACE(std::string(nameOf(dtypeOf<T>)) + " " + std::to_string(rows) + "x" +
                 std::to_string(columns) + " of " + std::to_string(programs) + " programs");
    std::vector<T> before(static_cast<size_t>(groups * rows * columns));
    auto x = input<T>({programs * groups * rows, columns}, summandsOf<T>(tiles)),
         y = input<T>({groups * rows, columns}, before);
    auto launcher = summing.consts(programs, rows, columns)
                        .warps(warps)
                        .grid(static_cast<int64_t>(programs) * groups);
    runUnderEverySchedule(
        launcher, 1, {Written(y, before)},
        [&] { expectAll(y, [&](int64_t i) { return sumAt<T>(tiles, i); }); }, x, y);
  };
  check({2, 3, 64, 64}, 4, float());
  check({3, 2, 96, 20}, 4, float());
  check({7, 1, 5, 12}, 1, float());
  check({2, 2, 1, 1}, 4, float());
  check({4, 2, 32, 16}, 4, int32_t());
  check({2, 1, 4, 128}, 4, int64_t());
  check({5, 1, 128, 8}, 2, double());
  check({1, 3, 16, 16}, 4, float());
}

// Axis 0 is counted first.
TEST_P(GridSums, TakeProgramsOfAllAxes) {
  static const auto corner = kernel("grid_sums_of_axes", [](In<i32, 1> x, Out<i32, 1> y) {
    Value number =
        program_id(0) + num_programs(0) * (program_id(1) + num_programs(1) * program_id(2));
    grid_sum(x.tile({8})(number), 4, [&](const Value &sum) { y.tile({8})(number / 4) = sum; });
  });
  constexpr int64_t kPrograms = 2 * 3 * 4, kElements = 8;
  const Tiles tiles{4, kPrograms / 4, 1, kElements};
  std::vector<int32_t> before(kPrograms / 4 * kElements);
  auto x = input<int32_t>({kPrograms * kElements}, summandsOf<int32_t>(tiles)),
       y = input<int32_t>({kPrograms / 4 * kElements}, before);
  runUnderEverySchedule(
      corner.grid(2, 3, 4), 1, {Written(y, before)},
      [&] { expectAll(y, [&](int64_t i) { return sumAt<int32_t>(tiles, i); }); }, x, y);
}

// Each has memory and a counter of its own; what is done with one sum may be added up again.
TEST_P(GridSums, AreSeveral) {
  static const auto both = kernel("grid_sums_twice", [](In<f32, 1> x, Out<f32, 1> y,
                                                        Out<f64, 1> z) {
    Value number = program_id(0), tile = x.tile({128})(number);
    grid_sum(tile, 2, [&](const Value &sum) { y.tile({128})(number / 2) = sum; });
    grid_sum(cast(f64, tile) * 2.0, 3, [&](const Value &sum) { z.tile({128})(number / 3) = sum; });
  });
  const Tiles pairs{2, 3, 1, 128};
  std::vector<float> before(3 * 128);
  std::vector<double> doublesBefore(2 * 128);
  auto x = input<float>({6 * 128}, summandsOf<float>(pairs)), y = input<float>({3 * 128}, before);
  auto z = input<double>({2 * 128}, doublesBefore);
  runUnderEverySchedule(
      both.grid(6), 1, {Written(y, before), Written(z, doublesBefore)},
      [&] {
        expectAll(y, [&](int64_t i) { return sumAt<float>(pairs, i); });
        expectAll(z, [&](int64_t i) {
          double sum = 0;
          for (int64_t part = 0; part < 3; ++part)
            sum += 2.0 * summand<float>(i / 128 * 3 + part, i % 128);
          return sum;
        });
      },
      x, y, z);
}

/// The product of matrices of small integers, of which each program has a part of K.
const auto sharedProduct = kernel("grid_shared_k", [](In<f16, 2> a, In<f16, 2> b, Out<f32, 2> c,
                                                      Const programs, ConstOf<bool> hasProducer) {
  const int64_t parts = programs;
  Value m = program_id(0) / parts, part = program_id(0) % parts, steps = cdiv(a.dim(1), kDepth);
  auto sums = var(zeros(f32, {kRows, kColumns}));
  Range own = range(part * steps / parts, (part + 1) * steps / parts).stages(3);
  for (auto k : hasProducer ? own.warp_specialize() : own)
    sums = dot(a.tile({kRows, kDepth})(m, k), b.tile({kDepth, kColumns})(k, 0), sums);
  grid_sum(sums, programs, [&](const Value &all) { c.tile({kRows, kColumns})(m, 0) = all; });
});

TEST_P(GridSums, ShareAProductsDepth) {
  struct Case {
    int programs, steps;
    bool hasProducer;
  };
  for (auto [programs, steps, hasProducer] :
       {Case{2, 7, false}, {4, 6, true}, {2, 1, true}, {2, 0, false}}) {
    SCOPED_TRACE(std::to_string(programs) + " programs, " + std::to_string(steps) + " steps" +
                 (hasProducer ? ", a warp loads" : ""));
    auto launcher = sharedProduct.consts(programs, hasProducer).warps(4).grid(3 * programs);
    std::string ptx = multiply(launcher, steps);
    EXPECT_TRUE(has(ptx, "atom.acq_rel.gpu.global.add.u32"));
    EXPECT_TRUE(has(ptx, "st.global.v4.b32") || has(ptx, "st.global.v4.f32"));
    EXPECT_EQ(has(ptx, ".reqntid 256"), hasProducer) << "the warp that loads ends before the sum";
  }
}

STAGED_LOOPS_SUITE(GridSums);

// --- The memory that launches bring along ----------------------------------------------------------

constexpr int64_t kElements = 64;

/// Doubles each pair of x[0], x[1], ... and adds them up; stops where `x` is negative.
const auto pairs = kernel("grid_sum_pairs", [](In<f32, 1> x, Out<f32, 1> y) {
  Value number = program_id(0), tile = x.tile({kElements})(number);
  device_assert(tile >= 0.0f, "negative");
  grid_sum(tile, 2, [&](const Value &sum) { y.tile({kElements})(number / 2) = sum; });
});

struct GridSumMemory : ::testing::Test {
  Device device = Device::open("virtual:sm_90a");
  Stream stream = device.stream();
  TensorOf<float> x = device.tensor<float>({8 * kElements}),
                  y = device.tensor<float>({4 * kElements});

  static void fill(const Stream &of, const TensorOf<float> &tensor, float value) {
    tensor.upload(of, std::vector<float>(static_cast<size_t>(tensor.numel()), value));
  }
  void fill(float value) { fill(stream, x, value); }
  void launch() { pairs.checked().grid(8)(stream, x, y); }
  void expect(float sum) {
    stream.synchronize();
    for (float value : y.download())
      ASSERT_EQ(value, sum);
  }
};

TEST_F(GridSumMemory, IsTakenByOneLaunchAfterTheOther) {
  for (int i = 1; i < 4; ++i) {
    fill(static_cast<float>(i));
    launch();
    launch();
    expect(static_cast<float>(2 * i));
  }
  EXPECT_LE(stream.usage().allocations, 1u);
}

TEST_F(GridSumMemory, OfLargerLaunchesIsLarger) {
  fill(1);
  pairs.grid(2)(stream, x, y);
  auto manyX = device.tensor<float>({6000 * kElements}),
       manyY = device.tensor<float>({3000 * kElements});
  fill(stream, manyX, 3);
  pairs.grid(6000)(stream, manyX, manyY);
  stream.synchronize();
  for (float value : manyY.download())
    ASSERT_EQ(value, 6);
  launch();
  expect(2);
}

// A launch that fails may leave programs counted.
TEST_F(GridSumMemory, IsAsNewAfterALaunchThatFailed) {
  std::vector<float> values(8 * kElements, 1);
  values[kElements] = -1; // of a pair one program alone comes to the sum
  x.upload(stream, values);
  EXPECT_THROW(
      {
        launch();
        stream.synchronize();
      },
      Error);
  fill(2);
  launch();
  expect(4);
}

// Each waits for the one before it uses the memory of both.
TEST_F(GridSumMemory, OfLaunchesThatOverlapIsOneAfterTheOthers) {
  stream.overlapLaunches();
  auto sums = device.tensor<float>({2 * kElements}), last = device.tensor<float>({kElements});
  fill(1);
  for (int i = 0; i < 3; ++i) {
    launch();
    pairs.grid(4)(stream, y, sums);
    pairs.grid(2)(stream, sums, last);
  }
  expect(2);
  for (float value : last.download())
    ASSERT_EQ(value, 8);
}

TEST_F(GridSumMemory, OfAGraphIsItsOwn) {
  fill(1);
  Graph graph = Graph::capture(stream, [&] {
    launch();
    launch();
  });
  Stream other = device.stream();
  auto otherX = device.tensor<float>({8 * kElements}),
       otherY = device.tensor<float>({4 * kElements});
  fill(other, otherX, 5);
  for (int i = 0; i < 3; ++i) {
    graph.replay(stream);
    pairs.grid(8)(other, otherX, otherY); // not ordered with the replay
  }
  expect(2);
  other.synchronize();
  for (float value : otherY.download())
    ASSERT_EQ(value, 10);
}

TEST_F(GridSumMemory, OfAGraphIsAsNewAfterALaunchThatFailed) {
  std::vector<float> values(8 * kElements, 1);
  x.upload(stream, values);
  Graph graph = Graph::capture(stream, [&] { launch(); });
  graph.replay(stream);
  expect(2);
  values[kElements] = -1;
  x.upload(stream, values);
  EXPECT_THROW(
      {
        graph.replay(stream);
        stream.synchronize();
      },
      Error);
  fill(3);
  graph.replay(stream);
  expect(6);
}

TEST_F(GridSumMemory, IsForAMultipleOfThePrograms) {
  try {
    pairs.grid(7)(stream, x, y);
    FAIL() << "a program would wait for nobody";
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidShape);
    EXPECT_EQ(error.message(),
              "kernel 'grid_sum_pairs' adds up tiles of 2 programs that follow each other "
              "(grid_sum), but its launch has 7: give it a multiple of them");
  }
}

} // namespace
} // namespace tile::test
