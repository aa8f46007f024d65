// Keys and values of sequences that grow, kept for generation: appending to them, and the attention
// of one new query a sequence.
//
//   ops::KvCache cache = {.k = keys, .v = values, .lengths = lengths};
//   // once a step, for all layers:
//   ops::map(stream, [](Value n) { return n + 1; }, lengths, lengths);
//   ops::kvCacheAppend(stream, k, v, cache);             // B x Hkv x 1 x D
//   ops::decodeAttention(stream, q, cache, out);         // B x Hq x D
#pragma once

#include <tile/Tensor.h>
#include <tile/Types.h>
#include <tile/ops/Operand.h>
#include <tile/tile.h>

#include <optional>

namespace tile::ops {

/// Where the keys and values of B sequences lie. As every operand, the tensors must live until the
/// call returns.
///
/// Contiguous, without a table: k and v are B x Hkv x Lmax x D; position j of sequence b is k[b, h,
/// j]. Paged: k and v are pages x Hkv x pageSize x D, pageSize a multiple of 16, and table is i32 B
/// x most pages; position j of sequence b is k[table[b, j / pageSize], h, j % pageSize]. Entries
/// outside 0 .. pages - 1 are pages that are not there. No two places may name one page that is
/// written. lengths, i32 of B on the device, counts the positions of each sequence, new ones
/// included. A negative one counts as 0, one beyond Lmax or most pages * pageSize as that.
/// k and v have any strides; unit stride in the last dimension and D a multiple of 8 make them
/// fast.
struct KvCache {
  Operand k, v, lengths;
  Operand table = {};
};

/// Writes k and v, B x Hkv x L x D, to the last L positions of each sequence: row i of sequence b
/// to position lengths[b] - L + i. Rows whose position is negative are dropped, so shorter ones of
/// a batch of prompts stand at the end; so are rows beyond the cache and of pages that are not
/// there. Nothing else is written; lengths stay.
///
/// Dtypes: k, v and the cache all of one dtype: f16, bf16 or f32. NaN: copied.
/// Method: one pass, a token of several heads a program. Any strides.
/// Errors (InvalidArgument, InvalidShape, WrongDevice, Aliasing), at the caller's line: a rank,
/// extent or dtype that is not as above, tensors of different devices, cache tensors that overlap
/// each other or an input, or repeat elements.
void kvCacheAppend(const Stream &stream, const Operand &k, const Operand &v, const KvCache &cache,
                   Loc loc = Loc::here());

struct DecodeOptions {
  /// What scores are multiplied with; 1 / sqrt(D) unless given.
  std::optional<float> scale = {};
  /// For f32 operands; 16-bit ones have only one.
  Precision precision = Precision::tf32x3;
};

/// out[b, h] = sum over positions j < lengths[b] of p[j] * v[b, h', j],
///   p[j] = exp(s[j]) / sum over k of exp(s[k]),  s[j] = scale * (q[b, h] . k[b, h', j]),
/// where h' = h / (Hq / Hkv): what `attention` gives for one query that sees all keys, but for the
/// order of sums. A sequence of length 0, or with no page, gives 0; keys of pages that are not
/// there have no weight. What the cache holds beyond the lengths is not read.
///
/// Shapes: q and out are B x Hq x D, Hq a multiple of Hkv, D from 1 to 256, all else any number
/// from 0 on. Any strides. Dtypes: q, out and the cache all f16, all bf16 or all f32; computed and
/// rounded as in `attention`: f32 in tf32x3 up to D = 96, tf32 up to D = 128, else ieee.
/// Method: a program takes up to 16 query heads of one key head and a part of the keys. If there
/// are few sequences and heads, the keys are split into up to 64 parts, by the cache's capacity
/// alone, whose results a second kernel combines: no atomics, the same bits on every call.
/// NaN: a score that is NaN or +infinity makes its row NaN; -infinity is a weight of 0. v must be
/// finite where p is 0.
/// Errors: as for `kvCacheAppend`; a number of heads or head dimension that is not as above.
void decodeAttention(const Stream &stream, const Operand &q, const KvCache &cache,
                     const Operand &out, const DecodeOptions &options = {}, Loc loc = Loc::here());
Tensor decodeAttention(const Stream &stream, const Operand &q, const KvCache &cache,
                       const DecodeOptions &options = {}, Loc loc = Loc::here());

} // namespace tile::ops
