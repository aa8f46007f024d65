// Kernels that need more shared memory than a block of a small GPU has: loops get fewer stages, and tiles change their layout part
// after part. The same kernels fit a GPU with more.
#include "tests/pipeline/ReferenceProduct.h"
#include "tests/pipeline/StagedLoops.h"

namespace tile::test {
namespace {

class SmallSharedMemory : public StagedLoops {
protected:
  /// A product of `program`, whose constants are given, in tiles of `rows` x `columns`.
  template <class Launcher> void check(const Launcher &program, int64_t rows, int64_t columns) {
    const int64_t depth = 3 * 32, height = 2 * rows, width = columns;
    std::vector<half> a = smallIntegers<half>(height * depth, 1),
                      b = smallIntegers<half>(depth * width, 2);
    auto d = input<float>({height, width}, std::vector<float>(static_cast<size_t>(height * width)));
    runUnderEverySchedule(
        program.grid(1), kMostSteps, {Written(d, smallIntegers<float>(height * width, 9))},
        [&] { expectAll(d, ReferenceProduct(a, b, depth, width)); },
        input<half>({height, depth}, a), input<half>({depth, width}, b), d);
  }
};

const auto product = kernel("product", [](In<f16, 2> a, In<f16, 2> b, Out<f32, 2> d, Const M,
                                          Const N, ConstOf<bool> flattens) {
  constexpr int kDepth = 32;
  Range tiles = range(program_id(0), cdiv(d.dim(0), M), num_programs(0));
  for (auto m : flattens ? tiles.flatten() : tiles) {
    auto sums = var(zeros(f32, {M, N}));
    for (auto k : range(cdiv(a.dim(1), kDepth)).stages(3))
      sums = dot(a.tile({M, kDepth})(m, k), b.tile({kDepth, N})(k, 0), sums);
    d.tile({M, N})(m, 0) = sums;
  }
});

// 128 KB of sums.
TEST_P(SmallSharedMemory, ATileLargerThanABlocksMemory) {
  check(product.consts(128, 256, false).warps(8), 128, 256);
}

// The sums alone would fit: 96 KB. They are stored while the ring of a flattened loop is alive.
TEST_P(SmallSharedMemory, ATileBesideARing) {
  check(product.consts(96, 256, true).warps(8), 96, 256);
}

INSTANTIATE_TEST_SUITE_P(Devices, SmallSharedMemory, ::testing::Values("sm_80", "sm_86"));

} // namespace
} // namespace tile::test
