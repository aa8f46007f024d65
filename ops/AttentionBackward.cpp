// The gradient of attention: scores are computed again from the logarithms of their sums, once for
// each tile of keys (dk, dv) and once for each tile of queries (dq), so that nothing is shared.
#include <tile/ops/Attention.h>

#include "ops/AlignedRows.h"
#include "ops/AttentionProgram.h"
#include "ops/NewTensor.h"

#include <array>
#include <bit>
#include <limits>

namespace tile::ops {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// --- The kernels ---------------------------------------------------------------------------------

const auto deltaKernel =
    kernel("attention_delta", [](In<any, 4> out, In<any, 4> dout, Out<f32, 3> delta, Const Rows,
                                 Const Head) {
      int rows = Rows, width = Head;
      AttentionGrid at(out.dim(0), out.dim(1), cdiv(out.dim(2), rows));
      // Tiles keep all four dimensions, so that their sums have the shape of the tile of delta that they are stored in.
      auto rowsOfHead = [&](In<any, 4> x) {
        return cast(f32, x.tile({1, 1, rows, width})(at.batch, at.head, at.tile, 0));
      };
      delta.tile({1, 1, rows})(at.batch, at.head, at.tile) =
          sum(rowsOfHead(out) * rowsOfHead(dout), 3);
    }).named("out", "dout", "delta", "Rows", "Head");

/// Rows of a program of `delta`, 8 to 128: a few elements a thread.
int deltaRows(int width) {
  int rows = 128;
  while (rows > 8 && rows * width > 2048)
    rows /= 2;
  return rows;
}

struct GradientInputs {
  In<any, 4> q, k, v, dout;
  In<f32, 3> lse, delta;
  Value scale;
};

/// lse in base 2, infinity where there is no row or the row sees nothing: its weights become 0.
Value lseInBase2(const GradientInputs &in, Value batch, Value head, Value tile, int rows) {
  Value lse = in.lse.tile({1, 1, rows}).pad(kInfinity)(batch, head, tile);
  lse = reshape(lse, {rows});
  return select(lse == -kInfinity, kInfinity, lse * static_cast<float>(kLog2E));
}
Value deltaOf(const GradientInputs &in, Value batch, Value head, Value tile, int rows) {
  return reshape(in.delta.tile({1, 1, rows})(batch, head, tile), {rows});
}

void storeRows(const Out<any, 4> &y, Value batch, Value head, Value tile, Value sums,
               const AttentionTiles &tiles, int rows) {
  y.tile({1, 1, rows, tiles.head})(batch, head, tile, 0) =
      cast(y.dtype(), reshape(sums, {1, 1, rows, tiles.head}));
}

/// Multiply-adds of wide rows in f32 leave no register for copies that run ahead, nor for their places across the loop;
/// those of the copy engine take some more.
Range sweep(const Range &tiles, const GradientInputs &in, int head, Precision precision) {
  int widest = target().sm >= 90 ? 80 : 96;
  bool fillsRegisters = in.q.dtype() == f32 && precision == Precision::ieee && head > widest;
  return fillsRegisters ? tiles.stages(1).no_licm() : tiles.stages(2);
}

/// One tile of keys, swept by the queries that see it; scores are keys x queries.
void keyProgram(const GradientInputs &in, const Out<any, 4> &dk, const Out<any, 4> &dv,
                AttentionTiles tiles, bool causal, Precision precision) {
  const int rows = tiles.queries, columns = tiles.keys, width = tiles.head;
  const DotOptions how = {.precision = precision};
  flushWhereNarrow(in.q);
  Value queryCount = in.q.dim(2), keyCount = in.k.dim(2), group = in.q.dim(1) / in.k.dim(1);
  AttentionGrid at(in.k.dim(0), in.k.dim(1), cdiv(keyCount, columns));
  Value keys = rowsOf(in.k, at.batch, at.head, at.tile, columns, width);
  // Wide rows of v would fill the registers: they are loaded anew for each tile of queries.
  const bool isHeld = width <= 128;
  auto loadValues = [&] { return rowsOf(in.v, at.batch, at.head, at.tile, columns, width); };
  Value held = isHeld ? loadValues() : Value();
  Value first =
      causal ? max(at.tile * columns - (keyCount - queryCount), 0) / rows : zeros(i32, {});
  auto dkSums = var(zeros(f32, {columns, width})), dvSums = var(zeros(f32, {columns, width}));
  for (auto member : range(group)) {
    Value head = at.head * group + member;
    for (auto m : sweep(range(first, cdiv(queryCount, rows)), in, width, precision)) {
      Value lse = expand_dims(lseInBase2(in, at.batch, head, m, rows), 0);
      Value scores = dot(keys, columnsOf(in.q, at.batch, head, m, rows, width), how);
      auto exponents = var(fma(scores, in.scale * static_cast<float>(kLog2E), -lse));
      hideScores(exponents, {m * rows, at.tile * columns, 0, queryCount, keyCount}, causal);
      Value weights = exp2(exponents);
      dvSums = dot(cast(in.dout.dtype(), weights), rowsOf(in.dout, at.batch, head, m, rows, width),
                   dvSums, how);
      Value byWeight = dot(isHeld ? held : loadValues(),
                           columnsOf(in.dout, at.batch, head, m, rows, width), how);
      Value delta = expand_dims(deltaOf(in, at.batch, head, m, rows), 0);
      dkSums = dot(cast(in.q.dtype(), weights * (byWeight - delta)),
                   rowsOf(in.q, at.batch, head, m, rows, width), dkSums, how);
    }
  }
  storeRows(dk, at.batch, at.head, at.tile, dkSums * in.scale, tiles, columns);
  storeRows(dv, at.batch, at.head, at.tile, dvSums, tiles, columns);
}

/// One tile of queries, swept by the keys it sees.
void queryProgram(const GradientInputs &in, const Out<any, 4> &dq, AttentionTiles tiles,
                  bool causal, Precision precision) {
  const int rows = tiles.queries, columns = tiles.keys, width = tiles.head;
  const DotOptions how = {.precision = precision};
  flushWhereNarrow(in.q);
  Value queryCount = in.q.dim(2), keyCount = in.k.dim(2), queryTiles = cdiv(queryCount, rows);
  AttentionGrid at(in.q.dim(0), in.q.dim(1), queryTiles);
  Value tile = causal ? queryTiles - 1 - at.tile : at.tile;
  Value head = at.head / (in.q.dim(1) / in.k.dim(1));
  Value queries = rowsOf(in.q, at.batch, at.head, tile, rows, width);
  Value gradients = rowsOf(in.dout, at.batch, at.head, tile, rows, width);
  Value lse = expand_dims(lseInBase2(in, at.batch, at.head, tile, rows), 1);
  Value delta = expand_dims(deltaOf(in, at.batch, at.head, tile, rows), 1);
  auto sums = var(zeros(f32, {rows, width}));
  for (auto n : sweep(range(keyTilesSeen(tile, queryCount, keyCount, tiles, causal)), in, width,
                      precision)) {
    Value scores = dot(queries, columnsOf(in.k, at.batch, head, n, columns, width), how);
    Value exponents = fma(scores, in.scale * static_cast<float>(kLog2E), -lse);
    // No branch: with one, small heads lose the registers of a second program on a multiprocessor.
    Value weights =
        exp2(visibleScores(exponents, {tile * rows, n * columns, 1, queryCount, keyCount}, causal));
    Value byWeight = dot(gradients, columnsOf(in.v, at.batch, head, n, columns, width), how);
    sums = dot(cast(in.k.dtype(), weights * (byWeight - delta)),
               rowsOf(in.k, at.batch, head, n, columns, width), sums, how);
  }
  storeRows(dq, at.batch, at.head, tile, sums * in.scale, tiles, rows);
}

const auto keyKernel =
    kernel("attention_dkdv",
           [](In<any, 4> q, In<any, 4> k, In<any, 4> v, In<any, 4> dout, In<f32, 3> lse,
              In<f32, 3> delta, Out<any, 4> dk, Out<any, 4> dv, Scalar<f32> scale, Const Queries,
              Const Keys, Const Head, ConstOf<bool> causal, ConstOf<Precision> precision) {
             keyProgram({q, k, v, dout, lse, delta, scale}, dk, dv, {Queries, Keys, Head, 0},
                        causal, precision);
           })
        .named("q", "k", "v", "dout", "lse", "delta", "dk", "dv", "scale", "Queries", "Keys",
               "Head", "causal", "precision");

const auto queryKernel =
    kernel("attention_dq",
           [](In<any, 4> q, In<any, 4> k, In<any, 4> v, In<any, 4> dout, In<f32, 3> lse,
              In<f32, 3> delta, Out<any, 4> dq, Scalar<f32> scale, Const Queries, Const Keys,
              Const Head, ConstOf<bool> causal, ConstOf<Precision> precision) {
             queryProgram({q, k, v, dout, lse, delta, scale}, dq, {Queries, Keys, Head, 0}, causal,
                          precision);
           })
        .named("q", "k", "v", "dout", "lse", "delta", "dq", "scale", "Queries", "Keys", "Head",
               "causal", "precision");

// --- Launches ------------------------------------------------------------------------------------

struct GradientArguments {
  const Operand &q, &k, &v, &out, &lse, &dout, &dq, &dk, &dv;
};

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
  AttentionPlan plan = backwardPlan(in.q, options.precision);
  const AttentionTiles &tiles = plan.tiles;
  Precision how = plan.precision;
  Tensor delta = temporaryLike(site.stream, in.lse, f32);
  int width = static_cast<int>(std::bit_ceil(static_cast<uint64_t>(in.q.extent(3))));
  if (in.q.numel() != 0)
    deltaKernel.consts(deltaRows(width), width)(site, in.out, in.dout, delta);
  float scale = static_cast<float>(attentionScale(in.q, options));
  AlignedInput q(site, in.q), k(site, in.k), v(site, in.v), dout(site, in.dout);
  AlignedOutput dq(site, in.dq), dk(site, in.dk), dv(site, in.dv);
  if (in.k.numel() != 0)
    keyKernel.consts(tiles.queries, tiles.keys, tiles.head, options.causal, how)
        .warps(tiles.warps)(site, q.rows(), k.rows(), v.rows(), dout.rows(), in.lse, delta,
                            dk.rows(), dv.rows(), scale);
  if (in.q.numel() != 0)
    queryKernel.consts(tiles.queries, tiles.keys, tiles.head, options.causal, how)
        .warps(tiles.warps)(site, q.rows(), k.rows(), v.rows(), dout.rows(), in.lse, delta,
                            dq.rows(), scale);
  dq.finish(site), dk.finish(site), dv.finish(site);
}

} // namespace

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
