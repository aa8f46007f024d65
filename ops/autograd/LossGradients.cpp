// Softmax and cross-entropy of variables.
#include <tile/autograd/Function.h>
#include <tile/autograd/Losses.h>
#include <tile/ops/Softmax.h>

namespace tile::autograd {
namespace {

/// A function of ops and its gradient, which takes the function's result; that is saved for it.
struct RowFunction {
  const char *name;
  Tensor (*of)(const Stream &, const ops::Operand &, int, Loc);
  Tensor (*backward)(const Stream &, const ops::Operand &, const ops::Operand &, int, Loc);
};
constexpr RowFunction kSoftmax{"softmax", ops::softmax, ops::softmaxBackward};
constexpr RowFunction kLogSoftmax{"logSoftmax", ops::logSoftmax, ops::logSoftmaxBackward};

template <const RowFunction &function> struct RowFunctionOf {
  static constexpr const char *kName = function.name;
  int dim;
  Tensor forward(Context &context, const Tensor &x) {
    Tensor y = function.of(context.stream(), x, dim, context.where());
    context.save({y});
    return y;
  }
  Tensor backward(Context &context, const Tensor &dy) {
    return function.backward(context.stream(), dy, context.saved(0), dim, context.where());
  }
};

struct CrossEntropy {
  static constexpr const char *kName = "crossEntropy";
  Tensor targets;
  ops::CrossEntropyOptions options;

  Tensor forward(Context &context, const Tensor &logits) {
    const Stream &stream = context.stream();
    Loc where = context.where();
    if (!context.isRecorded())
      return ops::crossEntropy(stream, logits, targets, options, where);
    DType dtype = logits.dtype() == f64 ? f64 : f32;
    bool isReduced = options.reduction != ops::LossReduction::None;
    Tensor lse = stream.tensor(dtype, targets.extents());
    Tensor loss = isReduced ? stream.tensor(dtype, {}) : stream.tensor(dtype, targets.extents());
    ops::crossEntropy(stream, logits, targets, loss, lse, options, where);
    context.save({logits, targets, lse});
    return loss;
  }
  Tensor backward(Context &context, const Tensor &dloss) {
    return ops::crossEntropyBackward(context.stream(), dloss, context.saved(0), context.saved(1),
                                     context.saved(2), options, context.where());
  }
};

} // namespace

Variable softmax(const Variable &x, int dim, Loc loc) {
  return apply(RowFunctionOf<kSoftmax>{dim}, loc, x);
}
Variable logSoftmax(const Variable &x, int dim, Loc loc) {
  return apply(RowFunctionOf<kLogSoftmax>{dim}, loc, x);
}
Variable crossEntropy(const Variable &logits, const Tensor &targets,
                      const ops::CrossEntropyOptions &options, Loc loc) {
  return apply(CrossEntropy{targets, options}, loc, logits);
}

} // namespace tile::autograd
