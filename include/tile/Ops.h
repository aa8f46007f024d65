// The operations of the language, by topic. Each takes Values, Vars and host numbers, and ends with
// the caller's line.
//
// Unless stated otherwise: operands promote and broadcast as described in Value.h; the result has
// the common dtype and shape; axes may be negative and count from the end; an error is a
// tile::Error at the user's line, while tracing.
#pragma once

#include <tile/Reduce.h>
#include <tile/View.h>

#include <utility>

namespace tile {

// --- Creation ------------------------------------------------------------------------------------

/// A tile of zeros (a scalar for `{}`). Errors: extents below 1, more than 2^20 elements.
Value zeros(DType dtype, const Shape &shape, Loc loc = Loc::here());
/// Zeros of another value's dtype and shape.
Value zeros_like(Arg like, Loc loc = Loc::here());
/// A tile filled with a scalar or host number, which must fit `dtype` (run-time scalars are cast).
Value full(DType dtype, const Shape &shape, Arg fill, Loc loc = Loc::here());
/// A scalar repeated over a shape, in its own dtype.
Value splat(Arg scalar, const Shape &shape, Loc loc = Loc::here());
/// The i32 tile lo, lo + 1, ..., hi - 1. Error: hi <= lo.
Value arange(int lo, int hi, Loc loc = Loc::here());
/// 0 .. n-1.
Value arange(int n, Loc loc = Loc::here());
/// The index of each element along one dimension of a shape: an i32 tile of that shape.
Value index(int dim, const Shape &shape, Loc loc = Loc::here());
/// The same for a list; it takes precedence over the `index` that the C library declares.
template <HostInt T> Value index(int dim, std::initializer_list<T> extents, Loc loc = Loc::here()) {
  Shape shape;
  for (T extent : extents)
    shape.append(static_cast<int64_t>(extent));
  return index(dim, shape, loc);
}

// --- Element types -------------------------------------------------------------------------------

/// How a float becomes a narrower one: to nearest, ties to even; toward zero.
enum class Round : uint8_t { rtne, rtz };

/// Converts values to another element type. Float to float rounds to nearest even; f16 and bf16
/// overflow to infinity, e4m3 and e5m2 saturate (infinities become the largest number, 448 or
/// 57344); NaN stays NaN. Float to integer truncates and saturates, and NaN gives 0. Integers
/// narrow by truncation and widen by their signedness. To i1 is x != 0 (NaN is true).
Value cast(DType dtype, Arg x, Loc loc = Loc::here());
/// The same between floats with a rounding mode. Toward zero overflows to the largest number;
/// infinities stay in f16 and bf16. Error: rtz from or to an integer.
Value cast(DType dtype, Arg x, Round round, Loc loc = Loc::here());
/// The same bits as another element type. Error: another width.
Value bitcast(DType dtype, Arg x, Loc loc = Loc::here());

// --- Elementwise ---------------------------------------------------------------------------------
// Math functions take floats; those below 32 bits are computed in f32 and rounded back. On f32 most
// are the machine's fast approximations. `precise::` and all f64 functions come from a library
// (libclc), as accurate as OpenCL requires: at most 3 ulp for exp, exp2, log, log2, log10, expm1; 2
// for log1p, rsqrt; 4 for sin, cos; 5 for tan, tanh; 16 for erf, pow. Operators are in Value.h; `%`
// of floats is exact, with the sign of the dividend.

/// e to the power x; on f32 below 2^-126 it is 0.
Value exp(Arg x, Loc loc = Loc::here());
/// 2 to the power x; on f32 below 2^-126 it is 0.
Value exp2(Arg x, Loc loc = Loc::here());
/// The natural logarithm; NaN below zero.
Value log(Arg x, Loc loc = Loc::here());
/// The logarithm to base 2.
Value log2(Arg x, Loc loc = Loc::here());
/// The logarithm to base 10.
Value log10(Arg x, Loc loc = Loc::here());
/// log(1 + x), accurate near zero: from the library on f32 too.
Value log1p(Arg x, Loc loc = Loc::here());
/// exp(x) - 1, accurate near zero: from the library on f32 too.
Value expm1(Arg x, Loc loc = Loc::here());
/// x to the power y, from the library on f32 too. Special cases as in C.
Value pow(Arg x, Arg y, Loc loc = Loc::here());
/// The square root; NaN below zero.
Value sqrt(Arg x, Loc loc = Loc::here());
/// The square root, correctly rounded.
Value sqrt_rn(Arg x, Loc loc = Loc::here());
/// 1 / sqrt(x)
Value rsqrt(Arg x, Loc loc = Loc::here());
/// 1 / x; for floats narrower than f64 an f32 division, rounded back.
Value rcp(Arg x, Loc loc = Loc::here());
/// The quotient, correctly rounded.
Value div_rn(Arg a, Arg b, Loc loc = Loc::here());
/// The sine of x in radians; on f32 the error grows with |x|.
Value sin(Arg x, Loc loc = Loc::here());
/// The cosine of x in radians; on f32 the error grows with |x|.
Value cos(Arg x, Loc loc = Loc::here());
/// sin(x) / cos(x); on f32 with their errors divided by cos(x).
Value tan(Arg x, Loc loc = Loc::here());
/// The hyperbolic tangent; on f32 with a relative error of up to 2^-11.
Value tanh(Arg x, Loc loc = Loc::here());
/// The error function; on f32 with an absolute error of up to 4e-7.
Value erf(Arg x, Loc loc = Loc::here());
/// The next integer toward zero.
Value trunc(Arg x, Loc loc = Loc::here());
/// The nearest integer, halves away from zero.
Value round(Arg x, Loc loc = Loc::here());
/// The largest integer that is not above x.
Value floor(Arg x, Loc loc = Loc::here());
/// The smallest integer that is not below x.
Value ceil(Arg x, Loc loc = Loc::here());
/// 1 / (1 + exp(-x))
Value sigmoid(Arg x, Loc loc = Loc::here());
/// max(x, 0)
Value relu(Arg x, Loc loc = Loc::here());
/// x * (1 + erf(x / sqrt 2)) / 2; -inf gives NaN, where ops::gelu gives -0.
Value gelu(Arg x, Loc loc = Loc::here());
/// x * sigmoid(x); -inf gives NaN, where ops::silu gives -0.
Value silu(Arg x, Loc loc = Loc::here());
/// a * b + c for floats, rounded once (f16 and bf16: to f32, then to their dtype).
Value fma(Arg a, Arg b, Arg c, Loc loc = Loc::here());
/// The upper half of a product of 32- or 64-bit integers: signed, or unsigned if the common dtype
/// is.
Value mulhi(Arg a, Arg b, Loc loc = Loc::here());
/// The number of bits set in an integer, in its own dtype.
Value popcount(Arg x, Loc loc = Loc::here());
/// The number of leading zero bits of an integer, in its own dtype; 0 has only leading zeros.
Value clz(Arg x, Loc loc = Loc::here());
/// The number of trailing zero bits of an integer, in its own dtype; 0 has only trailing zeros.
Value ctz(Arg x, Loc loc = Loc::here());
/// The bits of an integer in the opposite order.
Value reverse_bits(Arg x, Loc loc = Loc::here());
/// |x| for floats and signed integers (the smallest integer stays itself).
Value abs(Arg x, Loc loc = Loc::here());
/// The smaller operand; a NaN operand is ignored.
Value min(Arg a, Arg b, Loc loc = Loc::here());
/// The larger operand; a NaN operand is ignored.
Value max(Arg a, Arg b, Loc loc = Loc::here());
/// The smaller operand; a NaN operand gives NaN.
Value min_nan(Arg a, Arg b, Loc loc = Loc::here());
/// The larger operand; a NaN operand gives NaN.
Value max_nan(Arg a, Arg b, Loc loc = Loc::here());
/// min(max(x, lo), hi): a NaN x gives lo. Undefined for lo > hi and NaN bounds.
Value clamp(Arg x, Arg lo, Arg hi, Loc loc = Loc::here());
/// The same, but a NaN x gives NaN.
Value clamp_nan(Arg x, Arg lo, Arg hi, Loc loc = Loc::here());
/// `a` where `condition` (i1) holds, else `b`; both sides are evaluated. Pointers are allowed.
Value select(Arg condition, Arg a, Arg b, Loc loc = Loc::here());
/// (x + d - 1) / d for positive integers; an int for host integers. Error: a float, a constant d
/// below 1.
Value cdiv(Arg x, Arg d, Loc loc = Loc::here());
/// The quotient of integers rounded down. Division by zero gives any number. Errors: floats, mixed
/// signedness.
Value floor_div(Arg x, Arg d, Loc loc = Loc::here());
/// x - d * floor_div(x, d): it has the divisor's sign. Errors: floats, mixed signedness.
Value floor_mod(Arg x, Arg d, Loc loc = Loc::here());
/// Whether x is NaN: i1.
Value isnan(Arg x, Loc loc = Loc::here());
/// Whether x is an infinity: i1.
Value isinf(Arg x, Loc loc = Loc::here());

/// The functions above, in full accuracy on f32 as well.
namespace precise {
Value exp(Arg x, Loc loc = Loc::here());
Value exp2(Arg x, Loc loc = Loc::here());
Value log(Arg x, Loc loc = Loc::here());
Value log2(Arg x, Loc loc = Loc::here());
Value log10(Arg x, Loc loc = Loc::here());
Value log1p(Arg x, Loc loc = Loc::here());
Value expm1(Arg x, Loc loc = Loc::here());
Value rsqrt(Arg x, Loc loc = Loc::here());
Value sin(Arg x, Loc loc = Loc::here());
Value cos(Arg x, Loc loc = Loc::here());
Value tan(Arg x, Loc loc = Loc::here());
Value tanh(Arg x, Loc loc = Loc::here());
Value erf(Arg x, Loc loc = Loc::here());
} // namespace precise

template <HostInt A, HostInt B> constexpr int cdiv(A x, B d) {
  return (static_cast<int>(x) + static_cast<int>(d) - 1) / static_cast<int>(d);
}
template <HostInt A, HostInt B> constexpr int min(A a, B b) {
  return static_cast<int>(a) < static_cast<int>(b) ? static_cast<int>(a) : static_cast<int>(b);
}
template <HostInt A, HostInt B> constexpr int max(A a, B b) {
  return static_cast<int>(a) < static_cast<int>(b) ? static_cast<int>(b) : static_cast<int>(a);
}

// --- Shape ---------------------------------------------------------------------------------------

/// The same elements in row-major order. Errors: another number of elements; an odd factor of an
/// extent (5 in 80 = 16 * 5) that would not stay the outermost part of a dimension.
Value reshape(Arg x, const Shape &shape, Loc loc = Loc::here());
/// The same elements in one dimension.
Value ravel(Arg x, Loc loc = Loc::here());
/// Removes a dimension of extent 1. Error: another extent, or the only dimension.
Value squeeze(Arg x, int axis, Loc loc = Loc::here());
/// Dimension i of the result is dimension order[i] of x. Error: not a permutation of all
/// dimensions.
Value permute(Arg x, std::initializer_list<int> order, Loc loc = Loc::here());
/// The last two dimensions exchanged. Error: rank below 2.
Value trans(Arg x, Loc loc = Loc::here());
/// Inserts a dimension of extent 1 before `axis`.
Value expand_dims(Arg x, int axis, Loc loc = Loc::here());
/// Grows dimensions of extent 1; a scalar fills the shape. Errors: ranks differ, another extent
/// would change.
Value broadcast_to(Arg x, const Shape &shape, Loc loc = Loc::here());

/// The only element of a tile, as a scalar (pointers too). Error: more elements.
Value item(Arg x, Loc loc = Loc::here());
/// a and b side by side along a new last dimension of extent 2; two scalars give a tile of shape
/// [2].
Value join(Arg a, Arg b, Loc loc = Loc::here());
/// The inverse of join: x[..., 0] and x[..., 1]. Error: the last dimension has another extent.
///   auto [even, odd] = split(reshape(x, {n / 2, 2}));
std::pair<Value, Value> split(Arg x, Loc loc = Loc::here());
/// a followed by b along a dimension. Errors: shapes differ, the extent along `dim` is no power of
/// two.
Value cat(Arg a, Arg b, int dim = 0, Loc loc = Loc::here());
/// a[..., 0], b[..., 0], a[..., 1], b[..., 1], ... along the last dimension.
Value interleave(Arg a, Arg b, Loc loc = Loc::here());
/// x read backwards along a dimension.
Value flip(Arg x, int dim, Loc loc = Loc::here());

/// result[.., i, ..] = source[.., indices[.., i, ..], ..] along `axis`: picks elements inside a
/// tile. The result has the indices' shape. Errors: extents beside the axis differ, indices of
/// another rank, floats or wider than 32 bits. An index outside the axis picks any element.
Value gather(Arg source, Arg indices, int axis, Loc loc = Loc::here());
/// How often each of 0, 1, ... bins - 1 occurs in a tile of one dimension, where `mask` (i1) holds:
/// i32. Other numbers are ignored. Errors: another rank, floats, integers wider than 32 bits.
Value histogram(Arg x, int bins, Arg mask, Loc loc = Loc::here());
Value histogram(Arg x, int bins, Loc loc = Loc::here());

// --- Matrix product ------------------------------------------------------------------------------

/// How an f32 dot is computed. `ieee` uses fused multiply-add in f32. The others use the tensor
/// core: `tf32` rounds operands to 10 bits of mantissa; `tf32x3` splits each operand into two tf32
/// parts and adds two correction products (about 2^-20 relative); `bf16x3` splits into two bf16
/// parts (about 2^-15), `bf16x6` into three, with five corrections (about 2^-22).
enum class Precision : uint8_t { ieee, tf32, tf32x3, bf16x3, bf16x6 };

/// The instructions that compute a dot: `wgmma`, by a warpgroup on operands in shared memory
/// (sm_90a); `mma_sync`, by a warp; or `fma`, fused multiply-adds by each thread. `any` takes the
/// first of these that is possible. Any other value is an error, with the reason, if that variant
/// is not possible.
enum class Mma : uint8_t { any, mma_sync = 4, fma = 5, wgmma = 6 };

struct DotOptions {
  Precision precision = Precision::tf32x3;
  Mma variant = Mma::any;
  /// For e4m3 and e5m2 with `wgmma`, whose accumulators have 13 bits: keeps all of K in them,
  /// instead of adding them to f32 accumulators after every 128 of K. This is faster, and less
  /// exact the larger K is: sums of positive products are 3 % too small at K = 2048, 7 % at 4096,
  /// 13 % at 8192.
  bool fast_accumulation = false;
  /// The dtype of the accumulator, and so of acc and the result. `any` is acc's dtype; without acc,
  /// f32, f64 or i32. f16 (only for f16, e4m3 and e5m2 operands) takes half the registers, and has
  /// twice the rate on GeForce cards (sm_86, sm_89, sm_120). The tensor core rounds the accumulator
  /// to f16 after every 16 of K (8 on some cards), by up to 2^-11 of it each time. The error is at
  /// most K / 8 * 2^-11 of the sum of |a| |b|, most often about the square root of K / 8 times
  /// 2^-11 of the sum. An accumulator above 65504 is infinity.
  DType accumulator = any;
};

/// a (MxK) times b (KxN) plus acc (MxN). All three may have a leading batch dimension, over which
/// each matrix is multiplied separately. a and b have one dtype: f16 (acc f32 or f16), bf16 or f32
/// (acc f32), f64 (acc f64), i8 or u8 (acc i32, which wraps); or each is e4m3 or e5m2 (acc f32 or
/// f16). Before sm_89, and for an f16 acc, e4m3 and e5m2 are widened to f16. sm_89 truncates
/// products 13 bits below the largest of 32, `wgmma` on sm_90a below the largest of 128, whose sums
/// are added in f32 unless the options set `fast_accumulation`. M and N are free; sizes that are no
/// multiple of the tensor core's are padded with zeros. Errors: batches or inner sizes differ,
/// operands of two dtypes (i8 with u8 too), acc of another shape or dtype, an `accumulator` other
/// than acc's dtype or not possible for the operands, K below 32 (8 bit), 16 (16 bit), 8 (f32), 4
/// (f64).
Value dot(Arg a, Arg b, Arg acc, DotOptions options = {}, Loc loc = Loc::here());
/// The same without acc: the result is f32, f64 or i32, or f16 if the options' `accumulator` is.
Value dot(Arg a, Arg b, DotOptions options = {}, Loc loc = Loc::here());

// --- Memory through pointers ---------------------------------------------------------------------
// Pointers come from `view.ptr()`, and pointer + integer tile is a pointer tile; offsets count
// elements. Views are safer.

/// Loads through a pointer or pointer tile. Where `mask` (i1) is false nothing is read and the
/// result is `other`.
Value load(Arg pointer, Arg mask, Arg other, AccessOptions options = {}, Loc loc = Loc::here());
/// The same; masked-out elements are undefined.
Value load(Arg pointer, Arg mask, AccessOptions options = {}, Loc loc = Loc::here());
Value load(Arg pointer, AccessOptions options = {}, Loc loc = Loc::here());
/// Stores `value`, of the pointee's dtype, where `mask` holds. If two lanes have one address, one
/// of them wins.
void store(Arg pointer, Arg value, Arg mask, AccessOptions options = {}, Loc loc = Loc::here());
void store(Arg pointer, Arg value, AccessOptions options = {}, Loc loc = Loc::here());
/// Prefetches what the pointers point at, where `mask` (i1) holds, into the L1 or L2 cache
/// (`level` 1 or 2) without waiting; it never faults. Errors: another level.
void prefetch(Arg pointer, Arg mask, int level = 2, Loc loc = Loc::here());
void prefetch(Arg pointer, int level = 2, Loc loc = Loc::here());

// --- Host-side questions -------------------------------------------------------------------------

/// What the kernel is being compiled for; plain C++ `if` on it specialises.
struct TargetInfo {
  int sm = 80;                       ///< 80, 86, 89, 90
  int64_t shared_bytes = 163 * 1024; ///< shared memory one program may use
  bool has_float8 = false;           ///< tensor cores multiply e4m3 and e5m2
  bool has_clusters = false;         ///< blocks that read each other's shared memory
  bool has_tma = false;              ///< TMA copies tiles between global and shared memory
  bool has_wgmma = false;            ///< MMAs of warpgroups, with operands in shared memory
  int multiprocessors = 108;         ///< of the target's reference card; a launch's GPU may differ
};
/// The target of the kernel being traced. Error: no kernel is being traced.
TargetInfo target();
/// The target that code for a GPU of this name (`Device::target()`, "sm_86") is compiled for: its
/// own, or the nearest older one whose code it runs.
TargetInfo target_info(std::string_view gpu);
/// Throws a tile::Error with `message` at the caller's line unless `condition` holds: for checks of
/// constants.
void require(bool condition, const char *message, Loc loc = Loc::here());

} // namespace tile
