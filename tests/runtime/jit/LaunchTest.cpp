// Kernels from C++ source to results, on every device present.
#include <tile/tile.h>

#include <gtest/gtest.h>

#include <numeric>

using namespace tile;

namespace {

auto add = kernel("add", [](In<f32, 1> x, In<f32, 1> y, Out<f32, 1> z, Const block) {
             Value i = grid1d(z, {block});
             z.tile({block})(i) = x.tile({block})(i) + y.tile({block})(i);
           }).named("x", "y", "z", "block");

std::vector<float> ramp(int64_t count, float first) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST(Launch, addsVectorsOfAnyLength) {
  for (Device &device : Device::all()) {
    Stream stream = device.stream();
    for (int64_t count : {1, 127, 128, 1000, 4096}) {
      auto x = device.tensor<float>({count}, ramp(count, 1)), y = device.tensor<float>({count}, ramp(count, 1000));
      auto z = device.tensor<float>({count});
      add.consts(256)(stream, x, y, z);
      stream.synchronize();
      std::vector<float> sums = z.download();
      for (int64_t i = 0; i < count; ++i)
        ASSERT_EQ(sums[i], (1 + i) + (1000 + i)) << device.name() << " count " << count << " at " << i;
    }
  }
}

} // namespace
