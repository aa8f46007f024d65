// Other views and other dtypes of variables.
#include "ops/autograd/Shapes.h"

#include <tile/autograd/Ops.h>
#include <tile/ops/Arithmetic.h>

#include <algorithm>

namespace tile::autograd {
namespace {

using detail::ExtentList;

struct Reshape {
  static constexpr const char *kName = "reshape";
  ExtentList shape, before = {};
  Tensor forward(Context &context, const Tensor &x) {
    before = detail::extentsOf(x);
    try {
      return detail::reshaped(context.stream(), x, shape, context.where());
    } catch (const Error &error) { // a tensor does not know who asked
      throw Error(error.fault(), error.code(), "reshape: " + error.message(), context.where());
    }
  }
  Tensor backward(Context &context, const Tensor &dy) {
    return detail::reshaped(context.stream(), dy, before, context.where());
  }
};

struct Permute {
  static constexpr const char *kName = "permute";
  std::vector<int> order;
  Tensor forward(Context &context, const Tensor &x) {
    std::vector<int> sorted = order;
    std::ranges::sort(sorted);
    bool isPermutation = static_cast<int>(sorted.size()) == x.rank();
    for (size_t dim = 0; isPermutation && dim < sorted.size(); ++dim)
      isPermutation = sorted[dim] == static_cast<int>(dim);
    if (!isPermutation)
      throw Error(Fault::User, ErrorCode::InvalidArgument,
                  "permute: x is " + ops::Operand(x).str() + ", the order has " +
                      std::to_string(order.size()) + " dimensions: each of the " +
                      std::to_string(x.rank()) + " of x is needed once",
                  context.where());
    return detail::permuted(x, order);
  }
  Tensor backward(Context &, const Tensor &dy) {
    std::vector<int> inverse(order.size());
    for (size_t i = 0; i < order.size(); ++i)
      inverse[static_cast<size_t>(order[i])] = static_cast<int>(i);
    return detail::permuted(dy, inverse);
  }
};

struct Cast {
  static constexpr const char *kName = "cast";
  DType dtype, before = any;
  Tensor forward(Context &context, const Tensor &x) {
    before = x.dtype();
    for (DType each : {before, dtype})
      if (each != f16 && each != bf16 && each != f32 && each != f64)
        throw Error(Fault::User, ErrorCode::InvalidArgument,
                    "cast: x is " + ops::Operand(x).str() + ", to become " + nameOf(dtype) +
                        "; supported dtypes: f16, bf16, f32, f64",
                    context.where());
    return ops::copy(context.stream(), x, dtype, context.where());
  }
  Tensor backward(Context &context, const Tensor &dy) {
    return ops::copy(context.stream(), dy, before, context.where());
  }
};

} // namespace

Variable reshape(const Variable &x, std::vector<int64_t> shape, Loc loc) {
  return apply(Reshape{std::move(shape)}, loc, x);
}
Variable permute(const Variable &x, std::vector<int> order, Loc loc) {
  return apply(Permute{std::move(order)}, loc, x);
}
Variable cast(const Variable &x, DType dtype, Loc loc) { return apply(Cast{dtype}, loc, x); }

} // namespace tile::autograd
