// Scaled dot-product attention and its gradient, without the matrix of scores in memory.
#pragma once

#include <tile/Tensor.h>
#include <tile/Types.h>
#include <tile/ops/Operand.h>
#include <tile/tile.h>

#include <optional>

namespace tile::ops {

struct AttentionOptions {
  /// The factor that scores are multiplied by; 1 / sqrt(D) by default. Any number, negative ones
  /// and 0 too.
  std::optional<float> scale = {};
  /// Query i sees key j only if j - i <= Lk - Lq: the last query sees all keys, as when the queries
  /// are the newest positions of a sequence whose keys are kept. With Lq > Lk the first Lq - Lk
  /// queries see nothing.
  bool causal = false;
  /// For f32 operands; 16-bit ones have only one.
  Precision precision = Precision::tf32x3;
  /// For the gradient: the same bits each time. If false, one kernel with five dots instead of
  /// seven computes dq, dk and dv where there is one (16-bit operands, D up to 128, on sm_90a), and
  /// the order of summation of dq is open.
  bool deterministic = true;
  /// The accumulator of the dot of weights and values: `any` or f32; or f16, where v is f16. f16
  /// has twice the rate for that dot on GeForce cards (sm_86, sm_89, sm_120), no gain on others,
  /// and is slower on sm_90a, where only f32 accumulators use `wgmma`. Each tile of up to 192 keys
  /// is summed in f16, with an error of at most 24 * 2^-11 of the tile's sum of p |v|, most often
  /// below 2^-10, as the rounding of weights is; tiles are added in f32. With |v| above 340 a
  /// tile's sum may be infinity. Scores always have f32 accumulators, since their error would be
  /// one of the exponent, and since unscaled scores easily exceed 65504. So has the gradient.
  DType accumulator = any;
};

/// out[b, h, i] = sum over keys j of p[j] * v[b, h', j],
///   p[j] = exp(s[j]) / sum over k of exp(s[k]),  s[j] = scale * (q[b, h, i] . k[b, h', j]),
/// where h' = h / (Hq / Hkv): consecutive query heads share a head of k and v (grouped queries).
/// lse[b, h, i] = log(sum over k of exp(s[k])), the natural logarithm, which the gradient needs.
///
/// Shapes: q and out are B x Hq x Lq x D, k and v B x Hkv x Lk x D, lse B x Hq x Lq; Hq a multiple
/// of Hkv, D from 1 to 256, all else any number from 0 on. A query that sees no key (Lk = 0, or
/// causal) gives out 0 and lse -infinity. Any strides, so B x L x H x D memory is a `permute` away.
/// Dtypes: q, k, v and out all f16, all bf16 or all f32; lse f32. Scores, sums and the softmax are
/// f32, where 16-bit operands make 0 of numbers below 2^-126; 16-bit weights p are rounded to the
/// operands' dtype before the dot with v. f32 operands: tf32x3 (the default; almost f32's accuracy
/// on tensor cores) up to D = 96, tf32 up to D = 128, ieee (no tensor cores) otherwise and beyond.
/// Method: one pass over k and v for each tile of queries, with an online softmax in base 2; causal
/// programs skip the tiles that none of their queries sees. A q, k, v or out whose rows are not
/// contiguous, begin at no multiple of 16 bytes or have no multiple of 8 elements is copied to
/// (out: from) a temporary tensor of the stream whose rows do. The order of summation is fixed for
/// given shapes and options.
/// NaN: a score that is NaN or +infinity makes its row of out and lse NaN; -infinity is a weight
/// of 0. What k holds where causality hides it reaches no row. v must be finite: 0 * infinity is
/// NaN, so one that is not spoils the rows that see it and may spoil others.
///
/// Errors (InvalidArgument, InvalidShape, WrongDevice, Aliasing), at the caller's line: a rank,
/// dtype, extent, head dimension or number of heads that is not as above, tensors of different
/// devices, an output that overlaps another tensor or repeats elements.
void attention(const Stream &stream, const Operand &q, const Operand &k, const Operand &v,
               const Operand &out, const AttentionOptions &options = {}, Loc loc = Loc::here());
void attention(const Stream &stream, const Operand &q, const Operand &k, const Operand &v,
               const Operand &out, const Operand &lse, const AttentionOptions &options = {},
               Loc loc = Loc::here());
Tensor attention(const Stream &stream, const Operand &q, const Operand &k, const Operand &v,
                 const AttentionOptions &options = {}, Loc loc = Loc::here());

struct AttentionGradients {
  Tensor dq, dk, dv;
};

/// The gradients of sum(out * dout) by q, k and v, from what `attention` took and gave (out, lse,
/// the same options) and dout:
///   delta[i] = dout[i] . out[i],  ds[i, j] = p[i, j] * (dout[i] . v[j] - delta[i]),
///   dq[i] = scale * sum over j of ds[i, j] k[j],  dk[j] = scale * sum over i of ds[i, j] q[i],
///   dv[j] = sum over i of p[i, j] dout[i].
/// dk and dv also sum over the query heads of their group.
///
/// Shapes, dtypes and copies: as in `attention`; dout and dq are like q, dk like k, dv like v.
/// Queries that see no key have gradient 0, and so have keys that no query sees. 16-bit p and ds
/// are rounded to the operands' dtype before the last dot; f16 gradients overflow to infinity.
/// f32 operands: tf32 up to D = 64 if asked for, else ieee.
/// Method: scores are recomputed from lse. Three kernels: delta; dk and dv, one program per tile of
/// keys; dq, one program per tile of queries. No atomics: the same bits each time.
/// Unless `options.deterministic`, where there is such a kernel: delta; all three, one program per
/// tile of keys, which adds its part of dq to f32 sums by atomics; dq from these sums. The sums
/// take 4 bytes per element of q, its rows padded to a multiple of 128, its D to one of 16.
/// q, k, v and dout must be finite; what is not may spoil any gradient of its batch and head.
/// Errors: as for `attention`.
void attentionBackward(const Stream &stream, const Operand &q, const Operand &k, const Operand &v,
                       const Operand &out, const Operand &lse, const Operand &dout,
                       const Operand &dq, const Operand &dk, const Operand &dv,
                       const AttentionOptions &options = {}, Loc loc = Loc::here());
AttentionGradients attentionBackward(const Stream &stream, const Operand &q, const Operand &k,
                                     const Operand &v, const Operand &out, const Operand &lse,
                                     const Operand &dout, const AttentionOptions &options = {},
                                     Loc loc = Loc::here());

} // namespace tile::ops
