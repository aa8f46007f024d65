// Kernels with settings to tune, for the tests of the tuner.
#pragma once

#include <tile/tile.h>

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

} // namespace tile::test
