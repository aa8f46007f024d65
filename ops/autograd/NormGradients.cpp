// Normalisation of variables.
#include <tile/autograd/Function.h>
#include <tile/autograd/Norm.h>
#include <tile/ops/Arithmetic.h>
#include <tile/ops/Norm.h>

namespace tile::autograd {
namespace {

/// Layer normalisation, or without a mean that of the root mean square; the same for a tensor and for a sum.
struct Norm {
  double epsilon;
  bool hasMean;

  struct Statistics {
    Tensor mean, rstd;
  };
  /// Room for what backward needs of each row; none if it will not run.
  Statistics statistics(Context &context, const Tensor &x) const {
    if (!context.isRecorded() || x.rank() == 0)
      return {};
    auto rows = x.extents().first(x.extents().size() - 1);
    auto one = [&] { return context.stream().tensor(f32, rows); };
    return {hasMean ? one() : Tensor(), one()};
  }
  void save(Context &context, const Tensor &x, const Tensor &weight, const Tensor &bias,
            const Statistics &rows) {
    context.save({x, rows.rstd, weight, bias, rows.mean});
  }
  struct Gradients {
    Tensor x, weight, bias;
  };
  /// The gradients of the normalised tensor, of the weight and of the bias; `first` is the index of the weight's input.
  Gradients gradients(Context &context, const Tensor &dy, size_t first) const {
    const Stream &stream = context.stream();
    const Tensor &x = context.saved(0), &rstd = context.saved(1);
    const Tensor &weight = context.saved(2), &bias = context.saved(3);
    Gradients result;
    result.x = stream.tensor(x.dtype(), x.extents());
    if (weight && context.needs(first))
      result.weight = stream.tensor(weight.dtype(), weight.extents());
    if (bias && context.needs(first + 1))
      result.bias = stream.tensor(bias.dtype(), bias.extents());
    if (hasMean)
      ops::layernormBackward(stream, dy, x, weight, context.saved(4), rstd, result.x, result.weight,
                             result.bias, context.where());
    else
      ops::rmsnormBackward(stream, dy, x, weight, rstd, result.x, result.weight, context.where());
    return result;
  }
};

struct Layernorm : Norm {
  static constexpr const char *kName = "layernorm";
  Tensor forward(Context &context, const Tensor &x, const Tensor &weight, const Tensor &bias) {
    Tensor y = context.stream().tensor(x.dtype(), x.extents());
    auto rows = statistics(context, x);
    ops::layernorm(context.stream(), x, weight, bias, epsilon, y, rows.mean, rows.rstd,
                   context.where());
    save(context, x, weight, bias, rows);
    return y;
  }
  std::array<Tensor, 3> backward(Context &context, const Tensor &dy) {
    auto [dx, dweight, dbias] = gradients(context, dy, 1);
    return {dx, dweight, dbias};
  }
};

struct Rmsnorm : Norm {
  static constexpr const char *kName = "rmsnorm";
  Tensor forward(Context &context, const Tensor &x, const Tensor &weight) {
    Tensor y = context.stream().tensor(x.dtype(), x.extents());
    auto rows = statistics(context, x);
    ops::rmsnorm(context.stream(), x, weight, epsilon, y, rows.rstd, context.where());
    save(context, x, weight, Tensor(), rows);
    return y;
  }
  std::array<Tensor, 2> backward(Context &context, const Tensor &dy) {
    auto [dx, dweight, dbias] = gradients(context, dy, 1);
    return {dx, dweight};
  }
};

/// The gradients of the sum: what comes back through it, and through its norm.
Tensor both(Context &context, const Tensor &dsum, const Tensor &dx) {
  if (!dsum || !dx)
    return dsum ? dsum : dx;
  return ops::add(context.stream(), dsum, dx, context.where());
}

struct AddLayernorm : Norm {
  static constexpr const char *kName = "addLayernorm";
  std::array<Tensor, 2> forward(Context &context, const Tensor &x, const Tensor &residual,
                                const Tensor &weight, const Tensor &bias) {
    Tensor sum = context.stream().tensor(x.dtype(), x.extents());
    Tensor y = context.stream().tensor(x.dtype(), x.extents());
    auto rows = statistics(context, x);
    ops::addLayernorm(context.stream(), x, residual, weight, bias, epsilon, sum, y, rows.mean,
                      rows.rstd, context.where());
    save(context, sum, weight, bias, rows);
    return {sum, y};
  }
  std::array<Tensor, 4> backward(Context &context, const Tensor &dsum, const Tensor &dy) {
    auto [dx, dweight, dbias] = dy ? gradients(context, dy, 2) : Gradients();
    Tensor each = both(context, dsum, dx);
    return {each, each, dweight, dbias};
  }
};

struct AddRmsnorm : Norm {
  static constexpr const char *kName = "addRmsnorm";
  std::array<Tensor, 2> forward(Context &context, const Tensor &x, const Tensor &residual,
                                const Tensor &weight) {
    Tensor sum = context.stream().tensor(x.dtype(), x.extents());
    Tensor y = context.stream().tensor(x.dtype(), x.extents());
    auto rows = statistics(context, x);
    ops::addRmsnorm(context.stream(), x, residual, weight, epsilon, sum, y, rows.rstd,
                    context.where());
    save(context, sum, weight, Tensor(), rows);
    return {sum, y};
  }
  std::array<Tensor, 3> backward(Context &context, const Tensor &dsum, const Tensor &dy) {
    auto [dx, dweight, dbias] = dy ? gradients(context, dy, 2) : Gradients();
    Tensor each = both(context, dsum, dx);
    return {each, each, dweight};
  }
};

} // namespace

Variable layernorm(const Variable &x, const Variable &weight, const Variable &bias, double epsilon,
                   Loc loc) {
  return apply(Layernorm{{epsilon, true}}, loc, x, weight, bias);
}
Variable rmsnorm(const Variable &x, const Variable &weight, double epsilon, Loc loc) {
  return apply(Rmsnorm{{epsilon, false}}, loc, x, weight);
}
std::array<Variable, 2> addLayernorm(const Variable &x, const Variable &residual,
                                     const Variable &weight, const Variable &bias, double epsilon,
                                     Loc loc) {
  return apply(AddLayernorm{{epsilon, true}}, loc, x, residual, weight, bias);
}
std::array<Variable, 2> addRmsnorm(const Variable &x, const Variable &residual,
                                   const Variable &weight, double epsilon, Loc loc) {
  return apply(AddRmsnorm{{epsilon, false}}, loc, x, residual, weight);
}

} // namespace tile::autograd
