// Products of variables.
#include "ops/autograd/Shapes.h"

#include <tile/autograd/Ops.h>
#include <tile/ops/Arithmetic.h>

namespace tile::autograd {
namespace {

using detail::ExtentList;

/// c = a b: da = dc b^T, db = a^T dc.
struct Matmul {
  static constexpr const char *kName = "matmul";
  ops::MatmulOptions options;
  ExtentList a = {}, b = {};

  Tensor forward(Context &context, const Tensor &x, const Tensor &y) {
    a = detail::extentsOf(x), b = detail::extentsOf(y);
    context.save({x, y});
    return ops::matmul(context.stream(), x, y, options, context.where());
  }
  std::array<Tensor, 2> backward(Context &context, const Tensor &dz) {
    const Stream &stream = context.stream();
    Loc where = context.where();
    std::array<Tensor, 2> result;
    if (context.needs(0)) {
      Tensor product =
          ops::matmul(stream, dz, detail::transposed(context.saved(1)), options, where);
      result[0] = detail::summedTo(stream, product, a, where);
    }
    if (context.needs(1) && b.size() == 2 && a.size() > 2) {
      // One b for all batches: their rows are one long sum.
      Tensor rows = detail::asRows(stream, context.saved(0), where);
      result[1] = ops::matmul(stream, rows.T(), detail::asRows(stream, dz, where), options, where);
    } else if (context.needs(1)) {
      Tensor product =
          ops::matmul(stream, detail::transposed(context.saved(0)), dz, options, where);
      result[1] = detail::summedTo(stream, product, b, where);
    }
    return result;
  }
};

/// y = x W^T + bias: dx = dy W, dW = dy^T x, dbias = the sum of dy over the rows.
struct Linear {
  static constexpr const char *kName = "linear";
  ops::MatmulOptions options;

  Tensor forward(Context &context, const Tensor &x, const Tensor &weight, const Tensor &bias) {
    context.save({x, weight});
    return ops::linear(context.stream(), x, weight, bias, options, context.where());
  }
  std::array<Tensor, 3> backward(Context &context, const Tensor &dy) {
    const Stream &stream = context.stream();
    Loc where = context.where();
    std::array<Tensor, 3> result;
    Tensor rows = detail::asRows(stream, dy, where);
    const Tensor &x = context.saved(0), &weight = context.saved(1);
    if (context.needs(0))
      result[0] = ops::matmul(stream, rows, weight, options, where).reshape(detail::extentsOf(x));
    if (context.needs(1))
      result[1] = ops::matmul(stream, rows.T(), detail::asRows(stream, x, where), options, where);
    if (context.needs(2))
      result[2] = ops::sum(stream, rows, 0, tile::ReduceOptions(), where);
    return result;
  }
};

} // namespace

Variable matmul(const Variable &a, const Variable &b, const ops::MatmulOptions &options, Loc loc) {
  return apply(Matmul{options}, loc, a, b);
}
Variable linear(const Variable &x, const Variable &weight, const Variable &bias,
                const ops::MatmulOptions &options, Loc loc) {
  return apply(Linear{options}, loc, x, weight, bias);
}

} // namespace tile::autograd
