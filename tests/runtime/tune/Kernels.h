// A kernel with settings to tune and a call of it, for the tests of the tuner.
#pragma once

#include "runtime/tune/Key.h"
#include "tests/runtime/cache/TemporaryFolder.h"

#include <tile/tile.h>

#include <gtest/gtest.h>

namespace tile::test {

/// y = factor x, in blocks of a tuned extent.
inline auto scaledKernel() {
  return kernel("tuned_scale",
                [](In<f32, 1> x, Out<f32, 1> y, Const block, Const factor) {
                  Value i = grid1d(y, {block});
                  y.tile({block})(i) = x.tile({block})(i) * static_cast<float>(factor);
                })
      .named("x", "y", "block", "factor")
      .tunable("block", pow2(64, 1024), 256)
      .tunable("warps", {2, 4, 8}, 4);
}

enum class Order { Rows, Columns, Diagonal };

/// A kernel with a word among its settings.
inline auto orderedKernel() {
  return kernel("ordered",
                [](In<f32, 1> x, Out<f32, 1> y, Const block, ConstOf<Order> order) {
                  Value i = grid1d(y, {block});
                  y.tile({block})(i) = x.tile({block})(i);
                })
      .named("x", "y", "block", "order")
      .tunable("block", {64, 128, 256}, 128)
      .tunable("order", words({"rows", "columns", "diagonal"}), 1);
}

/// A call of the first on a virtual H100.
class TunedCalls : public testing::Test {
protected:
  tune::TunedCall call() const { return {kernel.record(), device, args, constants}; }

  TemporaryFolder folder;
  Kernel<In<f32, 1>, Out<f32, 1>, Const, Const> kernel = scaledKernel();
  Device device = Device::open("virtual:sm_90a");
  TensorOf<float> x = device.tensor<float>({1000}), y = device.tensor<float>({1000});
  std::vector<HostArg> args = {toHostArg(x), toHostArg(y)};
  std::vector<int64_t> constants = {0, 3};
};

} // namespace tile::test
