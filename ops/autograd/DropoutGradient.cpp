// Dropout of variables: the state of the generator stands for the mask.
#include <tile/autograd/Ops.h>
#include <tile/detail/autograd/Checkpoint.h>

namespace tile::autograd {
namespace {

struct Dropout {
  static constexpr const char *kName = "dropout";
  double p;
  ops::Generator before;

  Tensor forward(Context &context, const Tensor &x) {
    ops::Generator generator = before;
    return ops::dropout(context.stream(), generator, x, p, context.where());
  }
  Tensor backward(Context &context, const Tensor &dy) {
    return ops::dropoutBackward(context.stream(), before, dy, p, context.where());
  }
};

} // namespace

Variable dropout(const Variable &x, double p, ops::Generator &generator, Loc loc) {
  detail::beforeMove(generator.offset);
  return apply(Dropout{p, generator.take(static_cast<uint64_t>(x.value().numel()))}, loc, x);
}

} // namespace tile::autograd
