// Cross-entropy of logits and the classes they ought to choose, and its gradient.
#pragma once

#include <tile/Tensor.h>
#include <tile/ops/Operand.h>

namespace tile::ops {

/// What becomes of the losses of rows.
enum class LossReduction {
  None, ///< they stay apart
  Sum,
  Mean, ///< over the rows that are not ignored
};

/// Which rows and columns count, and how.
struct CrossEntropyOptions {
  LossReduction reduction = LossReduction::Mean;
  /// Rows with this target have no loss and no gradient, whatever their logits. It may be a class.
  int64_t ignoreIndex = -100;
  /// V: so many columns are classes; the others are padding, which is not looked at. 0: all
  /// columns.
  int64_t classes = 0;
  /// The share of each target that is spread evenly over all classes: 0 to 1.
  double labelSmoothing = 0;
};

/// Row r has logits x[r, j] for the classes j < V, and a target t[r]. With lse[r] = log(sum over j
/// < V of exp(x[r, j])) and s the label smoothing, its loss is lse[r] - (1 - s) * x[r, t[r]] - s *
/// mean over j < V of x[r, j].
/// loss: the losses of rows, their sum, or their mean over the rows that are not ignored. If all
/// are, the sum is 0 and the mean NaN, as the mean of no numbers is; the gradient is 0 all the
/// same.
///
/// Shapes: logits has rank 1 or more, with V or more columns; targets and lse (optional output, for
/// the gradient) have logits' extents without the last, and so has loss without a reduction, else
/// it has one element. Any strides; leading dimensions that do not merge into one are copied. Empty
/// tensors are fine.
/// Dtypes: logits f16, bf16, f32 or f64, targets i32 or i64, loss f16, bf16, f32 or f64, lse f32 or
/// f64; everything between is computed in f32, in f64 if logits are. The new tensor is f32 (f64 of
/// f64), of rank 0 with a reduction. A target that is neither a class nor the ignored index makes
/// the loss of its row, and so the sum or mean, NaN; nothing is read outside of logits. NaN or
/// +infinity among the logits of a row make its loss NaN. A logit of -infinity is a class that
/// cannot be: as a target, or with smoothing, its loss is infinite.
/// Method: logits are read once, whatever the length of rows, and one element of each row once
/// more; a second kernel of one program reduces the losses of rows. No atomics: equal calls give
/// equal bits.
///
/// Errors (InvalidArgument, InvalidShape, WrongDevice, Aliasing), at the caller's line: extents
/// that do not fit logits, a dtype that is not in the list, classes that are more than the columns,
/// a smoothing outside 0 .. 1, tensors of different devices, an output that overlaps another tensor
/// or repeats elements.
void crossEntropy(const Stream &stream, const Operand &logits, const Operand &targets,
                  const Operand &loss, const CrossEntropyOptions &options = {},
                  Loc loc = Loc::here());
void crossEntropy(const Stream &stream, const Operand &logits, const Operand &targets,
                  const Operand &loss, const Operand &lse, const CrossEntropyOptions &options = {},
                  Loc loc = Loc::here());
Tensor crossEntropy(const Stream &stream, const Operand &logits, const Operand &targets,
                    const CrossEntropyOptions &options = {}, Loc loc = Loc::here());

/// The gradient with respect to logits, from dloss, that of loss, and lse as crossEntropy gave it,
/// with the same options:
///   dlogits[r, j] = d[r] * (exp(x[r, j] - lse[r]) - (1 - s) * (1 if j is t[r], else 0) - s / V),
/// where d[r] is dloss[r], of a sum dloss, of a mean dloss over the number of rows that are not
/// ignored. It is 0 in rows that are ignored and in columns that are no classes, NaN in rows whose
/// target is no class.
///
/// Shapes, dtypes and errors as above; dloss has the extents of loss, dlogits those of logits.
/// dlogits may be logits itself, with the same strides: then the gradient takes their place, and no
/// memory is needed for it.
/// Method: logits are read once and dlogits written once; of a mean one program counts the targets
/// first.
void crossEntropyBackward(const Stream &stream, const Operand &dloss, const Operand &logits,
                          const Operand &targets, const Operand &lse, const Operand &dlogits,
                          const CrossEntropyOptions &options = {}, Loc loc = Loc::here());
Tensor crossEntropyBackward(const Stream &stream, const Operand &dloss, const Operand &logits,
                            const Operand &targets, const Operand &lse,
                            const CrossEntropyOptions &options = {}, Loc loc = Loc::here());

} // namespace tile::ops
