// Arithmetic and reductions of variables.
#include "ops/autograd/Shapes.h"

#include <tile/autograd/Ops.h>
#include <tile/ops/Arithmetic.h>

namespace tile::autograd {
namespace {

using detail::ExtentList;

/// The extents of two operands that broadcast, which the gradients are summed back to.
struct Broadcast {
  ExtentList a, b;
  void note(const Tensor &first, const Tensor &second) {
    a = detail::extentsOf(first), b = detail::extentsOf(second);
  }
};

struct Add : Broadcast {
  static constexpr const char *kName = "add";
  Tensor forward(Context &context, const Tensor &x, const Tensor &y) {
    note(x, y);
    return ops::add(context.stream(), x, y, context.where());
  }
  std::array<Tensor, 2> backward(Context &context, const Tensor &dz) {
    const Stream &stream = context.stream();
    return {context.needs(0) ? detail::summedTo(stream, dz, a, context.where()) : Tensor(),
            context.needs(1) ? detail::summedTo(stream, dz, b, context.where()) : Tensor()};
  }
};

struct Subtract : Broadcast {
  static constexpr const char *kName = "subtract";
  Tensor forward(Context &context, const Tensor &x, const Tensor &y) {
    note(x, y);
    return ops::subtract(context.stream(), x, y, context.where());
  }
  std::array<Tensor, 2> backward(Context &context, const Tensor &dz) {
    const Stream &stream = context.stream();
    std::array<Tensor, 2> result;
    if (context.needs(0))
      result[0] = detail::summedTo(stream, dz, a, context.where());
    if (context.needs(1))
      result[1] = ops::affine(stream, detail::summedTo(stream, dz, b, context.where()), -1, 0);
    return result;
  }
};

struct Multiply : Broadcast {
  static constexpr const char *kName = "multiply";
  Tensor forward(Context &context, const Tensor &x, const Tensor &y) {
    note(x, y);
    context.save({x, y});
    return ops::multiply(context.stream(), x, y, context.where());
  }
  std::array<Tensor, 2> backward(Context &context, const Tensor &dz) {
    auto gradient = [&](size_t other, const ExtentList &extents) {
      const Stream &stream = context.stream();
      Tensor product = ops::multiply(stream, dz, context.saved(other), context.where());
      return detail::summedTo(stream, product, extents, context.where());
    };
    return {context.needs(0) ? gradient(1, a) : Tensor(),
            context.needs(1) ? gradient(0, b) : Tensor()};
  }
};

/// z = x / y: dz/dx = 1 / y, dz/dy = -z / y
struct Divide : Broadcast {
  static constexpr const char *kName = "divide";
  Tensor forward(Context &context, const Tensor &x, const Tensor &y) {
    note(x, y);
    Tensor z = ops::divide(context.stream(), x, y, context.where());
    context.save({y, z});
    return z;
  }
  std::array<Tensor, 2> backward(Context &context, const Tensor &dz) {
    const Stream &stream = context.stream();
    Loc where = context.where();
    Tensor slope = ops::divide(stream, dz, context.saved(0), where);
    std::array<Tensor, 2> result;
    if (context.needs(0))
      result[0] = detail::summedTo(stream, slope, a, where);
    if (context.needs(1)) {
      Tensor product = ops::multiply(stream, slope, context.saved(1), where);
      result[1] = ops::affine(stream, detail::summedTo(stream, product, b, where), -1, 0, where);
    }
    return result;
  }
};

struct Affine {
  static constexpr const char *kName = "affine";
  double factor, offset;
  Tensor forward(Context &context, const Tensor &x) {
    return ops::affine(context.stream(), x, factor, offset, context.where());
  }
  Tensor backward(Context &context, const Tensor &dy) {
    return ops::affine(context.stream(), dy, factor, 0, context.where());
  }
};

struct Sum {
  static constexpr const char *kName = "sum";
  ops::Axes axes;
  tile::ReduceOptions options;
  ExtentList extents = {}, kept = {};

  Tensor forward(Context &context, const Tensor &x) {
    extents = detail::extentsOf(x);
    Tensor y = ops::sum(context.stream(), x, axes, {.keep_dims = true}, context.where());
    kept = detail::extentsOf(y);
    return options.keep_dims ? y : y.reshape(withoutReduced(x));
  }
  Tensor backward(Context &, const Tensor &dy) {
    return detail::repeated(dy.rank() == static_cast<int>(kept.size()) ? dy : spread(dy), extents);
  }

private:
  bool goes(int dim) const {
    if (axes.isAll)
      return true;
    for (int i = 0; i < axes.count; ++i)
      if (axes.list[i] == dim || axes.list[i] + static_cast<int>(extents.size()) == dim)
        return true;
    return false;
  }
  ExtentList withoutReduced(const Tensor &x) const {
    ExtentList result;
    for (int dim = 0; dim < x.rank(); ++dim)
      if (!goes(dim))
        result.push_back(x.extent(dim));
    return result;
  }
  /// dy with the reduced dimensions back, of extent 1.
  Tensor spread(const Tensor &dy) const {
    ExtentList strides;
    int own = 0;
    for (int dim = 0; dim < static_cast<int>(kept.size()); ++dim)
      strides.push_back(goes(dim) ? 0 : dy.stride(own++));
    return dy.withStrides(kept, strides);
  }
};

int64_t elementsReduced(const Variable &x, const Variable &sum) {
  return sum.value().numel() ? x.value().numel() / sum.value().numel() : 0;
}

} // namespace

Variable add(const Variable &a, const Variable &b, Loc loc) { return apply(Add(), loc, a, b); }
Variable subtract(const Variable &a, const Variable &b, Loc loc) {
  return apply(Subtract(), loc, a, b);
}
Variable multiply(const Variable &a, const Variable &b, Loc loc) {
  return apply(Multiply(), loc, a, b);
}
Variable divide(const Variable &a, const Variable &b, Loc loc) {
  return apply(Divide(), loc, a, b);
}
Variable affine(const Variable &x, double factor, double offset, Loc loc) {
  return apply(Affine{factor, offset}, loc, x);
}
Variable sum(const Variable &x, const ops::Axes &axes, const tile::ReduceOptions &options,
             Loc loc) {
  return apply(Sum{axes, options}, loc, x);
}
Variable mean(const Variable &x, const ops::Axes &axes, const tile::ReduceOptions &options,
              Loc loc) {
  Variable total = sum(x, axes, options, loc);
  return affine(total, 1.0 / static_cast<double>(elementsReduced(x, total)), 0, loc);
}

} // namespace tile::autograd
