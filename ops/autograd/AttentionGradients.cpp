// Attention of variables.
#include <tile/autograd/Attention.h>
#include <tile/autograd/Function.h>

namespace tile::autograd {
namespace {

struct Attention {
  static constexpr const char *kName = "attention";
  ops::AttentionOptions options;

  Tensor forward(Context &context, const Tensor &q, const Tensor &k, const Tensor &v) {
    const Stream &stream = context.stream();
    if (!context.isRecorded() || q.rank() != 4) // another rank is refused
      return ops::attention(stream, q, k, v, options, context.where());
    Tensor out = stream.tensor(q.dtype(), q.extents());
    Tensor lse = stream.tensor(f32, q.extents().first(3));
    ops::attention(stream, q, k, v, out, lse, options, context.where());
    context.save({q, k, v, out, lse});
    return out;
  }
  std::array<Tensor, 3> backward(Context &context, const Tensor &dout) {
    auto [dq, dk, dv] = ops::attentionBackward(context.stream(), context.saved(0), context.saved(1),
                                               context.saved(2), context.saved(3), context.saved(4),
                                               dout, options, context.where());
    return {dq, dk, dv};
  }
};

} // namespace

Variable attention(const Variable &q, const Variable &k, const Variable &v,
                   const ops::AttentionOptions &options, Loc loc) {
  return apply(Attention{options}, loc, q, k, v);
}

} // namespace tile::autograd
