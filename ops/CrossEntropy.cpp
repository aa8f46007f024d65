// Cross-entropy in one sweep of the logits: a program has rows that fit a tile, or walks down one longer row with an
// online sum. The losses of rows are reduced by a program of their own.
#include <tile/ops/CrossEntropy.h>

#include "ops/CrossEntropyCall.h"
#include "ops/NewTensor.h"
#include "ops/OnlineSum.h"

#include <cmath>
#include <limits>

namespace tile::ops {

namespace {

// --- The kernels ---------------------------------------------------------------------------------

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The options that a kernel is compiled for, as flags.
enum Option : int { Smooths = 1, IsPadded = 2, HasLse = 4 };

/// The parameters of both kernels.
struct Views {
  In<any, 2> logits;
  In<any, 1> targets;
  Out<any, 1> losses, lse;
  Value ignored, classes, smoothing;
  int options, rows, columns;

  DType dtype() const { return widestOf({logits.dtype()}); }
  /// Logits of classes; -infinity elsewhere.
  Value part(Value r, Value k) const {
    auto tile = logits.tile({rows, columns}).pad(-kInfinity);
    Value x = cast(dtype(), tile(r, k));
    return options & IsPadded ? select(isClass(k), x, -kInfinity) : x;
  }
  /// `part` where the columns are classes, and zero elsewhere: for sums, as -infinity is for maxima.
  Value term(Value part, Value k) const { return select(isClass(k), part, 0.0f); }
  Value isClass(Value k) const { return k * columns + index(1, {rows, columns}) < classes; }
  /// The logits of the targets, as a column; NaN where a target is no class.
  Value ofTargets(Value r, Value target) const {
    Value row = cast(i64, r * rows + arange(rows));
    Value mask = (target >= 0) & (target < cast(i64, classes)) & (row < cast(i64, logits.dim(0)));
    Value offset = row * cast(i64, logits.stride(0)) + target * cast(i64, logits.stride(1));
    Value x = load(logits.ptr() + offset, mask, NAN);
    return reshape(cast(dtype(), x), {rows, 1});
  }
  /// From a row's maximum, the sum of exp(x - maximum), and the sum of x (if it smooths), as columns.
  void store(Value r, Value largest, Value total, std::optional<Value> sumOfLogits) const {
    Value target = cast(i64, targets.tile({rows})(r));
    // Differences from the maximum first: they are small where the loss is.
    Value logTotal = log(total), chosen = ofTargets(r, target) - largest;
    if (sumOfLogits) {
      Value share = cast(dtype(), smoothing);
      Value mean = *sumOfLogits / cast(dtype(), classes) - largest;
      chosen = chosen * (1 - share) + mean * share;
    }
    Value loss = reshape(logTotal - chosen, {rows});
    losses.tile({rows})(r) = cast(losses.dtype(), select(target == ignored, 0.0f, loss));
    if (options & HasLse)
      lse.tile({rows})(r) = cast(lse.dtype(), reshape(largest + logTotal, {rows}));
  }
};

void shortRows(const Views &v) {
  Value r = grid1d(v.logits, {v.rows}), first = zeros(i32, {}), row = v.part(r, first);
  Value largest = max(reduce_max(row, 1, {.keep_dims = true}), lowestOf(v.dtype()));
  std::optional<Value> sumOfLogits;
  if (v.options & Smooths)
    sumOfLogits = sumOfRow(v.term(row, first));
  v.store(r, largest, sumOfRow(exp(row - largest)), sumOfLogits);
}

void longRow(const Views &v) {
  Value r = grid1d(v.logits, {1});
  OnlineSum online(v.dtype(), {1, v.columns});
  auto sumOfLogits = var(zeros(v.dtype(), {1, v.columns}));
  for (auto k : range(cdiv(v.classes, v.columns))) {
    Value part = v.part(r, k);
    online.add(part);
    if (v.options & Smooths)
      sumOfLogits += v.term(part, k);
  }
  auto [largest, total] = online.ofRows();
  std::optional<Value> sum;
  if (v.options & Smooths)
    sum = sumOfRow(sumOfLogits);
  v.store(r, largest, total, sum);
}

const auto lossesShort =
    kernel("cross_entropy",
           [](In<any, 2> logits, In<any, 1> targets, Out<any, 1> losses, Out<any, 1> lse,
              Scalar<i64> ignored, Scalar<i32> classes, Scalar<f64> smoothing, Const options,
              Const rows, Const columns) {
             shortRows({logits, targets, losses, lse, ignored, classes, smoothing, options, rows,
                        columns});
           })
        .named("logits", "targets", "losses", "lse", "ignored", "classes", "smoothing", "options",
               "rows", "columns");

const auto lossesLong =
    kernel(
        "cross_entropy_long",
        [](In<any, 2> logits, In<any, 1> targets, Out<any, 1> losses, Out<any, 1> lse,
           Scalar<i64> ignored, Scalar<i32> classes, Scalar<f64> smoothing, Const options,
           Const columns) {
          longRow({logits, targets, losses, lse, ignored, classes, smoothing, options, 1, columns});
        })
        .named("logits", "targets", "losses", "lse", "ignored", "classes", "smoothing", "options",
               "columns");

/// The sum of the losses of rows, or their mean over the rows that are not ignored.
const auto reduceLosses =
    kernel("cross_entropy_reduce", [](In<any, 1> losses, In<any, 1> targets, Out<any, 1> loss,
                                      Scalar<i64> ignored, ConstOf<bool> isMean, Const Rows) {
      Value one = grid1d(loss, {1});
      auto total = var(zeros(losses.dtype(), {Rows})), count = var(zeros(i32, {Rows}));
      for (auto r : range(cdiv(losses.dim(0), Rows))) {
        total += losses.tile({Rows})(r);
        if (isMean)
          count += countOf(targets, ignored, r, Rows);
      }
      Value result = sum(total);
      if (isMean)
        result = result / cast(result.dtype(), sum(count));
      loss.tile({1})(one) = cast(loss.dtype(), splat(result, {1}));
    }).named("losses", "targets", "loss", "ignored", "isMean", "Rows");

// --- Launching -----------------------------------------------------------------------------------

void launchLosses(CallSite site, const CrossEntropyOptions &options, const Operand &logits,
                  const Operand &targets, const Operand &losses, const Operand &lse) {
  int64_t columns = logits.extent(1), classes = classesOf(options, logits);
  int flags = (options.labelSmoothing > 0 ? Smooths : 0) | (classes < columns ? IsPadded : 0) |
              (lse.numel() > 0 ? HasLse : 0);
  auto run = [&](const auto &program) {
    program(site, logits, targets, losses, lse, options.ignoreIndex, static_cast<int>(classes),
            options.labelSmoothing);
  };
  if (classes > kLongestTile)
    return run(lossesLong.consts(flags, kSweptColumns).warps(8));
  RowTile tile(classes, liesAcross(logits));
  run(lossesShort.consts(flags, tile.rows, tile.columns).warps(tile.warps));
}

void launch(CallSite site, const CrossEntropyOptions &options, const Operand &logits,
            const Operand &targets, const Operand &loss, const Operand &lse) {
  bool isReduced = options.reduction != LossReduction::None;
  int64_t rows = rowsOf(logits);
  InputRows foldedLogits(site, logits), foldedTargets(site, targets, 0);
  OutputRows foldedLoss(site, loss, 0), foldedLse(site, lse ? lse : nothing(f32, 1, logits), 0);
  Tensor losses;
  if (isReduced)
    losses = site.stream.tensor(widestOf({logits.dtype()}), std::array{rows});
  if (rows > 0)
    launchLosses(site, options, foldedLogits, foldedTargets,
                 isReduced ? Operand(losses) : Operand(foldedLoss), foldedLse);
  if (isReduced)
    reduceLosses.consts(options.reduction == LossReduction::Mean, kCountedRows)
        .warps(8)(site, losses, Operand(foldedTargets), Operand(foldedLoss), options.ignoreIndex);
  foldedLoss.finish(site), foldedLse.finish(site);
}

} // namespace

void crossEntropy(const Stream &stream, const Operand &logits, const Operand &targets,
                  const Operand &loss, const Operand &lse, const CrossEntropyOptions &options,
                  Loc loc) {
  Arguments arguments("crossEntropy", {stream, loc});
  Named inputs[] = {{"logits", logits}, {"targets", targets}};
  checkCrossEntropy(arguments, options, inputs[0], inputs[1], {"loss", loss}, {"lse", lse});
  arguments.outputsApart({{"loss", loss}, {"lse", lse}}, {inputs[0], inputs[1]});
  launch(CallSite(stream, loc), options, logits, targets, loss, lse);
}

void crossEntropy(const Stream &stream, const Operand &logits, const Operand &targets,
                  const Operand &loss, const CrossEntropyOptions &options, Loc loc) {
  crossEntropy(stream, logits, targets, loss, Operand(), options, loc);
}

Tensor crossEntropy(const Stream &stream, const Operand &logits, const Operand &targets,
                    const CrossEntropyOptions &options, Loc loc) {
  DType dtype = widestOf({logits.dtype()});
  Arguments arguments("crossEntropy", {stream, loc});
  Tensor loss = options.reduction == LossReduction::None
                    ? newLike(arguments, {"targets", targets}, dtype)
                    : newTensor(arguments, dtype, {});
  crossEntropy(stream, logits, targets, loss, options, loc);
  return loss;
}

} // namespace tile::ops
