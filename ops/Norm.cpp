// layernorm and rmsnorm of rows, of a sum of two tensors too: one kernel for rows that fit a tile, one for longer ones.
#include <tile/ops/Norm.h>

#include "ops/NewTensor.h"
#include "ops/Rows.h"

namespace tile::ops {

namespace {

// --- The kernels ---------------------------------------------------------------------------------

/// The options that a kernel is compiled for, as flags.
enum Option : int { Centred = 1, HasWeight = 2, HasBias = 4, Adds = 8, HasMean = 16, HasRstd = 32 };

/// The parameters of both kernels.
struct Views {
  In<any, 2> x, residual;
  In<any, 1> weight, bias;
  InOut<any, 2> sum;
  Out<any, 2> y;
  Out<f32, 1> mean, rstd;
  Value epsilon;
  int options, rows, columns;

  /// The elements of weight or bias beside tile k of the columns.
  Value ofColumns(const In<any, 1> &vector, const Arg &k) const {
    return expand_dims(cast(f32, vector.tile({columns})(k)), 0);
  }
  Value affine(Value normalised, std::optional<Value> w, std::optional<Value> b) const {
    if (w)
      normalised = normalised * *w;
    return b ? normalised + *b : normalised;
  }
  /// Loads the values to normalise: x, or x + residual, which is stored as well.
  Value load(Value r, const Arg &k) const {
    Value part = cast(f32, x.tile({rows, columns})(r, k));
    if (!(options & Adds))
      return part;
    Value added = cast(sum.dtype(), part + cast(f32, residual.tile({rows, columns})(r, k)));
    sum.tile({rows, columns})(r, k) = added;
    return cast(f32, added);
  }
  void storeStatistics(Value r, std::optional<Value> rowMean, Value rowRstd) const {
    if (options & HasMean)
      mean.tile({rows})(r) = reshape(*rowMean, {rows});
    if (options & HasRstd)
      rstd.tile({rows})(r) = reshape(rowRstd, {rows});
  }
};

void shortRows(const Views &v, Value programs) {
  Value program = grid1d(programs, 1), count = cast(f32, v.x.dim(1));
  std::optional<Value> w, b, rowMean;
  if (v.options & HasWeight)
    w = v.ofColumns(v.weight, 0);
  if (v.options & HasBias)
    b = v.ofColumns(v.bias, 0);
  for (auto r : range(program, cdiv(v.x.dim(0), v.rows), programs)) {
    Value part = v.load(r, 0);
    if (v.options & Centred) {
      rowMean = div_rn(sumOfRow(part), count);
      // Beside the row there are zeros, which must not count as -mean.
      part = select(v.x.tile({v.rows, v.columns}).inside(r, 0), part - *rowMean, 0.0f);
    }
    Value rowRstd = rsqrt(div_rn(sumOfRow(part * part), count) + v.epsilon);
    v.storeStatistics(r, rowMean, rowRstd);
    v.y.tile({v.rows, v.columns})(r, 0) = cast(v.y.dtype(), v.affine(part * rowRstd, w, b));
  }
}

/// The mean and the sum of squares (layernorm: of differences from the mean) of row r.
struct Moments {
  Value mean, squares;
};
Moments momentsOf(const Views &v, Value r, Value steps) {
  auto mean = var(zeros(f32, {1, v.columns})), squares = var(zeros(f32, {1, v.columns}));
  for (auto k : range(steps)) {
    Value part = v.load(r, k);
    if (v.options & Centred) {
      // Welford's step, in the columns that this tile has. The first must be exact: what it leaves of the mean is multiplied by
      // the mean.
      Value inside = v.x.tile({1, v.columns}).inside(r, k), difference = part - mean;
      mean = mean + select(inside, difference * div_rn(1.0f, cast(f32, k + 1)), 0.0f);
      squares = squares + select(inside, difference * (part - mean), 0.0f);
    } else {
      squares = squares + part * part;
    }
  }
  if (!(v.options & Centred))
    return {zeros(f32, {1, 1}), sumOfRow(squares)};
  Value tail = v.x.dim(1) - (steps - 1) * v.columns;
  Value counts = cast(
      f32, steps - 1 + select(index(1, {1, v.columns}) < tail, full(i32, {1, v.columns}, 1), 0));
  Value total = div_rn(sumOfRow(counts * mean), cast(f32, v.x.dim(1)));
  Value apart = mean - total;
  return {total, sumOfRow(squares + counts * apart * apart)};
}

void longRow(const Views &v) {
  Value r = grid1d(v.y, {1}), steps = cdiv(v.x.dim(1), v.columns);
  Moments moments = momentsOf(v, r, steps);
  Value rowRstd = rsqrt(div_rn(moments.squares, cast(f32, v.x.dim(1))) + v.epsilon);
  v.storeStatistics(r, moments.mean, rowRstd);
  for (auto k : range(steps)) {
    std::optional<Value> w, b;
    if (v.options & HasWeight)
      w = v.ofColumns(v.weight, k);
    if (v.options & HasBias)
      b = v.ofColumns(v.bias, k);
    Value part = v.options & Adds ? cast(f32, Value(v.sum.tile({1, v.columns})(r, k)))
                                  : cast(f32, v.x.tile({1, v.columns})(r, k));
    if (v.options & Centred)
      part = part - moments.mean;
    v.y.tile({1, v.columns})(r, k) = cast(v.y.dtype(), v.affine(part * rowRstd, w, b));
  }
}

const auto normShort =
    kernel("norm",
           [](In<any, 2> x, In<any, 2> residual, In<any, 1> weight, In<any, 1> bias,
              InOut<any, 2> sum, Out<any, 2> y, Out<f32, 1> mean, Out<f32, 1> rstd,
              Scalar<f32> epsilon, Scalar<i32> programs, Const options, Const rows, Const columns) {
             shortRows(
                 {x, residual, weight, bias, sum, y, mean, rstd, epsilon, options, rows, columns},
                 programs);
           })
        .named("x", "residual", "weight", "bias", "sum", "y", "mean", "rstd", "epsilon", "programs",
               "options", "rows", "columns");

const auto normLong =
    kernel("norm_long",
           [](In<any, 2> x, In<any, 2> residual, In<any, 1> weight, In<any, 1> bias,
              InOut<any, 2> sum, Out<any, 2> y, Out<f32, 1> mean, Out<f32, 1> rstd,
              Scalar<f32> epsilon, Const options, Const columns) {
             longRow({x, residual, weight, bias, sum, y, mean, rstd, epsilon, options, 1, columns});
           })
        .named("x", "residual", "weight", "bias", "sum", "y", "mean", "rstd", "epsilon", "options",
               "columns");

// --- Launching -----------------------------------------------------------------------------------

/// Rows of less than this many elements share a tile, so that each thread has several loads on the way.
constexpr int kTileElements = 2048;

/// Programs of a multiprocessor: so many that loads of 8192 elements, 16 or 32 KB, are on the way at a time, what it takes
/// to hide the latency of memory; and two at least, one of which loads while the other computes.
int perMultiprocessor(const RowTile &tile) { return std::max(8192 / tile.elements(), 2); }

RowTile tileFor(int64_t length) {
  RowTile tile(length);
  tile.rows = std::max(kTileElements / tile.columns, 1);
  return tile;
}

/// One call of any of the functions; what it does not have is no operand.
struct Norm {
  const char *op;
  bool isCentred, adds;
  const Operand &x, &residual, &weight, &bias;
  double epsilon;
  const Operand &sum, &y, &mean, &rstd;
};

void check(const Norm &n, const Arguments &arguments) {
  Named x = {"x", n.x}, residual = {"residual", n.residual}, sum = {"sum", n.sum}, y = {"y", n.y};
  Named weight = {"weight", n.weight}, bias = {"bias", n.bias}, mean = {"mean", n.mean},
        rstd = {"rstd", n.rstd};
  arguments.hasRows(x);
  for (Named arg : {x, y})
    arguments.dtypeIn(arg, {f16, bf16, f32});
  arguments.sameExtents(x, y);
  if (n.adds)
    for (Named arg : {residual, sum})
      arguments.dtypeIn(arg, {f16, bf16, f32}), arguments.sameExtents(x, arg);
  for (Named arg : {weight, bias})
    if (arg.operand)
      arguments.dtypeIn(arg, {f16, bf16, f32}), arguments.onePerColumn(arg, x);
  for (Named arg : {mean, rstd})
    if (arg.operand)
      arguments.dtypeIn(arg, {f32}), arguments.onePerRow(arg, x);
  if (!(n.epsilon >= 0))
    arguments.fail(ErrorCode::InvalidArgument,
                   "epsilon is " + std::to_string(n.epsilon) + ": it must be 0 or more");
  arguments.accessible({x, residual, weight, bias, sum, y, mean, rstd});
  arguments.outputsApart({sum, y, mean, rstd}, {weight, bias});
  arguments.outputsApart({y, mean, rstd}, {x, residual});
  if (n.adds)
    arguments.disjointOrSame(sum, x), arguments.disjointOrSame(sum, residual);
}

void launch(const Norm &n, CallSite site) {
  InputRows x(site, n.x), residual(site, n.adds ? n.residual : nothing(f32, 2, n.y));
  OutputRows sum(site, n.adds ? n.sum : nothing(f32, 2, n.y)), y(site, n.y);
  OutputRows mean(site, n.mean ? n.mean : nothing(f32, 1, n.y), 0),
      rstd(site, n.rstd ? n.rstd : nothing(f32, 1, n.y), 0);
  Operand weight = n.weight ? n.weight : nothing(f32, 1, n.y),
          bias = n.bias ? n.bias : nothing(f32, 1, n.y);
  int options = (n.isCentred ? Centred : 0) | (n.weight ? HasWeight : 0) | (n.bias ? HasBias : 0) |
                (n.adds ? Adds : 0) | (n.mean ? HasMean : 0) | (n.rstd ? HasRstd : 0);
  auto epsilon = static_cast<float>(n.epsilon);
  int64_t length = n.x.extent(n.x.rank() - 1);
  auto run = [&](const auto &program, auto... more) {
    program(site, Operand(x), Operand(residual), weight, bias, Operand(sum), Operand(y),
            Operand(mean), Operand(rstd), epsilon, more...);
  };
  if (length > kLongestTile) {
    run(normLong.consts(options, kSweptColumns).warps(8));
  } else {
    RowTile tile = tileFor(length);
    int64_t tiles = (rowsOf(n.x) + tile.rows - 1) / tile.rows;
    run(normShort.consts(options, tile.rows, tile.columns).warps(tile.warps),
        programsFor(site.stream, tiles, perMultiprocessor(tile)));
  }
  for (const OutputRows *output : {&sum, &y, &mean, &rstd})
    output->finish(site);
}

void normalise(const Norm &n, const Stream &stream, Loc loc) {
  check(n, Arguments(n.op, {stream, loc}));
  if (rowsOf(n.x) != 0)
    launch(n, CallSite(stream, loc));
}

} // namespace

void layernorm(const Stream &stream, const Operand &x, const Operand &weight, const Operand &bias,
               double epsilon, const Operand &y, const Operand &mean, const Operand &rstd,
               Loc loc) {
  normalise({"layernorm", true, false, x, {}, weight, bias, epsilon, {}, y, mean, rstd}, stream,
            loc);
}
Tensor layernorm(const Stream &stream, const Operand &x, const Operand &weight, const Operand &bias,
                 double epsilon, Loc loc) {
  Tensor y = newLike(Arguments("layernorm", {stream, loc}), {"x", x}, x.dtype());
  layernorm(stream, x, weight, bias, epsilon, y, {}, {}, loc);
  return y;
}

void rmsnorm(const Stream &stream, const Operand &x, const Operand &weight, double epsilon,
             const Operand &y, const Operand &rstd, Loc loc) {
  normalise({"rmsnorm", false, false, x, {}, weight, {}, epsilon, {}, y, {}, rstd}, stream, loc);
}
Tensor rmsnorm(const Stream &stream, const Operand &x, const Operand &weight, double epsilon,
               Loc loc) {
  Tensor y = newLike(Arguments("rmsnorm", {stream, loc}), {"x", x}, x.dtype());
  rmsnorm(stream, x, weight, epsilon, y, {}, loc);
  return y;
}

void addLayernorm(const Stream &stream, const Operand &x, const Operand &residual,
                  const Operand &weight, const Operand &bias, double epsilon, const Operand &sum,
                  const Operand &y, const Operand &mean, const Operand &rstd, Loc loc) {
  normalise({"addLayernorm", true, true, x, residual, weight, bias, epsilon, sum, y, mean, rstd},
            stream, loc);
}
void addRmsnorm(const Stream &stream, const Operand &x, const Operand &residual,
                const Operand &weight, double epsilon, const Operand &sum, const Operand &y,
                const Operand &rstd, Loc loc) {
  normalise({"addRmsnorm", false, true, x, residual, weight, {}, epsilon, sum, y, {}, rstd}, stream,
            loc);
}

} // namespace tile::ops
