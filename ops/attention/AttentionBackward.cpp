// The gradient of attention: scores are recomputed from the logarithms of their sums. Either once
// per tile of keys (dk, dv) and once per tile of queries (dq), so that no two programs write to one
// place; or per tile of keys alone, where all programs of a head add to its dq.
#include <tile/ops/Arithmetic.h>
#include <tile/ops/Attention.h>

#include "ops/AlignedRows.h"
#include "ops/NewTensor.h"
#include "ops/attention/AttentionGradient.h"
#include "ops/attention/AttentionProgram.h"
#include "ops/attention/AttentionQuerySums.h"

#include <array>
#include <bit>
#include <limits>

namespace tile::ops {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// --- The kernels ---------------------------------------------------------------------------------

/// Two numbers per row. `shift` is added to its scores: minus the base-2 logarithm of the sum of
/// its weights, or minus infinity where there is no row or it sees nothing, so that its weights
/// become 0. `delta` is sum(out * dout). Both have rows for whole tiles of queries, so that tiles
/// of them need no masks and are copied to shared memory without passing through registers.
const auto rowsKernel =
    kernel("attention_gradient_rows", [](In<any, 4> out, In<any, 4> dout, In<f32, 3> lse,
                                         Out<f32, 3> shift, Out<f32, 3> delta, Const Rows,
                                         Const Head) {
      int rows = Rows, width = Head;
      AttentionGrid at(out.dim(0), out.dim(1), cdiv(delta.dim(2), rows));
      // Tiles keep all four dimensions, so that their sums have the shape of the tile of delta.
      auto rowsOfHead = [&](In<any, 4> x) {
        return cast(f32, x.tile({1, 1, rows, width})(at.batch, at.head, at.tile, 0));
      };
      delta.tile({1, 1, rows})(at.batch, at.head, at.tile) =
          sum(rowsOfHead(out) * rowsOfHead(dout), 3);
      Value sums = lse.tile({1, 1, rows}).pad(kInfinity)(at.batch, at.head, at.tile);
      shift.tile({1, 1, rows})(at.batch, at.head, at.tile) =
          select(sums == -kInfinity, -kInfinity, sums * static_cast<float>(-kLog2E));
    }).named("out", "dout", "lse", "shift", "delta", "Rows", "Head");

/// Rows of such a program, 8 to 128: a few elements a thread.
int rowsAtOnce(int width) {
  int rows = 128;
  while (rows > 8 && rows * width > 2048)
    rows /= 2;
  return rows;
}

struct GradientInputs {
  In<any, 4> q, k, v, dout;
  In<f32, 3> shift, delta;
  Value scale;
};

/// The part of `shift` or `delta` that belongs to a tile of queries.
Value partOf(const In<f32, 3> &x, Value batch, Value head, Value tile, int rows) {
  return reshape(x.tile({1, 1, rows})(batch, head, tile), {rows});
}

void storeRows(const Out<any, 4> &y, Value batch, Value head, Value tile, Value sums,
               const AttentionTiles &tiles, int rows) {
  y.tile({1, 1, rows, tiles.head})(batch, head, tile, 0) =
      cast(y.dtype(), reshape(sums, {1, 1, rows, tiles.head}));
}

/// The tiles of `kept`, each swept by tiles of the other side, which has so many rows.
AttentionGrid gridOf(const In<any, 4> &kept, Value tiles, Value rows, int width, bool causal) {
  if (!causal)
    return {kept.dim(0), kept.dim(1), tiles};
  return {kept.dim(0), kept.dim(1), tiles,
          headsInCache(kept.dtype(), rows, width, kGradientHeadsAtOnce)};
}

/// Multiply-adds of wide rows in f32 leave no register for copies that run ahead, nor for their
/// addresses across iterations; TMA takes some more.
Range sweep(const Range &tiles, const GradientInputs &in, const AttentionPlan &plan) {
  int widest = target().has_tma ? 80 : 96;
  bool fillsRegisters =
      in.q.dtype() == f32 && plan.precision == Precision::ieee && plan.tiles.head > widest;
  if (fillsRegisters)
    return tiles.stages(1).no_licm();
  return plan.tiles.overlaps() ? tiles.stages(2).warp_specialize() : tiles.stages(2);
}

/// One tile of keys, swept by the queries that see it; scores are keys x queries. The contribution
/// of its keys to dq is added to `dqSums` unless that is null.
void keyProgram(const GradientInputs &in, const Out<any, 4> &dk, const Out<any, 4> &dv,
                const AttentionPlan &plan, bool causal, const InOut<f32, 4> *dqSums = nullptr) {
  const int rows = plan.tiles.queries, columns = plan.tiles.keys, width = plan.tiles.head;
  const DotOptions how = {.precision = plan.precision};
  flushWhereNarrow(in.q);
  if (plan.tiles.overlaps()) // what checkAttention has seen, so that bounds are compared once
    for (int dim = 0; dim < 4; ++dim) {
      assume(in.k.dim(dim) == in.v.dim(dim)), assume(in.q.dim(dim) == in.dout.dim(dim));
      assume(in.k.dim(dim) == dk.dim(dim)), assume(in.k.dim(dim) == dv.dim(dim));
    }
  Value queryCount = in.q.dim(2), keyCount = in.k.dim(2), group = in.q.dim(1) / in.k.dim(1);
  AttentionGrid at = gridOf(in.k, cdiv(keyCount, columns), queryCount, width, causal);
  Value keys = rowsOf(in.k, at.batch, at.head, at.tile, columns, width);
  // Wide rows of v would fill the registers: they are loaded again for each tile of queries.
  const bool isHeld = width <= 128;
  auto loadValues = [&] { return rowsOf(in.v, at.batch, at.head, at.tile, columns, width); };
  Value held = isHeld ? loadValues() : Value();
  Value first =
      causal ? max(at.tile * columns - (keyCount - queryCount), 0) / rows : zeros(i32, {});
  // Dots are issued in the order of their accumulators. With dq, the dot of dv, whose weights are
  // ready before the slopes, is in flight while warps synchronize for that of dq; without it the
  // assembler needs fewer registers if the slopes, which are narrowed last, go first.
  Var sums[] = {var(zeros(f32, {columns, width})), var(zeros(f32, {columns, width}))};
  Var &dvSums = sums[dqSums ? 0 : 1], &dkSums = sums[dqSums ? 1 : 0];
  for (auto member : range(group)) {
    Value head = at.head * group + member;
    for (auto m : sweep(range(first, cdiv(queryCount, rows)), in, plan)) {
      auto multiplyByValues = [&] {
        return dot(isHeld ? held : loadValues(), columnsOf(in.dout, at.batch, head, m, rows, width),
                   how);
      };
      Value shift = expand_dims(partOf(in.shift, at.batch, head, m, rows), 0);
      Value scores = dot(keys, columnsOf(in.q, at.batch, head, m, rows, width), how);
      // With the scores' dot where two may be in flight together, else when registers are free.
      Value byWeight = plan.tiles.overlaps() ? multiplyByValues() : Value();
      auto exponents = var(fma(scores, in.scale * static_cast<float>(kLog2E), shift));
      hideScores(exponents, {m * rows, at.tile * columns, 0, queryCount, keyCount}, causal);
      Value weights = exp2(exponents);
      dvSums = dot(cast(in.dout.dtype(), weights), rowsOf(in.dout, at.batch, head, m, rows, width),
                   dvSums, how);
      if (!plan.tiles.overlaps())
        byWeight = multiplyByValues();
      Value delta = expand_dims(partOf(in.delta, at.batch, head, m, rows), 0);
      Value slopes = cast(in.q.dtype(), weights * (byWeight - delta));
      Value dq = dqSums ? dot(trans(slopes), keys, how) : Value();
      dkSums = dot(slopes, rowsOf(in.q, at.batch, head, m, rows, width), dkSums, how);
      if (dqSums)
        addToQuerySums(*dqSums, at.batch, head, m, dq);
    }
  }
  storeRows(dk, at.batch, at.head, at.tile, dkSums * in.scale, plan.tiles, columns);
  storeRows(dv, at.batch, at.head, at.tile, dvSums, plan.tiles, columns);
}

/// One tile of queries, swept by the keys it sees.
void queryProgram(const GradientInputs &in, const Out<any, 4> &dq, const AttentionPlan &plan,
                  bool causal) {
  const AttentionTiles &tiles = plan.tiles;
  const int rows = tiles.queries, columns = tiles.keys, width = tiles.head;
  const DotOptions how = {.precision = plan.precision};
  flushWhereNarrow(in.q);
  if (plan.tiles.overlaps())
    for (int dim = 0; dim < 4; ++dim) {
      assume(in.k.dim(dim) == in.v.dim(dim)), assume(in.q.dim(dim) == in.dout.dim(dim));
      assume(in.q.dim(dim) == dq.dim(dim));
    }
  Value queryCount = in.q.dim(2), keyCount = in.k.dim(2), queryTiles = cdiv(queryCount, rows);
  AttentionGrid at = gridOf(in.q, queryTiles, keyCount, width, causal);
  Value tile = causal ? queryTiles - 1 - at.tile : at.tile;
  Value head = at.head / (in.q.dim(1) / in.k.dim(1));
  Value queries = rowsOf(in.q, at.batch, at.head, tile, rows, width);
  Value gradients = rowsOf(in.dout, at.batch, at.head, tile, rows, width);
  Value shift = expand_dims(partOf(in.shift, at.batch, at.head, tile, rows), 1);
  Value delta = expand_dims(partOf(in.delta, at.batch, at.head, tile, rows), 1);
  auto sums = var(zeros(f32, {rows, width}));
  for (auto n : sweep(range(keyTilesSeen(tile, queryCount, keyCount, tiles, causal)), in, plan)) {
    auto multiplyByValues = [&] {
      return dot(gradients, columnsOf(in.v, at.batch, head, n, columns, width), how);
    };
    Value scores = dot(queries, columnsOf(in.k, at.batch, head, n, columns, width), how);
    Value byWeight = plan.tiles.overlaps() ? multiplyByValues() : Value();
    auto exponents = var(fma(scores, in.scale * static_cast<float>(kLog2E), shift));
    const ScoreTile place = {tile * rows, n * columns, 1, queryCount, keyCount};
    // With a branch, small heads lose the registers of a second program per multiprocessor, for
    // which warpgroups have none anyway.
    if (plan.tiles.overlaps())
      hideScores(exponents, place, causal);
    else
      exponents = visibleScores(exponents, place, causal);
    Value weights = exp2(exponents);
    if (!plan.tiles.overlaps())
      byWeight = multiplyByValues();
    sums = dot(cast(in.k.dtype(), weights * (byWeight - delta)),
               rowsOf(in.k, at.batch, head, n, columns, width), sums, how);
  }
  storeRows(dq, at.batch, at.head, tile, sums * in.scale, tiles, rows);
}

const auto keyKernel =
    kernel("attention_dkdv",
           [](In<any, 4> q, In<any, 4> k, In<any, 4> v, In<any, 4> dout, In<f32, 3> shift,
              In<f32, 3> delta, Out<any, 4> dk, Out<any, 4> dv, Scalar<f32> scale, Const Queries,
              Const Keys, Const Head, ConstOf<bool> causal, ConstOf<Precision> precision,
              ConstOf<AttentionSchedule> schedule) {
             keyProgram({q, k, v, dout, shift, delta, scale}, dk, dv,
                        {{Queries, Keys, Head, 0, schedule}, precision}, causal);
           })
        .named("q", "k", "v", "dout", "shift", "delta", "dk", "dv", "scale", "Queries", "Keys",
               "Head", "causal", "precision", "schedule");

const auto wholeKernel =
    kernel("attention_gradient",
           [](In<any, 4> q, In<any, 4> k, In<any, 4> v, In<any, 4> dout, In<f32, 3> shift,
              In<f32, 3> delta, InOut<f32, 4> dq, Out<any, 4> dk, Out<any, 4> dv, Scalar<f32> scale,
              Const Queries, Const Keys, Const Head, ConstOf<bool> causal) {
             keyProgram({q, k, v, dout, shift, delta, scale}, dk, dv,
                        {{Queries, Keys, Head, 0, AttentionSchedule::Overlapped}, Precision::ieee},
                        causal, &dq);
           })
        .named("q", "k", "v", "dout", "shift", "delta", "dq", "dk", "dv", "scale", "Queries",
               "Keys", "Head", "causal");

const auto queryKernel =
    kernel("attention_dq",
           [](In<any, 4> q, In<any, 4> k, In<any, 4> v, In<any, 4> dout, In<f32, 3> shift,
              In<f32, 3> delta, Out<any, 4> dq, Scalar<f32> scale, Const Queries, Const Keys,
              Const Head, ConstOf<bool> causal, ConstOf<Precision> precision,
              ConstOf<AttentionSchedule> schedule) {
             queryProgram({q, k, v, dout, shift, delta, scale}, dq,
                          {{Queries, Keys, Head, 0, schedule}, precision}, causal);
           })
        .named("q", "k", "v", "dout", "shift", "delta", "dq", "scale", "Queries", "Keys", "Head",
               "causal", "precision", "schedule");

// --- Launches ------------------------------------------------------------------------------------

} // namespace

void checkGradient(const Arguments &arguments, const GradientArguments &in,
                   const AttentionOptions &options) {
  std::array names = {Named{"q", in.q},     Named{"k", in.k},     Named{"v", in.v},
                      Named{"out", in.out}, Named{"lse", in.lse}, Named{"dout", in.dout},
                      Named{"dq", in.dq},   Named{"dk", in.dk},   Named{"dv", in.dv}};
  auto [q, k, v, out, lse, dout, dq, dk, dv] = names;
  checkAttention(arguments, q, k, v, {out, dout, dq}, {dk, dv}, options);
  checkLse(arguments, lse, q);
  arguments.accessible({q, k, v, out, lse, dout, dq, dk, dv});
  arguments.outputsApart({dq, dk, dv}, {q, k, v, out, lse, dout});
}

void launchGradient(CallSite site, const GradientArguments &in, const AttentionOptions &options) {
  auto [tiles, precision, sumsInF16] =
      backwardPlan({in.q.dtype(), in.q.extent(2), in.k.extent(2), in.q.extent(3),
                    target_info(site.stream.device().target())},
                   options.precision);
  Extents rows(in.lse);
  rows[2] = (rows[2] + kMostQueries - 1) / kMostQueries * kMostQueries;
  Tensor shift = site.stream.tensor(f32, rows.span()), delta = site.stream.tensor(f32, rows.span());
  int width = static_cast<int>(std::bit_ceil(static_cast<uint64_t>(in.q.extent(3))));
  if (in.q.numel() != 0)
    rowsKernel.consts(rowsAtOnce(width), width)(site, in.out, in.dout, in.lse, shift, delta);
  float scale = static_cast<float>(attentionScale(in.q, options));
  bool isWhole =
      tiles.overlaps() && !options.deterministic && in.q.numel() != 0 && in.k.numel() != 0;
  AlignedInput q(site, in.q), k(site, in.k), v(site, in.v), dout(site, in.dout);
  AlignedOutput dq(site, in.dq), dk(site, in.dk), dv(site, in.dv);
  if (isWhole) {
    Tensor sums = newQuerySums(site, in.q, kMostQueries, tiles.head);
    wholeKernel.consts(tiles.queries, tiles.keys, tiles.head, options.causal)
        .warps(tiles.warps)(site, q.rows(), k.rows(), v.rows(), dout.rows(), shift, delta, sums,
                            dk.rows(), dv.rows(), scale);
    storeQuerySums(site, sums, dq.rows(), scale);
  }
  if (in.k.numel() != 0 && !isWhole)
    keyKernel
        .consts(tiles.queries, tiles.keys, tiles.head, options.causal, precision, tiles.schedule)
        .warps(tiles.warps)(site, q.rows(), k.rows(), v.rows(), dout.rows(), shift, delta,
                            dk.rows(), dv.rows(), scale);
  if (in.q.numel() != 0 && !isWhole)
    queryKernel
        .consts(tiles.keys, tiles.queries, tiles.head, options.causal, precision, tiles.schedule)
        .warps(tiles.warps)(site, q.rows(), k.rows(), v.rows(), dout.rows(), shift, delta,
                            dq.rows(), scale);
  dq.finish(site), dk.finish(site), dv.finish(site);
}

KernelRequest gradientRequest(const AttentionPlan &plan, const AttentionOptions &options,
                              bool isOfQueries, const HostArg &q, const HostArg &k) {
  const AttentionTiles &tiles = plan.tiles;
  int64_t rows = (q.extents[2] + kMostQueries - 1) / kMostQueries * kMostQueries;
  HostArg perRow = exampleView(f32, {q.extents[0], q.extents[1], rows}), scale = exampleScalar(f32);
  if (tiles.overlaps() && !options.deterministic) {
    auto sums = extentsOfQuerySums(q.extents[0], q.extents[1], rows, tiles.head);
    return {
        wholeKernel.consts(tiles.queries, tiles.keys, tiles.head, options.causal)
            .warps(tiles.warps),
        {q, k, k, q, perRow, perRow, exampleView(f32, {sums.begin(), sums.end()}), k, k, scale}};
  }
  if (isOfQueries)
    return {queryKernel
                .consts(tiles.keys, tiles.queries, tiles.head, options.causal, plan.precision,
                        tiles.schedule)
                .warps(tiles.warps),
            {q, k, k, q, perRow, perRow, q, scale}};
  return {keyKernel
              .consts(tiles.queries, tiles.keys, tiles.head, options.causal, plan.precision,
                      tiles.schedule)
              .warps(tiles.warps),
          {q, k, k, q, perRow, perRow, k, k, scale}};
}

void attentionBackward(const Stream &stream, const Operand &q, const Operand &k, const Operand &v,
                       const Operand &out, const Operand &lse, const Operand &dout,
                       const Operand &dq, const Operand &dk, const Operand &dv,
                       const AttentionOptions &options, Loc loc) {
  GradientArguments in = {q, k, v, out, lse, dout, dq, dk, dv};
  checkGradient(Arguments("attentionBackward", {stream, loc}), in, options);
  launchGradient(CallSite(stream, loc), in, options);
}

AttentionGradients attentionBackward(const Stream &stream, const Operand &q, const Operand &k,
                                     const Operand &v, const Operand &out, const Operand &lse,
                                     const Operand &dout, const AttentionOptions &options,
                                     Loc loc) {
  Arguments arguments("attentionBackward", {stream, loc});
  AttentionGradients gradients = {newLike(arguments, {"q", q}, q.dtype()),
                                  newLike(arguments, {"k", k}, k.dtype()),
                                  newLike(arguments, {"v", v}, v.dtype())};
  attentionBackward(stream, q, k, v, out, lse, dout, gradients.dq, gradients.dk, gradients.dv,
                    options, loc);
  return gradients;
}

} // namespace tile::ops
