// Softmax and its logarithm of rows: those that fit a tile are read once; longer ones are swept twice, by an online softmax
// that keeps one maximum and one sum for each element of the tile.
#include <tile/ops/Softmax.h>

#include "ops/NewTensor.h"
#include "ops/OnlineSum.h"
#include "ops/Rows.h"

#include <limits>

namespace tile::ops {

namespace {

// --- The kernels ---------------------------------------------------------------------------------

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A row that fits a tile, which is -infinity beside it.
Value ofWholeRow(Value row, bool isLog) {
  Value shifted = row - reduce_max(row, 1, {.keep_dims = true});
  Value exponentials = exp(shifted), total = sumOfRow(exponentials);
  return isLog ? shifted - log(total) : exponentials / total;
}

const auto softmaxOnePass =
    kernel("softmax", [](In<any, 2> x, Out<any, 2> y, ConstOf<bool> isLog, Const Rows,
                         Const Columns) {
      Value r = grid1d(y, {Rows});
      Value row =
          cast(widestOf({x.dtype(), y.dtype()}), x.tile({Rows, Columns}).pad(-kInfinity)(r, 0));
      y.tile({Rows, Columns})(r, 0) = cast(y.dtype(), ofWholeRow(row, isLog));
    }).named("x", "y", "isLog", "Rows", "Columns");

const auto softmaxTwoPasses =
    kernel("softmax_long", [](In<any, 2> x, Out<any, 2> y, ConstOf<bool> isLog, Const Rows,
                              Const Columns) {
      DType dtype = widestOf({x.dtype(), y.dtype()});
      Value r = grid1d(y, {Rows}), steps = cdiv(x.dim(1), Columns);
      OnlineSum online(dtype, {Rows, Columns});
      for (auto k : range(steps))
        online.add(cast(dtype, x.tile({Rows, Columns}).pad(-kInfinity)(r, k)));
      auto [m, total] = online.ofRows();
      Value logTotal = log(total);
      for (auto k : range(steps)) {
        Value part = cast(dtype, x.tile({Rows, Columns})(r, k));
        Value result = isLog ? part - m - logTotal : exp(part - m) / total;
        y.tile({Rows, Columns})(r, k) = cast(y.dtype(), result);
      }
    }).named("x", "y", "isLog", "Rows", "Columns");

// --- Launching -----------------------------------------------------------------------------------

void launch(CallSite site, const Operand &x, const Operand &y, bool isLog) {
  auto run = [&](const auto &program, const auto &tile) {
    program.consts(isLog, tile.rows, tile.columns).warps(tile.warps)(site, x, y);
  };
  if (isSwept(x))
    run(softmaxTwoPasses, SweptTile(liesAcross(x)));
  else
    run(softmaxOnePass, RowTile(y.extent(1), liesAcross(x)));
}

void run(const char *op, bool isLog, const Stream &stream, const Operand &x, const Operand &y,
         int dim, Loc loc) {
  Arguments arguments(op, {stream, loc});
  for (Named arg : {Named{"x", x}, Named{"y", y}})
    arguments.dtypeIn(arg, {f16, bf16, f32, f64});
  arguments.hasRows({"x", x});
  dim = arguments.dimension({"x", x}, dim);
  arguments.sameExtents({"x", x}, {"y", y});
  arguments.accessible({{"x", x}, {"y", y}});
  arguments.elementsDistinct({"y", y});
  arguments.disjointOrSame({"y", y}, {"x", x});
  if (y.numel() == 0)
    return;
  CallSite site(stream, loc);
  OutputRows rows(site, withLast(y, dim));
  launch(site, InputRows(site, withLast(x, dim)), rows, isLog);
  rows.finish(site);
}

} // namespace

void softmax(const Stream &stream, const Operand &x, const Operand &y, int dim, Loc loc) {
  run("softmax", false, stream, x, y, dim, loc);
}
Tensor softmax(const Stream &stream, const Operand &x, int dim, Loc loc) {
  Tensor y = newLike(Arguments("softmax", {stream, loc}), {"x", x}, x.dtype());
  softmax(stream, x, y, dim, loc);
  return y;
}

void logSoftmax(const Stream &stream, const Operand &x, const Operand &y, int dim, Loc loc) {
  run("logSoftmax", true, stream, x, y, dim, loc);
}
Tensor logSoftmax(const Stream &stream, const Operand &x, int dim, Loc loc) {
  Tensor y = newLike(Arguments("logSoftmax", {stream, loc}), {"x", x}, x.dtype());
  logSoftmax(stream, x, y, dim, loc);
  return y;
}

} // namespace tile::ops
