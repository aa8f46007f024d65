// Blocks of a cluster add up what each of them has.
#include "tests/pipeline/Summands.h"

namespace tile::test {
namespace {

class ClusterSums : public SumsOfParts {};

struct Tiles {
  int blocks;
  int64_t rows, columns;
  bool isScattered;
};

/// Each block has a tile of x, and stores the sum, or its part of it.
const auto summing = kernel("cluster_sums", [](In<any, 2> x, Out<any, 2> y, Const blocks,
                                               Const rows, Const columns,
                                               ConstOf<bool> isScattered) {
  Value rank = cluster(blocks);
  Value tile = x.tile({rows, columns})(rank, 0);
  int64_t stored = rows / (isScattered ? int64_t{blocks} : 1);
  y.tile({stored, columns})(rank, 0) = isScattered ? cluster_sum_scatter(tile) : cluster_sum(tile);
});

TEST_P(ClusterSums, AreInTheOrderOfRanks) {
  auto check = [&]<class T>(const Tiles &tiles, int warps, T) {
    auto [blocks, rows, columns, isScattered] = tiles;
    SCOPED_TRACE(std::string(nameOf(dtypeOf<T>)) + " " + std::to_string(rows) + "x" +
                 std::to_string(columns) + " of " + std::to_string(blocks) + " blocks" +
                 (isScattered ? ", scattered" : ""));
    int64_t rowsOfAll = isScattered ? rows : blocks * rows, elements = rows * columns;
    std::vector<T> before(static_cast<size_t>(rowsOfAll * columns));
    auto x = input<T>({blocks * rows, columns}, summands<T>(blocks, rows * columns)),
         y = input<T>({rowsOfAll, columns}, before);
    auto launcher = summing.consts(blocks, rows, columns, isScattered).warps(warps).grid(1);
    runUnderEverySchedule(
        launcher, 1, {Written(y, before)},
        [&] { expectAll(y, [&](int64_t i) { return sumOfParts<T>(0, blocks, i % elements); }); }, x,
        y);
  };
  check({2, 64, 64, true}, 4, float());
  check({2, 64, 64, false}, 4, float());
  check({4, 64, 32, true}, 8, float());
  check({8, 8, 4, true}, 4, float());
  check({8, 5, 12, false}, 1, float());
  check({2, 96, 20, false}, 4, int32_t());
  check({4, 4, 128, true}, 4, int64_t());
  check({2, 128, 8, true}, 2, double());
  check({1, 16, 16, true}, 4, float());
}

/// The product of matrices of small integers, of which each block has a part of K.
const auto sharedProduct =
    kernel("cluster_shared_k", [](In<f16, 2> a, In<f16, 2> b, Out<f32, 2> c, Const blocks,
                                  ConstOf<bool> isPersistent, ConstOf<bool> hasProducer) {
      Value rank = cluster(blocks), steps = cdiv(a.dim(1), kDepth);
      auto compute = [&](const Value &m) {
        auto sums = var(zeros(f32, {kRows, kColumns}));
        Range part = range(rank * steps / blocks, (rank + 1) * steps / blocks).stages(3);
        for (auto k : hasProducer ? part.warp_specialize() : part)
          sums = dot(a.tile({kRows, kDepth})(m, k), b.tile({kDepth, kColumns})(k, 0), sums);
        c.tile({kRows / blocks, kColumns})(m * blocks + rank, 0) = cluster_sum_scatter(sums);
      };
      if (!isPersistent)
        return compute(program_id(0));
      for (auto m : range(program_id(0), cdiv(a.dim(0), kRows), num_programs(0)))
        compute(m);
    });

TEST_P(ClusterSums, ShareAProductsDepth) {
  struct Case {
    int blocks, steps;
    bool isPersistent, hasProducer;
  };
  for (auto [blocks, steps, isPersistent, hasProducer] : {Case{2, 7, false, false},
                                                          {4, 6, false, true},
                                                          {2, 1, false, true},
                                                          {2, 0, false, false},
                                                          {2, 5, true, false},
                                                          {2, 5, true, true}}) {
    SCOPED_TRACE(std::to_string(blocks) + " blocks, " + std::to_string(steps) + " steps" +
                 (isPersistent ? ", persistent" : "") + (hasProducer ? ", a warp loads" : ""));
    auto launcher =
        sharedProduct.consts(blocks, isPersistent, hasProducer).warps(4).grid(isPersistent ? 2 : 3);
    std::string ptx = multiply(launcher, steps);
    EXPECT_TRUE(has(ptx, "ld.shared::cluster.v4.b32"));
    EXPECT_EQ(has(ptx, ".reqntid 256"), hasProducer && !isPersistent)
        << "a warp that loads would run ahead of the meetings in a loop";
  }
}

std::string errorOf(const std::function<void()> &launch) {
  try {
    launch();
  } catch (const Error &error) {
    return error.message();
  }
  return "none";
}

TEST(ClusterSumErrors, NeedBlocksThatSeeEachOther) {
  Device device = Device::open("virtual:sm_80");
  auto x = device.tensor<float>({32, 16}), y = device.tensor<float>({32, 16});
  Stream stream = device.stream();
  EXPECT_EQ(errorOf([&] { summing.consts(2, 16, 16, false).grid(1)(stream, x, y); }),
            "cluster_sum: blocks of sm_80 do not see each other's memory, those of sm_90 do");
}

TEST(ClusterSumErrors, AreNotWhereBlocksGoApart) {
  static const auto apart = kernel("cluster_apart", [](In<f32, 1> x, Out<f32, 1> y) {
    Value rank = cluster(2);
    if_(rank == 0, [&] { y.tile({32})(0) = cluster_sum(x.tile({32})(0)); });
  });
  Device device = Device::open("virtual:sm_90a");
  auto x = device.tensor<float>({32}), y = device.tensor<float>({32});
  Stream stream = device.stream();
  EXPECT_EQ(
      errorOf([&] { apart.grid(1)(stream, x, y); }),
      "cluster_sum: all blocks of the cluster meet at it, but the loop or branch around it may "
      "be another one in each: its course follows from the block's rank, or it is a while_");
}

// Blocks of the other target do not see each other's memory.
INSTANTIATE_TEST_SUITE_P(Targets, ClusterSums, ::testing::Values("sm_90a"),
                         [](const auto &run) { return run.param; });

} // namespace
} // namespace tile::test
