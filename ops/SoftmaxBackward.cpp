// Gradients of softmax and its logarithm: a row that fits a tile is read once, a longer one swept twice.
#include <tile/ops/Softmax.h>

#include "ops/Arguments.h"
#include "ops/NewTensor.h"
#include "ops/Rows.h"

namespace tile::ops {

namespace {

// --- The kernels ---------------------------------------------------------------------------------

/// The terms of the sum over a row.
Value term(Value dy, Value y, bool isLog) { return isLog ? dy : dy * y; }
Value gradient(Value dy, Value y, Value total, bool isLog) {
  return isLog ? dy - exp(y) * total : y * (dy - total);
}

const auto backwardOnePass =
    kernel("softmax_backward", [](In<any, 2> dy, In<any, 2> y, Out<any, 2> dx, ConstOf<bool> isLog,
                                  Const Rows, Const Columns) {
      DType dtype = widestOf({dy.dtype(), y.dtype(), dx.dtype()});
      Value r = grid1d(dx, {Rows});
      Value slope = cast(dtype, dy.tile({Rows, Columns})(r, 0));
      Value result = cast(dtype, y.tile({Rows, Columns})(r, 0));
      Value total = sumOfRow(term(slope, result, isLog));
      dx.tile({Rows, Columns})(r, 0) = cast(dx.dtype(), gradient(slope, result, total, isLog));
    }).named("dy", "y", "dx", "isLog", "Rows", "Columns");

const auto backwardTwoPasses =
    kernel("softmax_backward_long", [](In<any, 2> dy, In<any, 2> y, Out<any, 2> dx,
                                       ConstOf<bool> isLog, Const Rows, Const Columns) {
      DType dtype = widestOf({dy.dtype(), y.dtype(), dx.dtype()});
      Value r = grid1d(dx, {Rows}), steps = cdiv(y.dim(1), Columns);
      auto slope = [&](Value k) { return cast(dtype, dy.tile({Rows, Columns})(r, k)); };
      auto result = [&](Value k) { return cast(dtype, y.tile({Rows, Columns})(r, k)); };
      auto terms = var(zeros(dtype, {Rows, Columns}));
      for (auto k : range(steps))
        terms += isLog ? slope(k) : term(slope(k), result(k), isLog);
      Value total = sumOfRow(terms);
      for (auto k : range(steps))
        dx.tile({Rows, Columns})(r, k) =
            cast(dx.dtype(), gradient(slope(k), result(k), total, isLog));
    }).named("dy", "y", "dx", "isLog", "Rows", "Columns");

// --- Launching -----------------------------------------------------------------------------------

void launch(CallSite site, const Operand &dy, const Operand &y, const Operand &dx, bool isLog) {
  auto run = [&](const auto &program, const auto &tile, int warps) {
    program.consts(isLog, tile.rows, tile.columns).warps(warps)(site, dy, y, dx);
  };
  if (isSwept(y)) {
    SweptTile tile(liesAcross(y));
    return run(backwardTwoPasses, tile, tile.warps);
  }
  // Two tensors of the largest tiles are held at a time.
  RowTile tile(dx.extent(1), liesAcross(y));
  run(backwardOnePass, tile, tile.columns * tile.rows > 4096 ? 16 : tile.warps);
}

void run(const char *op, bool isLog, const Stream &stream, const Operand &dy, const Operand &y,
         const Operand &dx, int dim, Loc loc) {
  Arguments arguments(op, {stream, loc});
  for (Named arg : {Named{"dy", dy}, Named{"y", y}, Named{"dx", dx}})
    arguments.dtypeIn(arg, {f16, bf16, f32, f64});
  arguments.hasRows({"y", y});
  dim = arguments.dimension({"y", y}, dim);
  arguments.sameExtents({"dy", dy}, {"y", y}), arguments.sameExtents({"dx", dx}, {"y", y});
  arguments.accessible({{"dy", dy}, {"y", y}, {"dx", dx}});
  arguments.elementsDistinct({"dx", dx});
  arguments.disjointOrSame({"dx", dx}, {"dy", dy}), arguments.disjointOrSame({"dx", dx}, {"y", y});
  if (dx.numel() == 0)
    return;
  CallSite site(stream, loc);
  OutputRows rows(site, withLast(dx, dim));
  launch(site, InputRows(site, withLast(dy, dim)), InputRows(site, withLast(y, dim)), rows, isLog);
  rows.finish(site);
}

} // namespace

void softmaxBackward(const Stream &stream, const Operand &dy, const Operand &y, const Operand &dx,
                     int dim, Loc loc) {
  run("softmaxBackward", false, stream, dy, y, dx, dim, loc);
}
Tensor softmaxBackward(const Stream &stream, const Operand &dy, const Operand &y, int dim,
                       Loc loc) {
  Tensor dx = newLike(Arguments("softmaxBackward", {stream, loc}), {"y", y}, y.dtype());
  softmaxBackward(stream, dy, y, dx, dim, loc);
  return dx;
}

void logSoftmaxBackward(const Stream &stream, const Operand &dy, const Operand &y,
                        const Operand &dx, int dim, Loc loc) {
  run("logSoftmaxBackward", true, stream, dy, y, dx, dim, loc);
}
Tensor logSoftmaxBackward(const Stream &stream, const Operand &dy, const Operand &y, int dim,
                          Loc loc) {
  Tensor dx = newLike(Arguments("logSoftmaxBackward", {stream, loc}), {"y", y}, y.dtype());
  logSoftmaxBackward(stream, dy, y, dx, dim, loc);
  return dx;
}

} // namespace tile::ops
