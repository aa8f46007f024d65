// Attention, forward: one program computes a tile of queries of one head and sweeps the keys once,
// with the running maximum and sum of an online softmax in base 2.
#include <tile/ops/Attention.h>

#include "ops/AlignedRows.h"
#include "ops/DotTarget.h"
#include "ops/NewTensor.h"
#include "ops/attention/AttentionProgram.h"
#include "ops/attention/AttentionWork.h"

#include <limits>

namespace tile::ops {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLn2 = 0.6931471805599453;

struct AttentionInputs {
  In<any, 4> q, k, v;
  Value scaleLog2E;
  /// Is the scale positive? Then the largest score is so before it is scaled too.
  bool isRising;
};

/// The weights of a row of scores, whose largest so far is known: exp2(slope * score - shift), one
/// fma and one exponential each.
struct RowExponents {
  /// `scale` is positive.
  RowExponents(Value largest, Value scale) {
    // All weights of the row share the rounding error of largest * scale as a factor. Where that is
    // more than they can bear, exponents of neighbouring scores are so far apart that the next
    // power of two does for the scale; it rounds nothing.
    Value powerOfTwo = bitcast(f32, (bitcast(i32, scale) + 0x7fffff) & 0x7f800000);
    slope = select(abs(largest) < 0x1p23f / scale, scale, powerOfTwo);
    scaled = largest * slope;
    shift = finite(scaled);
  }
  Value weights(Value scores) const {
    return exp2(fma(scores, expand_dims(slope, 1), -expand_dims(shift, 1)));
  }
  Value slope, scaled, shift;
};

/// `sums` and the weighted values of a tile of keys; these alone are summed in f16, if so.
Value withValues(const Value &weights, const Value &values, const Value &sums,
                 const AttentionPlan &plan) {
  if (!plan.sumsInF16)
    return dot(weights, values, sums, {.precision = plan.precision});
  return sums + cast(f32, dot(weights, values, {.accumulator = f16}));
}

/// Stores `out` and hands the row's logarithms of sums to `storeLse(batch, head, tile, lse)`.
template <class StoreLse>
void attentionProgram(const AttentionInputs &in, const Out<any, 4> &out, const AttentionPlan &plan,
                      bool causal, StoreLse storeLse) {
  const auto &[tiles, precision, sumsInF16] = plan;
  const auto &[q, k, v, scaleLog2E, isRising] = in;
  const int rows = tiles.queries, columns = tiles.keys, width = tiles.head;
  const int teamCount = tiles.teams(), ofBlock = rows * teamCount;
  flushWhereNarrow(q);
  for (int dim = 0; dim < 4;
       ++dim) // what checkAttention has seen, so that bounds are compared once
    assume(k.dim(dim) == v.dim(dim)), assume(q.dim(dim) == out.dim(dim));
  assume(q.dim(0) == k.dim(0)), assume(q.dim(3) == k.dim(3));
  Value queryCount = q.dim(2), keyCount = k.dim(2), blocks = cdiv(queryCount, ofBlock);
  AttentionGrid at = causal ? AttentionGrid(q.dim(0), q.dim(1), blocks,
                                            headsInCache(k.dtype(), keyCount, width, kHeadsAtOnce))
                            : AttentionGrid(q.dim(0), q.dim(1), blocks);
  // The last queries see most keys: they start first.
  Value block = causal ? blocks - 1 - at.tile : at.tile;
  // All teams go through the keys that one of them sees, so that they read the same.
  Value tile = teamCount > 1 ? block * teamCount + teams(teamCount) : block;
  Value head = at.head / (q.dim(1) / k.dim(1));
  Value queries = rowsOf(q, at.batch, at.head, tile, rows, width);
  Value scale = isRising ? scaleLog2E : full(f32, {}, 1.0f);
  auto largest = var(full(f32, {rows}, -kInfinity)), scaled = var(full(f32, {rows}, -kInfinity));
  auto total = var(zeros(f32, {rows}));
  auto sums = var(zeros(f32, {rows, width}));
  // Two stages if keys and values have a ring each; else three, or two where three do not fit
  // shared memory beside the queries.
  int withThree = (ofBlock + 6 * columns) * width * static_cast<int>(sizeOf(k.dtype()));
  Range keyTiles =
      range(keyTilesSeen(block, queryCount, keyCount, {ofBlock, columns, width, 0}, causal))
          .stages(tiles.overlaps() || withThree > target().shared_bytes ? 2 : 3);
  for (auto n : tiles.overlaps() ? keyTiles.overlap_dots().warp_specialize() : keyTiles) {
    Value keys = columnsOf(k, at.batch, head, n, columns, width);
    auto scores = var(dot(queries, keys, {.precision = precision}));
    if (!isRising)
      scores = scores * scaleLog2E;
    hideScores(scores, {tile * rows, n * columns, 1, queryCount, keyCount}, causal);
    Value now = max(largest, reduce_max(scores, 1));
    RowExponents exponents(now, scale);
    Value weights = exponents.weights(scores), fade = exp2(scaled - exponents.shift);
    total = total * fade + sum(weights, 1);
    sums = withValues(cast(v.dtype(), weights), rowsOf(v, at.batch, head, n, columns, width),
                      sums * expand_dims(fade, 1), plan);
    largest = now, scaled = exponents.scaled;
  }
  Value top = largest * scale, sawNothing = expand_dims((total == 0.0f) & (top == -kInfinity), 1);
  Value result =
      select(broadcast_to(sawNothing, {rows, width}), 0.0f, sums / expand_dims(total, 1));
  out.tile({1, 1, rows, width})(at.batch, at.head, tile, 0) =
      cast(out.dtype(), reshape(result, {1, 1, rows, width}));
  storeLse(at.batch, at.head, tile, (top + log2(total)) * static_cast<float>(kLn2));
}

// --- The kernels ---------------------------------------------------------------------------------

/// `Knobs` are the types of the parameters that follow from kAttentionKnobs.
template <class Knobs> struct AttentionKernel;
template <class... Knobs> struct AttentionKernel<detail::KnobParameters<Knobs...>> {
  void operator()(In<any, 4> q, In<any, 4> k, In<any, 4> v, Out<any, 4> out, Scalar<f32> scale,
                  Const Head, ConstOf<bool> causal, ConstOf<bool> rising,
                  ConstOf<Precision> precision, ConstOf<bool> f16sums, Knobs... knobs) const {
    auto tiles = detail::planOfConstants<AttentionTiles>(kAttentionKnobs, knobs...);
    tiles.head = Head;
    attentionProgram({q, k, v, scale, rising}, out, {tiles, precision, f16sums}, causal,
                     [](Value, Value, Value, Value) {});
  }
};

template <class Knobs> struct AttentionLseKernel;
template <class... Knobs> struct AttentionLseKernel<detail::KnobParameters<Knobs...>> {
  void operator()(In<any, 4> q, In<any, 4> k, In<any, 4> v, Out<any, 4> out, Out<f32, 3> lse,
                  Scalar<f32> scale, Const Head, ConstOf<bool> causal, ConstOf<bool> rising,
                  ConstOf<Precision> precision, ConstOf<bool> f16sums, Knobs... knobs) const {
    auto tiles = detail::planOfConstants<AttentionTiles>(kAttentionKnobs, knobs...);
    tiles.head = Head;
    attentionProgram({q, k, v, scale, rising}, out, {tiles, precision, f16sums}, causal,
                     [&](Value batch, Value head, Value tile, Value values) {
                       lse.tile({1, 1, tiles.queries})(batch, head, tile) =
                           reshape(values, {1, 1, tiles.queries});
                     });
  }
};

/// A kernel with these parameters before its constants; the tuner may choose what forwardPlan says
/// otherwise.
template <template <class> class Program>
auto tunedAttention(const char *name, std::vector<std::string> parameters) {
  parameters.insert(parameters.end(), {"Head", "causal", "rising", "precision", "f16sums"});
  return detail::tunable(kernel(name, Program<detail::ParametersOfKnobs<kAttentionKnobs>>())
                             .named(detail::withKnobNames(std::move(parameters), kAttentionKnobs)),
                         kAttentionKnobs)
      .unless(attentionObjection)
      .otherwise(attentionConfig)
      .work(attentionWork);
}

const auto attentionKernel =
    tunedAttention<AttentionKernel>("attention", {"q", "k", "v", "out", "scale"});
const auto attentionLseKernel =
    tunedAttention<AttentionLseKernel>("attention_lse", {"q", "k", "v", "out", "lse", "scale"});

/// Launches either kernel; `lse` is empty or lse.
template <class Kernel, class... Lse>
void launchAttention(CallSite site, const Kernel &kernel, const AttentionOptions &options,
                     const Operand &q, const Operand &k, const Operand &v, const Operand &out,
                     const Lse &...lse) {
  if (out.numel() == 0)
    return;
  bool sumsInF16 = options.accumulator == f16;
  AttentionPlan plan = forwardPlan({q.dtype(), q.extent(2), k.extent(2), q.extent(3),
                                    dotTarget(site.stream.device().target(), sumsInF16)},
                                   options.precision);
  AlignedInput queries(site, q), keys(site, k), values(site, v);
  AlignedOutput result(site, out);
  auto scale = static_cast<float>(attentionScale(q, options) * kLog2E);
  bool isRising = scale >= std::numeric_limits<float>::min(); // smaller ones are flushed to zero
  kernel.tuned()
      .with("Head", plan.tiles.head)
      .with("causal", options.causal)
      .with("rising", isRising)
      .with("precision", plan.precision)
      .with("f16sums", sumsInF16)(site, queries.rows(), keys.rows(), values.rows(), result.rows(),
                                  lse..., scale);
  result.finish(site);
}

} // namespace

void attention(const Stream &stream, const Operand &q, const Operand &k, const Operand &v,
               const Operand &out, const AttentionOptions &options, Loc loc) {
  Arguments arguments("attention", {stream, loc});
  Named names[] = {{"q", q}, {"k", k}, {"v", v}, {"out", out}};
  checkAttention(arguments, names[0], names[1], names[2], {names[3]}, {}, options);
  arguments.accessible({names[0], names[1], names[2], names[3]});
  arguments.outputsApart({names[3]}, {names[0], names[1], names[2]});
  launchAttention(CallSite(stream, loc), attentionKernel, options, q, k, v, out);
}

void attention(const Stream &stream, const Operand &q, const Operand &k, const Operand &v,
               const Operand &out, const Operand &lse, const AttentionOptions &options, Loc loc) {
  Arguments arguments("attention", {stream, loc});
  Named names[] = {{"q", q}, {"k", k}, {"v", v}, {"out", out}, {"lse", lse}};
  checkAttention(arguments, names[0], names[1], names[2], {names[3]}, {}, options);
  checkLse(arguments, names[4], names[0]);
  arguments.accessible({names[0], names[1], names[2], names[3], names[4]});
  arguments.outputsApart({names[3], names[4]}, {names[0], names[1], names[2]});
  launchAttention(CallSite(stream, loc), attentionLseKernel, options, q, k, v, out, lse);
}

Tensor attention(const Stream &stream, const Operand &q, const Operand &k, const Operand &v,
                 const AttentionOptions &options, Loc loc) {
  Tensor out = newLike(Arguments("attention", {stream, loc}), {"q", q}, q.dtype());
  attention(stream, q, k, v, out, options, loc);
  return out;
}

} // namespace tile::ops
