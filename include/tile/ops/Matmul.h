// Matrix products with an epilogue, batched; linear layers.
#pragma once

#include <tile/ops/Map.h>

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

/// Checks the tensors `c, a, b, x...` and makes them views of one rank: matrices, or the same with
/// one batch dimension in front, which does not move where it is broadcast; or with more, for
/// forSlices. Throws the errors of `matmul`.
struct MatmulLaunch {
  MatmulTiles tiles = {};
  bool isEmpty = false; ///< nothing to do
};
inline constexpr int kMostMatmulDims = 3;
MatmulLaunch foldForMatmul(std::span<Operand> operands, const MatmulOptions &options,
                           const CallSite &site);

/// A name for each parameter of the kernel, which takes so many arguments for its epilogue.
std::vector<std::string> matmulParameters(size_t arguments);

/// The tile of one program. `batch` is none of matrices.
struct MatmulPlace {
  Value batch, m, n;
};
MatmulPlace matmulPlace(Out<any, 2> c, MatmulTiles tiles);
MatmulPlace matmulPlace(Out<any, 3> c, MatmulTiles tiles);
/// The sums of one program, in f32 (f64 of f64).
Value matmulSums(In<any, 2> a, In<any, 2> b, const MatmulPlace &place, MatmulTiles tiles,
                 Precision precision);
Value matmulSums(In<any, 3> a, In<any, 3> b, const MatmulPlace &place, MatmulTiles tiles,
                 Precision precision);

/// An argument of an epilogue as it is kept: a tensor's description, or a number.
template <class X> using EpilogueArgument = std::conditional_t<std::is_arithmetic_v<X>, X, Operand>;

/// A lambda with arguments besides the sums.
template <class F, class... X> struct Epilogue { std::tuple<EpilogueArgument<X>...> arguments; };
struct NoEpilogue {
  Value operator()(Value sums) const { return sums; }
};

/// What one program does.
template <int Rank, class F, class... X> struct MatmulProgram {
  void operator()(In<any, Rank> a, In<any, Rank> b, Out<any, Rank> c,
                  typename MapParameter<X, Rank>::type... x, Const bm, Const bn, Const bk,
                  Const precision) const {
    MatmulTiles tiles{bm, bn, bk, 0};
    MatmulPlace place = matmulPlace(c, tiles);
    Value sums = matmulSums(a, b, place, tiles, static_cast<Precision>(int(precision)));
    [[maybe_unused]] auto argument = [&]<class Given, class Param>(const Param &param,
                                                                   Given *) -> Value {
      if constexpr (std::is_arithmetic_v<Given>)
        return std::floating_point<Given> ? cast(sums.dtype(), param) : Value(param);
      else if constexpr (Rank == 2)
        return widened(param.tile({tiles.m, tiles.n})(place.m, place.n));
      else
        return reshape(widened(param.tile({1, tiles.m, tiles.n})(place.batch, place.m, place.n)),
                       {tiles.m, tiles.n});
    };
    Value result =
        broadcast_to(F()(sums, argument(x, static_cast<X *>(nullptr))...), {tiles.m, tiles.n});
    if constexpr (Rank == 2)
      c.tile({tiles.m, tiles.n})(place.m, place.n) = cast(c.dtype(), result);
    else
      c.tile({1, tiles.m, tiles.n})(place.batch, place.m, place.n) =
          expand_dims(cast(c.dtype(), result), 0);
  }
};

template <int Rank, class F, class... X>
void launchMatmul(CallSite site, std::span<const Operand> operands, MatmulTiles tiles,
                  Precision precision, const std::tuple<X...> &arguments) {
  static const auto program =
      kernel("matmul", MatmulProgram<Rank, F, X...>()).named(matmulParameters(sizeof...(X)));
  const Operand *next = operands.data() + 3;
  auto given = [&]<class Given>(const Given &argument) {
    if constexpr (std::is_arithmetic_v<Given>)
      return argument;
    else
      return *next++;
  };
  std::apply(
      [&](const X &...argument) {
        std::tuple folded{given(argument)...}; // braces: in order
        std::apply(
            [&](const auto &...x) {
              program.consts(tiles.m, tiles.n, tiles.k, static_cast<int>(precision))
                  .warps(tiles.warps)(site, operands[1], operands[2], operands[0], x...);
            },
            folded);
      },
      arguments);
}

template <class F, class... X>
void matmulWith(CallSite site, const Operand &a, const Operand &b, const Operand &c,
                const std::tuple<X...> &arguments, const MatmulOptions &options) {
  std::array<Operand, 3 + (size_t{0} + ... + (std::is_arithmetic_v<X> ? 0 : 1))> operands{c, a, b};
  size_t count = 3;
  auto add = [&]<class Given>(const Given &argument) {
    if constexpr (!std::is_arithmetic_v<Given>)
      operands[count++] = argument;
  };
  std::apply([&](const X &...argument) { (add(argument), ...); }, arguments);
  MatmulLaunch launch = foldForMatmul(operands, options, site);
  if (launch.isEmpty)
    return;
  forSlices(operands, kMostMatmulDims, [&](std::span<const Operand> slice) {
    if (slice[0].rank() == 2)
      launchMatmul<2, F>(site, slice, launch.tiles, options.precision, arguments);
    else
      launchMatmul<3, F>(site, slice, launch.tiles, options.precision, arguments);
  });
}

} // namespace detail

/// An epilogue with arguments besides the sums: tensors, which broadcast to c and reach the lambda as
/// tiles (16-bit floats as f32), and numbers, as in `map`:
///   ops::matmul(stream, a, b, c, ops::epilogue([](Value x, Value bias) { return gelu(x + bias); }, bias));
template <class F, class... X>
detail::Epilogue<F, detail::EpilogueArgument<X>...> epilogue(F, const X &...x) {
  static_assert(
      std::is_empty_v<F> && std::is_default_constructible_v<F>,
      "an epilogue is a lambda without captures: pass tensors and numbers as its arguments");
  return {{detail::EpilogueArgument<X>(x)...}};
}

/// c = epilogue(a b): c[.., m, n] = epilogue(sum over k of a[.., m, k] * b[.., k, n]).
///
/// `epilogue` is a lambda without captures from Value to Value, or one with arguments made by
/// `ops::epilogue`; it receives a tile of the sums, may use any elementwise operation of the
/// language, and its result is rounded to c's dtype:
///   ops::matmul(stream, a, b, c, [](Value x) { return gelu(x * 0.125f); });
///
/// Shapes: a is .. x M x K, b is .. x K x N, c is .. x M x N, for any M, N, K including 0 and 1; with
/// K = 0 the sums are 0. Dimensions before the last two are batches: those of a and b broadcast to
/// c's by NumPy's rule. Each may have any strides, so row-major and column-major (`t.T()`) are alike;
/// unit stride in one of the last two dimensions is what makes it fast. Batches that lie as one, or
/// with an unbatched b as one tall matrix, take one launch; else there is one for each index of the
/// outermost.
/// Dtypes: a and b are both f16, bf16, f32 or f64; c is f16, bf16, f32 or f64 (f16 overflows to
/// infinity). Sums are kept in f32, of f64 in f64. f32 operands: tf32x3 (the default; almost f32's
/// accuracy on tensor cores), tf32 (10 bits of mantissa), ieee (fused multiply-add, no tensor cores).
/// The order of summation is open, but fixed for given shapes, strides and options.
///
/// Errors (InvalidArgument, InvalidShape, WrongDevice, Aliasing), at the caller's line: a rank is
/// below 2, inner, outer or batch sizes do not fit, a dtype is not in the list, a tensor is of
/// another device, c overlaps a or b or repeats elements; an epilogue's tensor does not broadcast to
/// c, or overlaps it in another way than element for element.
template <class F = detail::NoEpilogue>
void matmul(const Stream &stream, const Operand &a, const Operand &b, const Operand &c, F = {},
            MatmulOptions options = {}, Loc loc = Loc::here()) {
  static_assert(std::is_empty_v<F> && std::is_default_constructible_v<F>,
                "matmul takes an epilogue lambda without captures: write numbers into it, or give "
                "arguments with ops::epilogue(lambda, tensors and numbers)");
  static_assert(std::is_invocable_r_v<Value, F, Value>,
                "matmul's epilogue takes a Value, the tile of sums, and returns a Value");
  detail::matmulWith<F>(CallSite(stream, loc), a, b, c, std::tuple(), options);
}
template <class F, class... X>
void matmul(const Stream &stream, const Operand &a, const Operand &b, const Operand &c,
            const detail::Epilogue<F, X...> &epilogue, MatmulOptions options = {},
            Loc loc = Loc::here()) {
  detail::matmulWith<F>(CallSite(stream, loc), a, b, c, epilogue.arguments, options);
}
/// The same in a new tensor of the stream, of a's dtype. Errors: those above.
Tensor matmul(const Stream &stream, const Operand &a, const Operand &b, MatmulOptions options = {},
              Loc loc = Loc::here());

/// y = x weight^T + bias, the layer of that name: y[.., o] = bias[o] + sum over i of x[.., i] * weight[o, i].
///
/// Shapes: x is .. x I, weight O x I, bias O or Operand() for none, y .. x O. Dtypes, precision and
/// errors: those of `matmul`.
void linear(const Stream &stream, const Operand &x, const Operand &weight, const Operand &bias,
            const Operand &y, MatmulOptions options = {}, Loc loc = Loc::here());
Tensor linear(const Stream &stream, const Operand &x, const Operand &weight,
              const Operand &bias = {}, MatmulOptions options = {}, Loc loc = Loc::here());

} // namespace tile::ops
