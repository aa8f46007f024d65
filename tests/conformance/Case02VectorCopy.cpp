// Conformance 2: a masked copy is correct to its run-time size, and moves 128 bits an instruction
// exactly if the size is divisible by 16; at an offset from memory exactly under promises.
#include "tests/execution/DumpedPtx.h"
#include "tests/execution/Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(ConformanceVectorCopy, Targets::One);

/// Does the PTX of a kernel load 128 bits at once, for whichever device it was compiled?
bool hasWideLoads(const std::string &kernel) {
  std::string ptx = ptxOf(kernel);
  EXPECT_FALSE(ptx.empty()) << "no PTX of " << kernel;
  for (const char *wide :
       {"ld.global.v4.b32", "ld.global.v4.u32", "ld.global.v4.f32", "ld.global.v2.b64"})
    if (ptx.find(wide) != std::string::npos)
      return true;
  return false;
}

constexpr int kBlock = 1024;

template <class Launcher>
void copyAndCheck(OnDevice &, const Device &device, const Stream &stream, const Launcher &copy,
                  int n) {
  std::vector<float> x = uniform<float>(kBlock);
  auto in = device.tensor<float>({kBlock});
  in.upload(x);
  auto out = device.tensor<float>({kBlock});
  out.upload(std::vector<float>(kBlock, -1.0f));
  copy.grid(1)(stream, in.slice(0, 0, n), out.slice(0, 0, n));
  std::vector<float> y = out.download();
  for (int i = 0; i < kBlock; ++i)
    EXPECT_EQ(y[size_t(i)], i < n ? x[size_t(i)] : -1.0f) << i << " of " << n;
}

template <int N> const auto &copyOf() {
  static const auto program =
      kernel("masked_copy_" + std::to_string(N),
             [](In<f32, 1> x, Out<f32, 1> y) { y.tile({kBlock})(0) = x.tile({kBlock})(0); });
  return program;
}

TEST_P(ConformanceVectorCopy, WideExactlyIfTheSizeIsDivisible) {
  recordPtx();
  copyAndCheck(*this, device(), stream, copyOf<16>(), 16);
  copyAndCheck(*this, device(), stream, copyOf<10>(), 10);
  copyAndCheck(*this, device(), stream, copyOf<11>(), 11);
  copyAndCheck(*this, device(), stream, copyOf<1024>(), 1024);
  EXPECT_TRUE(hasWideLoads("masked_copy_16"));
  EXPECT_FALSE(hasWideLoads("masked_copy_10"));
  EXPECT_FALSE(hasWideLoads("masked_copy_11"));
  EXPECT_TRUE(hasWideLoads("masked_copy_1024"));
}

enum Promise { None, Scalar_, Tile_, Assumed };

/// The copy begins at an element that the kernel reads from memory.
template <int P> const auto &copyAtOffset() {
  static const auto program = kernel("copy_at_offset_" + std::to_string(P),
                                     [](In<i32, 1> offset, In<f32, 1> x, Out<f32, 1> y) {
                                       Value first = item(offset.tile({1})(0));
                                       if (P == Scalar_)
                                         first = multiple_of(first, {16});
                                       if (P == Assumed)
                                         assume(first % 16 == 0);
                                       Value at = first + index(0, {kBlock});
                                       if (P == Tile_)
                                         at = max_contiguous(multiple_of(at, {kBlock}), {kBlock});
                                       y.tile({kBlock})(0) = load(x.ptr() + at);
                                     });
  return program;
}

TEST_P(ConformanceVectorCopy, ALoadedOffsetIsWideUnderPromisesAlone) {
  recordPtx();
  std::vector<float> x = uniform<float>(2 * kBlock);
  auto run = [&](const auto &program) {
    auto y = output<float>({kBlock});
    program.grid(1)(stream, input<int32_t>({1}, {kBlock}), input({2 * kBlock}, x), y.tensor());
    expectAll(y.result(), [&](int64_t i) { return x[size_t(i + kBlock)]; });
  };
  run(copyAtOffset<None>());
  run(copyAtOffset<Scalar_>());
  run(copyAtOffset<Tile_>());
  run(copyAtOffset<Assumed>());
  EXPECT_FALSE(hasWideLoads("copy_at_offset_0"));
  EXPECT_TRUE(hasWideLoads("copy_at_offset_1"));
  EXPECT_TRUE(hasWideLoads("copy_at_offset_2"));
  EXPECT_TRUE(hasWideLoads("copy_at_offset_3"));
}

} // namespace
