// Embeddings of variables.
#include "ops/autograd/Shapes.h"

#include <tile/autograd/Embedding.h>
#include <tile/autograd/Function.h>
#include <tile/ops/Embedding.h>

namespace tile::autograd {
namespace {

struct Embedding {
  static constexpr const char *kName = "embedding";
  Tensor indices;
  DType dtype = any;
  detail::ExtentList extents = {};

  Tensor forward(Context &context, const Tensor &table) {
    context.save({indices});
    dtype = table.dtype(), extents = detail::extentsOf(table);
    return ops::embedding(context.stream(), table, indices, context.where());
  }
  Tensor backward(Context &context, const Tensor &dy) {
    Tensor dtable = context.stream().tensor(dtype, extents);
    ops::embeddingBackward(context.stream(), context.saved(0), dy, dtable, context.where());
    return dtable;
  }
};

struct Rotate {
  static constexpr const char *kName = "rotate";
  Tensor cosines, sines;
  ops::RotaryOptions options;

  Tensor forward(Context &context, const Tensor &x) {
    context.save({cosines, sines});
    Tensor y = context.stream().tensor(x.dtype(), x.extents());
    ops::rotate(context.stream(), x, cosines, sines, y, options, context.where());
    return y;
  }
  Tensor backward(Context &context, const Tensor &dy) {
    Tensor dx = context.stream().tensor(dy.dtype(), dy.extents());
    ops::rotateBackward(context.stream(), dy, context.saved(0), context.saved(1), dx, options,
                        context.where());
    return dx;
  }
};

} // namespace

Variable embedding(const Variable &table, const Tensor &indices, Loc loc) {
  return apply(Embedding{indices}, loc, table);
}
Variable rotate(const Variable &x, const Tensor &cosines, const Tensor &sines,
                const ops::RotaryOptions &options, Loc loc) {
  return apply(Rotate{cosines, sines, options}, loc, x);
}

} // namespace tile::autograd
