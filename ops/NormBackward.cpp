// Gradients of layernorm and rmsnorm. Short rows: one kernel for dx and for partial sums of dweight and dbias; long rows:
// one that sweeps each row for dx, and one that walks down blocks of columns for the partial sums.
#include <tile/ops/Norm.h>

#include "ops/Arguments.h"
#include "ops/Rows.h"

#include <algorithm>
#include <array>

namespace tile::ops {

namespace {

// --- The kernels ---------------------------------------------------------------------------------

/// Rows of less than this many elements share a tile.
constexpr int kTileElements = 4096;

enum Option : int { Centred = 1, HasWeight = 2, HasDweight = 4, HasDbias = 8 };

/// The inputs of all three kernels.
struct Inputs {
  In<any, 2> dy, x;
  In<any, 1> weight;
  In<f32, 1> mean, rstd;
  int options, rows, columns;

  Value statistic(const In<f32, 1> &vector, Value r) const {
    return reshape(vector.tile({rows})(r), {rows, 1});
  }
  Value gradient(Value r, const Arg &k) const { return cast(f32, dy.tile({rows, columns})(r, k)); }
  /// Beside the tensor dy is zero, and with it all that is made of this.
  Value normalised(Value r, const Arg &k, Value rowRstd) const {
    Value part = cast(f32, x.tile({rows, columns})(r, k));
    return (options & Centred ? part - statistic(mean, r) : part) * rowRstd;
  }
  Value weighted(Value gradient, std::optional<Value> w) const {
    return w ? gradient * *w : gradient;
  }
  std::optional<Value> weights(const Arg &k) const {
    if (!(options & HasWeight))
      return {};
    return expand_dims(cast(f32, weight.tile({columns})(k)), 0);
  }
  /// From the sums of g and of g * h along the rows.
  Value inputGradient(Value g, Value h, Value sumG, Value sumGH, Value rowRstd) const {
    Value count = cast(f32, x.dim(1));
    Value rest = g - h * div_rn(sumGH, count);
    return (options & Centred ? rest - div_rn(sumG, count) : rest) * rowRstd;
  }
};

/// dweight and dbias of the rows that one program sees.
class Partials {
public:
  Partials(const Inputs &in)
      : in_(in), dweight_(var(zeros(f32, {in.rows, in.columns}))),
        dbias_(var(zeros(f32, {in.rows, in.columns}))) {}
  void add(Value gradient, Value h) {
    if (in_.options & HasDweight)
      dweight_ = dweight_ + gradient * h;
    if (in_.options & HasDbias)
      dbias_ = dbias_ + gradient;
  }
  void store(const Out<f32, 2> &dweight, const Out<f32, 2> &dbias, Value program,
             const Arg &k) const {
    if (in_.options & HasDweight)
      dweight.tile({1, in_.columns})(program, k) = sum(dweight_, 0, {.keep_dims = true});
    if (in_.options & HasDbias)
      dbias.tile({1, in_.columns})(program, k) = sum(dbias_, 0, {.keep_dims = true});
  }

private:
  const Inputs &in_;
  Var dweight_, dbias_;
};

const auto backwardShort =
    kernel("norm_backward",
           [](In<any, 2> dy, In<any, 2> x, In<any, 1> weight, In<f32, 1> mean, In<f32, 1> rstd,
              Out<any, 2> dx, Out<f32, 2> dweight, Out<f32, 2> dbias, Scalar<i32> programs,
              Const options, Const rows, Const columns) {
             Inputs in = {dy, x, weight, mean, rstd, options, rows, columns};
             Value program = grid1d(programs, 1);
             // Beside the partial sums the largest tiles leave no registers for weights that stay.
             bool keepsWeights = columns <= kTileElements;
             std::optional<Value> kept = keepsWeights ? in.weights(0) : std::nullopt;
             Partials partials(in);
             Range tiles = range(program, cdiv(x.dim(0), rows), programs);
             for (auto r : keepsWeights ? tiles : tiles.no_licm()) {
               std::optional<Value> w = keepsWeights ? kept : in.weights(0);
               Value rowRstd = in.statistic(rstd, r), gradient = in.gradient(r, 0);
               Value h = in.normalised(r, 0, rowRstd), g = in.weighted(gradient, w);
               Value result = in.inputGradient(g, h, sumOfRow(g), sumOfRow(g * h), rowRstd);
               dx.tile({rows, columns})(r, 0) = cast(dx.dtype(), result);
               partials.add(gradient, h);
             }
             partials.store(dweight, dbias, program, 0);
           })
        .named("dy", "x", "weight", "mean", "rstd", "dx", "dweight", "dbias", "programs", "options",
               "rows", "columns");

const auto backwardLong =
    kernel("norm_backward_long", [](In<any, 2> dy, In<any, 2> x, In<any, 1> weight, In<f32, 1> mean,
                                    In<f32, 1> rstd, Out<any, 2> dx, Const options, Const columns) {
      Inputs in = {dy, x, weight, mean, rstd, options, 1, columns};
      Value r = grid1d(dx, {1}), steps = cdiv(x.dim(1), columns), rowRstd = in.statistic(rstd, r);
      auto sumG = var(zeros(f32, {1, columns})), sumGH = var(zeros(f32, {1, columns}));
      for (auto k : range(steps)) {
        Value g = in.weighted(in.gradient(r, k), in.weights(k));
        sumG = sumG + g;
        sumGH = sumGH + g * in.normalised(r, k, rowRstd);
      }
      Value totalG = sumOfRow(sumG), totalGH = sumOfRow(sumGH);
      for (auto k : range(steps)) {
        Value g = in.weighted(in.gradient(r, k), in.weights(k));
        Value h = in.normalised(r, k, rowRstd);
        dx.tile({1, columns})(r, k) =
            cast(dx.dtype(), in.inputGradient(g, h, totalG, totalGH, rowRstd));
      }
    }).named("dy", "x", "weight", "mean", "rstd", "dx", "options", "columns");

const auto parametersLong =
    kernel("norm_parameters", [](In<any, 2> dy, In<any, 2> x, In<f32, 1> mean, In<f32, 1> rstd,
                                 Out<f32, 2> dweight, Out<f32, 2> dbias, Scalar<i32> shares,
                                 Const options, Const rows, Const columns) {
      Value across = cdiv(x.dim(1), columns), program = grid1d(shares * across, 1);
      Value share = program / across, k = program % across;
      Inputs in = {dy, x, In<any, 1>(mean.handle()), mean, rstd, options, rows, columns};
      Partials partials(in);
      for (auto r : range(share, cdiv(x.dim(0), rows), shares))
        partials.add(in.gradient(r, k), in.normalised(r, k, in.statistic(rstd, r)));
      partials.store(dweight, dbias, share, k);
    }).named("dy", "x", "mean", "rstd", "dweight", "dbias", "shares", "options", "rows", "columns");

/// Adds up what programs left of dweight and dbias, both in one launch.
const auto addPartials =
    kernel("norm_add_partials", [](In<f32, 2> dweights, In<f32, 2> dbiases, Out<any, 1> dweight,
                                   Out<any, 1> dbias, Scalar<i32> length, Const options, Const rows,
                                   Const columns) {
      Value k = grid1d(cdiv(length, columns), 1);
      auto add = [&, rows = rows, columns = columns](const In<f32, 2> &parts,
                                                     const Out<any, 1> &total) {
        auto sums = var(zeros(f32, {rows, columns}));
        for (auto r : range(cdiv(parts.dim(0), rows)))
          sums = sums + parts.tile({rows, columns})(r, k);
        total.tile({columns})(k) = cast(total.dtype(), sum(sums, 0));
      };
      if (options & HasDweight)
        add(dweights, dweight);
      if (options & HasDbias)
        add(dbiases, dbias);
    }).named("dweights", "dbiases", "dweight", "dbias", "length", "options", "rows", "columns");

// --- Launching -----------------------------------------------------------------------------------

/// The tiles of parametersLong and addPartials.
constexpr int kBlockRows = 8, kBlockColumns = 256, kPartialRows = 64, kPartialColumns = 32;
/// Programs of parametersLong on each multiprocessor.
constexpr int kBlocksPerMultiprocessor = 8;

/// One program a multiprocessor, of many warps and large tiles: what it loads at a time hides the latency of memory, and there
/// are few partial sums of dweight and dbias to write and to add up.
constexpr int kPerMultiprocessor = 1;

struct Backward {
  const char *op;
  bool isCentred;
  const Operand &dy, &x, &weight, &mean, &rstd, &dx, &dweight, &dbias;
};

void check(const Backward &b, const Arguments &arguments) {
  Named dy = {"dy", b.dy}, x = {"x", b.x}, weight = {"weight", b.weight}, mean = {"mean", b.mean},
        rstd = {"rstd", b.rstd}, dx = {"dx", b.dx}, dweight = {"dweight", b.dweight},
        dbias = {"dbias", b.dbias};
  arguments.hasRows(x);
  for (Named arg : {dy, x, dx})
    arguments.dtypeIn(arg, {f16, bf16, f32}), arguments.sameExtents(x, arg);
  for (Named arg : {weight, dweight, dbias})
    if (arg.operand)
      arguments.dtypeIn(arg, {f16, bf16, f32}), arguments.onePerColumn(arg, x);
  for (Named arg : {mean, rstd})
    if (arg.operand || &arg.operand == &b.rstd || b.isCentred)
      arguments.dtypeIn(arg, {f32}), arguments.onePerRow(arg, x);
  arguments.accessible({dy, x, weight, mean, rstd, dx, dweight, dbias});
  arguments.outputsApart({dx, dweight, dbias}, {dy, x, weight, mean, rstd});
}

/// Where programs put their parts of dweight and dbias.
struct PartialSums {
  PartialSums(CallSite site, const Backward &b, int64_t programs)
      : dweight(nothing(f32, 2, b.dx)), dbias(dweight) {
    int64_t count = (b.dweight ? 1 : 0) + (b.dbias ? 1 : 0);
    if (count == 0)
      return;
    memory = site.stream.tensor(f32, std::array{count, programs, b.x.extent(b.x.rank() - 1)});
    if (b.dweight)
      dweight = Operand(memory).at(0);
    if (b.dbias)
      dbias = Operand(memory).at(count - 1);
  }
  void addUp(CallSite site, const Backward &b) const {
    int64_t length = b.x.extent(b.x.rank() - 1);
    if ((!b.dweight && !b.dbias) || length == 0)
      return;
    int options = (b.dweight ? HasDweight : 0) | (b.dbias ? HasDbias : 0);
    Operand none = nothing(f32, 1, b.dx);
    addPartials.consts(options, kPartialRows,
                       kPartialColumns)(site, dweight, dbias, b.dweight ? b.dweight : none,
                                        b.dbias ? b.dbias : none, static_cast<int32_t>(length));
  }
  Operand dweight, dbias;
  Tensor memory;
};

/// The tile has few elements a thread, since five tiles are held at a time.
RowTile tileFor(int64_t length) {
  RowTile tile(std::min<int64_t>(length, kLongestTile));
  tile.rows = std::max(kTileElements / tile.columns, 1);
  tile.warps = 16;
  return tile;
}

/// The number of programs that sum parts of each column.
int partsFor(const Stream &stream, int64_t rows, int64_t length, const RowTile &tile) {
  if (length <= kLongestTile)
    return programsFor(stream, (rows + tile.rows - 1) / tile.rows, kPerMultiprocessor);
  int64_t across = (length + kBlockColumns - 1) / kBlockColumns;
  int64_t down = (rows + kBlockRows - 1) / kBlockRows;
  return static_cast<int>(
      (programsFor(stream, down * across, kBlocksPerMultiprocessor) + across - 1) / across);
}

void launch(const Backward &b, CallSite site) {
  InputRows dy(site, b.dy), x(site, b.x), mean(site, b.mean ? b.mean : nothing(f32, 1, b.dx), 0),
      rstd(site, b.rstd, 0);
  Operand weight = b.weight ? b.weight : nothing(f32, 1, b.dx);
  OutputRows dx(site, b.dx);
  bool hasPartials = b.dweight || b.dbias;
  int options = (b.isCentred ? Centred : 0) | (b.weight ? HasWeight : 0) |
                (b.dweight ? HasDweight : 0) | (b.dbias ? HasDbias : 0);
  int64_t rows = rowsOf(b.x), length = b.x.extent(b.x.rank() - 1);
  RowTile tile = tileFor(length);
  bool isLong = length > kLongestTile;
  int programs = partsFor(site.stream, rows, length, tile);
  PartialSums partials(site, b, programs);
  if (rows != 0 && !isLong)
    backwardShort.consts(options, tile.rows, tile.columns)
        .warps(tile.warps)(site, Operand(dy), Operand(x), weight, Operand(mean), Operand(rstd),
                           Operand(dx), partials.dweight, partials.dbias, programs);
  if (rows != 0 && isLong) {
    backwardLong.consts(options, kSweptColumns)
        .warps(8)(site, Operand(dy), Operand(x), weight, Operand(mean), Operand(rstd), Operand(dx));
    if (hasPartials)
      parametersLong.consts(options & ~HasWeight, kBlockRows, kBlockColumns)(
          site, Operand(dy), Operand(x), Operand(mean), Operand(rstd), partials.dweight,
          partials.dbias, programs);
  }
  partials.addUp(site, b);
  dx.finish(site);
}

} // namespace

void layernormBackward(const Stream &stream, const Operand &dy, const Operand &x,
                       const Operand &weight, const Operand &mean, const Operand &rstd,
                       const Operand &dx, const Operand &dweight, const Operand &dbias, Loc loc) {
  Backward backward = {"layernormBackward", true, dy, x, weight, mean, rstd, dx, dweight, dbias};
  check(backward, Arguments(backward.op, {stream, loc}));
  launch(backward, CallSite(stream, loc));
}
void rmsnormBackward(const Stream &stream, const Operand &dy, const Operand &x,
                     const Operand &weight, const Operand &rstd, const Operand &dx,
                     const Operand &dweight, Loc loc) {
  Operand none;
  Backward backward = {"rmsnormBackward", false, dy, x, weight, none, rstd, dx, dweight, none};
  check(backward, Arguments(backward.op, {stream, loc}));
  launch(backward, CallSite(stream, loc));
}

} // namespace tile::ops
