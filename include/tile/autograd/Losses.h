// Softmax and cross-entropy of variables: the functions of ops/Softmax.h and ops/CrossEntropy.h,
// with gradients.
//
// Errors: those of the op, at the caller's line.
#pragma once

#include <tile/autograd/Variable.h>
#include <tile/ops/CrossEntropy.h>

namespace tile::autograd {

/// exp(x - m) / sum of exp(x - m) along a dimension, where m is the largest x; the result is kept
/// for the gradient.
Variable softmax(const Variable &x, int dim = -1, Loc loc = Loc::here());
/// Its logarithm, which is kept instead.
Variable logSoftmax(const Variable &x, int dim = -1, Loc loc = Loc::here());

/// The cross-entropy of rows of logits and their targets (i32 or i64, which have no gradient),
/// reduced as the options say: f32, of f64 logits f64. Kept are the logits, the targets, and one
/// number for each row.
Variable crossEntropy(const Variable &logits, const Tensor &targets,
                      const ops::CrossEntropyOptions &options = {}, Loc loc = Loc::here());

} // namespace tile::autograd
