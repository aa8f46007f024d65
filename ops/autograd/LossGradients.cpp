// Softmax and cross-entropy of variables.
#include <tile/autograd/Function.h>
#include <tile/autograd/Losses.h>
#include <tile/ops/Softmax.h>

namespace tile::autograd {
namespace {

struct Softmax {
  static constexpr const char *kName = "softmax";
  int dim;
  Tensor forward(Context &context, const Tensor &x) {
    Tensor y = ops::softmax(context.stream(), x, dim, context.where());
    context.save({y});
    return y;
  }
  Tensor backward(Context &context, const Tensor &dy) {
    return ops::softmaxBackward(context.stream(), dy, context.saved(0), dim, context.where());
  }
};

struct LogSoftmax {
  static constexpr const char *kName = "logSoftmax";
  int dim;
  Tensor forward(Context &context, const Tensor &x) {
    Tensor y = ops::logSoftmax(context.stream(), x, dim, context.where());
    context.save({y});
    return y;
  }
  Tensor backward(Context &context, const Tensor &dy) {
    return ops::logSoftmaxBackward(context.stream(), dy, context.saved(0), dim, context.where());
  }
};

struct CrossEntropy {
  static constexpr const char *kName = "crossEntropy";
  Tensor targets;
  ops::CrossEntropyOptions options;

  Tensor forward(Context &context, const Tensor &logits) {
    Stream &stream = context.stream();
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

Variable softmax(const Variable &x, int dim, Loc loc) { return apply(Softmax{dim}, loc, x); }
Variable logSoftmax(const Variable &x, int dim, Loc loc) { return apply(LogSoftmax{dim}, loc, x); }
Variable crossEntropy(const Variable &logits, const Tensor &targets,
                      const ops::CrossEntropyOptions &options, Loc loc) {
  return apply(CrossEntropy{targets, options}, loc, logits);
}

} // namespace tile::autograd
