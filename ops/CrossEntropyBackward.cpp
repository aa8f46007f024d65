// The gradient of cross-entropy: each element by itself, once the sum over its row is known.
#include "ops/CrossEntropyCall.h"
#include "ops/NewTensor.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tile::ops {

namespace {

// --- The kernels ---------------------------------------------------------------------------------

/// The options that the kernel is compiled for, as flags.
enum Option : int { Smooths = 1, IsPadded = 2, IsMean = 4 };

struct Views {
  In<any, 1> dloss;
  In<any, 2> logits;
  In<any, 1> targets, lse;
  In<i32, 1> count;
  Value ignored, classes, smoothing;
  int options, rows, columns;

  DType dtype() const { return widestOf({logits.dtype()}); }
  Value ofRows(const In<any, 1> &vector, Value r) const {
    return reshape(cast(dtype(), vector.tile({rows})(r)), {rows, 1});
  }
  /// The factor of each row's gradient, as a column: NaN where the target is no class.
  Value factors(Value r, Value isKnown) const {
    Value factor = ofRows(dloss, r);
    if (options & IsMean)
      factor = factor / reshape(cast(dtype(), count.tile({rows})(r)), {rows, 1});
    return select(isKnown, factor, NAN);
  }
  Value gradient(Value r, Value c) const {
    Value target = reshape(cast(i64, targets.tile({rows})(r)), {rows, 1});
    Value isKnown = (target >= 0) & (target < cast(i64, classes));
    Value column = c * columns + index(1, {1, columns});
    Value isTarget = column == select(isKnown, cast(i32, target), -1);
    Value x = cast(dtype(), logits.tile({rows, columns})(r, c));
    Value share = cast(dtype(), smoothing);
    Value wanted = select(isTarget, options & Smooths ? 1 - share : full(dtype(), {}, 1), 0.0f);
    if (options & Smooths)
      wanted = wanted + share / cast(dtype(), classes);
    Value result = (exp(x - ofRows(lse, r)) - wanted) * factors(r, isKnown);
    // By choice, not by a factor of 0: the logits may be NaN here.
    result = select(target == ignored, 0.0f, result);
    return options & IsPadded ? select(column < classes, result, 0.0f) : result;
  }
};

const auto backward =
    kernel("cross_entropy_backward",
           [](In<any, 1> dloss, In<any, 2> logits, In<any, 1> targets, In<any, 1> lse,
              In<i32, 1> count, Out<any, 2> dlogits, Scalar<i64> ignored, Scalar<i32> classes,
              Scalar<f64> smoothing, Const options, Const rows, Const columns) {
             Views v = {dloss,   logits,    targets, lse,  count,  ignored,
                        classes, smoothing, options, rows, columns};
             auto [r, c] = grid2d(dlogits, {rows, columns});
             dlogits.tile({rows, columns})(r, c) = cast(dlogits.dtype(), v.gradient(r, c));
           })
        .named("dloss", "logits", "targets", "lse", "count", "dlogits", "ignored", "classes",
               "smoothing", "options", "rows", "columns");

/// Counts the rows whose target is not `ignored`.
const auto countRows = kernel("cross_entropy_count", [](In<any, 1> targets, Out<i32, 1> count,
                                                        Scalar<i64> ignored, Const Rows) {
                         Value one = grid1d(count, {1});
                         auto counts = var(zeros(i32, {Rows}));
                         for (auto r : range(cdiv(targets.dim(0), Rows)))
                           counts += countOf(targets, ignored, r, Rows);
                         count.tile({1})(one) = splat(sum(counts), {1});
                       }).named("targets", "count", "ignored", "Rows");

// --- Launching -----------------------------------------------------------------------------------

/// Elements of one program: many, since each of its warps loads what belongs to the rows; and no fewer than its threads
/// load at once, so that no two of them hold one element and the gradient can take the place of the logits.
constexpr int kTileElements = 2048;

/// A vector of one element as one of `rows`.
Operand repeated(const Operand &vector, int64_t rows) {
  return vector.strided(std::array{rows}, std::array{int64_t{0}});
}

void launch(CallSite site, const CrossEntropyOptions &options, const Operand &dloss,
            const Operand &logits, const Operand &targets, const Operand &lse,
            const Operand &dlogits) {
  bool isReduced = options.reduction != LossReduction::None;
  bool isMean = options.reduction == LossReduction::Mean;
  InputRows foldedLogits(site, logits), foldedTargets(site, targets, 0), foldedLse(site, lse, 0),
      foldedSlope(site, dloss, 0);
  OutputRows output(site, dlogits);
  Operand matrix = output, slope = foldedSlope, counts = nothing(i32, 1, dlogits);
  int64_t rows = matrix.extent(0), width = matrix.extent(1), classes = classesOf(options, logits);
  Tensor count;
  if (isMean) {
    count = site.stream.tensor(i32, std::array{int64_t{1}});
    countRows.consts(kCountedRows)
        .warps(8)(site, Operand(foldedTargets), count, options.ignoreIndex);
    counts = repeated(count, rows);
  }
  int flags = (options.labelSmoothing > 0 ? Smooths : 0) | (classes < width ? IsPadded : 0) |
              (isMean ? IsMean : 0);
  auto side = static_cast<uint64_t>(std::clamp<int64_t>(width, 32, kTileElements));
  int columns = static_cast<int>(std::bit_ceil(side));
  backward.consts(flags, kTileElements / columns,
                  columns)(site, isReduced ? repeated(slope, rows) : slope, Operand(foldedLogits),
                           Operand(foldedTargets), Operand(foldedLse), counts, matrix,
                           options.ignoreIndex, static_cast<int>(classes), options.labelSmoothing);
  output.finish(site);
}

} // namespace

void crossEntropyBackward(const Stream &stream, const Operand &dloss, const Operand &logits,
                          const Operand &targets, const Operand &lse, const Operand &dlogits,
                          const CrossEntropyOptions &options, Loc loc) {
  Arguments arguments("crossEntropyBackward", {stream, loc});
  Named output = {"dlogits", dlogits};
  arguments.dtypeIn({"lse", lse}, {f32, f64});
  checkCrossEntropy(arguments, options, {"logits", logits}, {"targets", targets}, {"dloss", dloss},
                    {"lse", lse});
  arguments.dtypeIn(output, {f16, bf16, f32, f64});
  arguments.sameExtents(output, {"logits", logits});
  arguments.accessible({{"logits", logits}, output});
  arguments.outputsApart({output}, {{"dloss", dloss}, {"targets", targets}, {"lse", lse}});
  arguments.disjointOrSame(output, {"logits", logits});
  if (dlogits.numel() != 0)
    launch(CallSite(stream, loc), options, dloss, logits, targets, lse, dlogits);
}

Tensor crossEntropyBackward(const Stream &stream, const Operand &dloss, const Operand &logits,
                            const Operand &targets, const Operand &lse,
                            const CrossEntropyOptions &options, Loc loc) {
  Tensor dlogits =
      newLike(Arguments("crossEntropyBackward", {stream, loc}), {"logits", logits}, logits.dtype());
  crossEntropyBackward(stream, dloss, logits, targets, lse, dlogits, options, loc);
  return dlogits;
}

} // namespace tile::ops
