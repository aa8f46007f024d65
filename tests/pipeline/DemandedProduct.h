// A product whose operands are loaded, and which is multiplied, in a way that the kernel demands.
#pragma once

#include <tile/tile.h>

namespace tile::test {

/// Operands are loaded as `copy` says and multiplied as `mma` says, in tiles of this side.
constexpr int kDemandedSide = 32;

inline auto demandedProduct(CopyBy copy, Mma mma, Precision precision = Precision::tf32x3) {
  static const auto program =
      kernel("demands", [](In<any, 2> a, In<any, 2> b, Out<f32, 2> d, ConstOf<CopyBy> copy,
                           ConstOf<Mma> mma, ConstOf<Precision> precision) {
        constexpr int side = kDemandedSide;
        auto [m, n] = grid2d(d, {side, side});
        auto sums = var(zeros(f32, {side, side}));
        for (auto k : range(cdiv(a.dim(1), side)))
          sums = dot(a.tile({side, side}).hints({.copy = copy})(m, k),
                     b.tile({side, side}).hints({.copy = copy})(k, n), sums,
                     {.precision = precision, .variant = mma});
        d.tile({side, side})(m, n) = sums;
      });
  return program.consts(copy, mma, precision);
}

} // namespace tile::test
