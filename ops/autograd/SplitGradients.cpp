// Parts of variables, and variables made of parts: what one does to values, the other does to gradients.
#include "ops/autograd/Shapes.h"

#include <tile/autograd/Ops.h>
#include <tile/ops/Arithmetic.h>

#include <numeric>

namespace tile::autograd {
namespace {

using detail::ExtentList;

[[noreturn]] void refuse(ErrorCode code, const std::string &message, Loc loc) {
  throw Error(Fault::User, code, message, loc);
}

int dimensionOf(const char *op, const Tensor &x, int dim, Loc loc) {
  int counted = dim < 0 ? dim + x.rank() : dim;
  if (counted < 0 || counted >= x.rank())
    refuse(ErrorCode::InvalidArgument,
           std::string(op) + ": dimension " + std::to_string(dim) + " of " + ops::Operand(x).str() +
               ", which has " + std::to_string(x.rank()),
           loc);
  return counted;
}

std::string textOf(const ExtentList &extents) {
  std::string text;
  for (int64_t extent : extents)
    text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return "{" + text + "}";
}

std::vector<Tensor> partsOf(const Tensor &x, int dim, const ExtentList &extents) {
  std::vector<Tensor> parts;
  int64_t start = 0;
  for (int64_t extent : extents) {
    parts.push_back(x.slice(dim, start, extent));
    start += extent;
  }
  return parts;
}

/// A tensor of such parts; those that are none are zeros. `extents` are its own but for `dim`.
Tensor joined(const Stream &stream, std::span<const Tensor> parts, int dim,
              const ExtentList &lengths, ExtentList extents, DType dtype, Loc loc) {
  extents[static_cast<size_t>(dim)] = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
  Tensor whole = stream.tensor(dtype, extents);
  std::vector<Tensor> places = partsOf(whole, dim, lengths);
  for (size_t i = 0; i < places.size(); ++i)
    if (parts[i])
      ops::copy(stream, parts[i], places[i], loc);
    else
      ops::fill(stream, 0, places[i], loc);
  return whole;
}

struct Split final : detail::AnyFunction {
  int dim;
  ExtentList lengths, extents;
  DType dtype = any;

  Split(int dim, ExtentList lengths) : dim(dim), lengths(std::move(lengths)) {}
  std::vector<Tensor> forward(Context &context, std::span<const Tensor> inputs) override {
    const Tensor &x = inputs[0];
    dim = dimensionOf("split", x, dim, context.where());
    int64_t total = 0;
    bool isSize = true;
    for (int64_t length : lengths)
      isSize = isSize && length >= 0, total += length;
    if (!isSize || total != x.extent(dim))
      refuse(ErrorCode::InvalidShape,
             "split: x is " + ops::Operand(x).str() + ", its parts along dimension " +
                 std::to_string(dim) + " have extents " + textOf(lengths) +
                 ": they must add up to " + std::to_string(x.extent(dim)),
             context.where());
    extents = detail::extentsOf(x), dtype = x.dtype();
    return partsOf(x, dim, lengths);
  }
  std::vector<Tensor> backward(Context &context, std::span<const Tensor> outputs) override {
    return {joined(context.stream(), outputs, dim, lengths, extents, dtype, context.where())};
  }
};

struct Concatenate final : detail::AnyFunction {
  int dim;
  ExtentList lengths = {};

  explicit Concatenate(int dim) : dim(dim) {}
  std::vector<Tensor> forward(Context &context, std::span<const Tensor> inputs) override {
    const Tensor &first = inputs[0];
    Loc where = context.where();
    dim = dimensionOf("concatenate", first, dim, where);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Tensor &part = inputs[i];
      bool fits = part && part.rank() == first.rank() && part.dtype() == first.dtype();
      for (int other = 0; fits && other < first.rank(); ++other)
        fits = other == dim || part.extent(other) == first.extent(other);
      if (!fits)
        refuse(ErrorCode::InvalidShape,
               "concatenate: part " + std::to_string(i) + " is " +
                   (part ? ops::Operand(part).str() : "no variable") + ", the first is " +
                   ops::Operand(first).str() + ": they may differ in dimension " +
                   std::to_string(dim) + " alone",
               where);
      lengths.push_back(part.extent(dim));
    }
    return {joined(context.stream(), inputs, dim, lengths, detail::extentsOf(first), first.dtype(),
                   where)};
  }
  std::vector<Tensor> backward(Context &, std::span<const Tensor> outputs) override {
    return partsOf(outputs[0], dim, lengths);
  }
};

} // namespace

std::vector<Variable> split(const Variable &x, int dim, std::vector<int64_t> extents, Loc loc) {
  return detail::applyAny(std::make_unique<Split>(dim, std::move(extents)), "split", loc, {&x, 1});
}
Variable concatenate(std::span<const Variable> parts, int dim, Loc loc) {
  if (parts.empty() || !parts[0])
    refuse(ErrorCode::InvalidArgument, "concatenate: there is nothing to put together", loc);
  return detail::applyAny(std::make_unique<Concatenate>(dim), "concatenate", loc, parts)[0];
}

} // namespace tile::autograd
