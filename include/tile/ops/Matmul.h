// Matrix products with an epilogue, batched; linear layers.
#pragma once

#include <tile/detail/ops/Matmul.h>

namespace tile::ops {

/// How a matmul is computed.
struct MatmulOptions {
  /// For f32 operands; 16-bit ones have only one.
  Precision precision = Precision::tf32x3;
  /// For e4m3 and e5m2: keeps all of K in the tensor core's accumulators, which have 13 bits on
  /// sm_90a. This is faster, and sums of positive products are 3 % too small at K = 2048, 7 % at
  /// 4096, 13 % at 8192 (DotOptions::fast_accumulation).
  bool fastAccumulation = false;
  /// The accumulator: `any` or f32; or f16, where a and b are f16, e4m3 or e5m2. f16 has twice the
  /// rate on GeForce cards (sm_86, sm_89, sm_120) and takes half the registers, has no gain on
  /// others, and is slower on sm_90a, where only f32 accumulators use `wgmma`. It is rounded to f16
  /// after every 16 of K (8 on some cards): the error is at most K / 8 * 2^-11 of the sum of |a|
  /// |b|, for random numbers about the square root of that number of roundings times 2^-11; sums
  /// above 65504 are infinity (DotOptions::accumulator). Epilogues receive f32; split-K adds the
  /// parts in f32, and matmuls by a vector may accumulate in f32.
  DType accumulator = any;
};

/// An epilogue with arguments besides the sums: tensors, which broadcast to c and reach the lambda
/// as tiles (16-bit floats as f32), and numbers, as in `map`:
///   auto addBias = [](Value x, Value bias) { return gelu(x + bias); };
///   ops::matmul(stream, a, b, c, ops::epilogue(addBias, bias));
template <class F, class... X>
detail::Epilogue<F, detail::EpilogueArgument<X>...> epilogue(F, const X &...x) {
  static_assert(
      std::is_empty_v<F> && std::is_default_constructible_v<F>,
      "an epilogue is a lambda without captures: pass tensors and numbers as its arguments");
  return {{detail::EpilogueArgument<X>(x)...}};
}

/// c = a b, or epilogue(a b): c[.., m, n] = epilogue(sum over k of a[.., m, k] * b[.., k, n]).
///
/// `epilogue` is a lambda without captures from Value to Value, or one with arguments made by
/// `ops::epilogue`; it receives a tile of the accumulator, may use any elementwise operation of the
/// language, and its result is rounded to c's dtype:
///   ops::matmul(stream, a, b, c, [](Value x) { return gelu(x * 0.125f); });
///
/// Shapes: a is .. x M x K, b is .. x K x N, c is .. x M x N, for any M, N, K including 0 and 1;
/// with K = 0 the sums are 0. Dimensions before the last two are batches: those of a and b
/// broadcast to c's by NumPy's rule. Each may have any strides, so row-major and column-major
/// (`t.T()`) are alike; it is fast where one of the last two dimensions has unit stride. Batches
/// that are one dimension in memory, or with an unbatched b one tall matrix, take one launch;
/// otherwise there is one launch per index of the outermost dimension.
/// Dtypes: a and b are both f16, bf16, f32 or f64, or each is e4m3 or e5m2; c is f16, bf16, f32 or
/// f64 (f16 overflows to infinity). The accumulator is f32, f64 for f64, or f16 by `options`.
/// f32 operands: tf32x3 (the default; almost f32's accuracy on tensor cores), tf32 (10 bits of
/// mantissa), ieee (fused multiply-add, no tensor cores). 8-bit operands are fastest, by `wgmma` on
/// sm_90a, where both are K-major (b as `weight.T()`) and rows have a multiple of 16 bytes. Before
/// sm_89 they are widened to f16. The order of summation is open, but fixed for
/// given shapes, strides and options.
///
/// Errors (InvalidArgument, InvalidShape, WrongDevice, Aliasing), at the caller's line: a rank is
/// below 2, inner, outer or batch sizes do not fit, a dtype is not in the list, options ask for
/// sums that these operands have not, a tensor is of another device, c overlaps a or b or repeats
/// elements; an epilogue's tensor does not broadcast to c, or overlaps it in another way than
/// element for element.
void matmul(const Stream &stream, const Operand &a, const Operand &b, const Operand &c,
            const MatmulOptions &options = {}, Loc loc = Loc::here());
template <class F>
void matmul(const Stream &stream, const Operand &a, const Operand &b, const Operand &c, F,
            const MatmulOptions &options = {}, Loc loc = Loc::here()) {
  if constexpr (detail::checkEpilogue<F>())
    detail::matmulWith<F>({stream, loc}, a, b, c, std::tuple(), options);
}
template <class F, class... X>
void matmul(const Stream &stream, const Operand &a, const Operand &b, const Operand &c,
            const detail::Epilogue<F, X...> &epilogue, const MatmulOptions &options = {},
            Loc loc = Loc::here()) {
  detail::matmulWith<F>({stream, loc}, a, b, c, epilogue.arguments, options);
}
/// The same in a new tensor of the stream, of a's dtype, or f32 for 8-bit a. Errors: those above.
Tensor matmul(const Stream &stream, const Operand &a, const Operand &b,
              const MatmulOptions &options = {}, Loc loc = Loc::here());

/// y = x weight^T + bias, the layer of that name: y[.., o] = bias[o] + sum over i of x[.., i] *
/// weight[o, i].
///
/// Shapes: x is .. x I, weight O x I, bias O or Operand() for none, y .. x O. Dtypes, precision and
/// errors: those of `matmul`.
void linear(const Stream &stream, const Operand &x, const Operand &weight, const Operand &bias,
            const Operand &y, const MatmulOptions &options = {}, Loc loc = Loc::here());
Tensor linear(const Stream &stream, const Operand &x, const Operand &weight,
              const Operand &bias = {}, const MatmulOptions &options = {}, Loc loc = Loc::here());

} // namespace tile::ops
