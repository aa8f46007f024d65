// Matrix product with an epilogue.
#pragma once

#include <tile/ops/Operand.h>
#include <tile/tile.h>

namespace tile::ops {

/// How a product is computed.
struct MatmulOptions {
  /// Of f32 operands; 16-bit ones have only one way.
  Precision precision = Precision::tf32x3;
};

namespace detail {

/// The tile of C that one program computes, the step along K, and the warps that share the work.
struct MatmulTiles {
  int m, n, k, warps;
  bool operator==(const MatmulTiles &) const = default;
};

/// The tiles used for a product of M x K by K x N, once the arguments are found to be valid. Throws
/// the errors of `matmul`.
MatmulTiles checkMatmul(const Operand &a, const Operand &b, const Operand &c,
                        const MatmulOptions &options, Loc loc);

/// What one program does; `epilogue` is applied to the f32 sums.
void matmulProgram(In<any, 2> a, In<any, 2> b, Out<any, 2> c, MatmulTiles tiles,
                   Precision precision, tile::detail::FunctionRef<Value(Value)> epilogue);

struct NoEpilogue {
  Value operator()(Value sums) const { return sums; }
};

} // namespace detail

/// c = epilogue(a b): c[m, n] = epilogue(sum over k of a[m, k] * b[k, n]).
///
/// `epilogue` is a lambda without captures from Value to Value; it receives a tile of f32 sums,
/// may use any elementwise operation of the language, and its result is rounded to c's dtype:
///   ops::matmul(stream, a, b, c, [](Value x) { return gelu(x * 0.125f); });
///
/// Shapes: a is M x K, b is K x N, c is M x N, for any M, N, K including 0 and 1; with K = 0 the
/// sums are 0. Each may have any strides, so row-major and column-major (`t.T()`) are alike; unit
/// stride in one dimension is what makes it fast.
/// Dtypes: a and b are both f16, both bf16 or both f32; c is f16, bf16 or f32 (f16 overflows to
/// infinity). Sums are kept in f32. f32 operands: tf32x3 (the default; almost f32's accuracy on
/// tensor cores), tf32 (10 bits of mantissa), ieee (fused multiply-add, no tensor cores).
/// The order of summation is open, but fixed for given shapes, strides and options.
///
/// Errors (InvalidArgument, InvalidShape, WrongDevice, Aliasing), at the caller's line: a rank is
/// not 2, inner or outer sizes differ, a dtype is not in the list, a tensor is of another device,
/// c overlaps a or b or repeats elements.
template <class Epilogue = detail::NoEpilogue>
void matmul(Stream &stream, const Operand &a, const Operand &b, const Operand &c, Epilogue = {},
            MatmulOptions options = {}, Loc loc = Loc::here()) {
  static_assert(std::is_empty_v<Epilogue> && std::is_default_constructible_v<Epilogue>,
                "matmul takes an epilogue lambda without captures: write numbers into it, or a "
                "kernel of your own");
  static_assert(std::is_invocable_r_v<Value, Epilogue, Value>,
                "matmul's epilogue takes a Value, the tile of f32 sums, and returns a Value");
  static const auto program =
      kernel("matmul", [](In<any, 2> a, In<any, 2> b, Out<any, 2> c, Const bm, Const bn, Const bk,
                          Const precision) {
        detail::matmulProgram(a, b, c, {bm, bn, bk, 0}, static_cast<Precision>(int(precision)),
                              Epilogue());
      }).named("a", "b", "c", "BM", "BN", "BK", "precision");
  detail::MatmulTiles tiles = detail::checkMatmul(a, b, c, options, loc);
  if (c.numel() == 0)
    return;
  program.consts(tiles.m, tiles.n, tiles.k, static_cast<int>(options.precision))
      .warps(tiles.warps)(CallSite(stream, loc), a, b, c);
}

} // namespace tile::ops
