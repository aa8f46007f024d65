#include "ops/autograd/Shapes.h"

#include <tile/ops/Arithmetic.h>
#include <tile/ops/Reduce.h>

#include <numeric>

namespace tile::autograd::detail {

Tensor summedTo(const Stream &stream, const Tensor &x, const ExtentList &extents, Loc loc) {
  if (extentsOf(x) == extents)
    return x;
  Tensor y = stream.tensor(x.dtype(), extents);
  ops::sumTo(stream, x, y, loc);
  return y;
}

Tensor repeated(const Tensor &x, const ExtentList &extents) {
  std::vector<int64_t> strides(extents.size(), 0);
  size_t missing = extents.size() - static_cast<size_t>(x.rank());
  for (int dim = 0; dim < x.rank(); ++dim)
    if (x.extent(dim) != 1)
      strides[missing + static_cast<size_t>(dim)] = x.stride(dim);
  return x.withStrides(extents, std::move(strides));
}

Tensor permuted(const Tensor &x, std::span<const int> order) {
  std::vector<int64_t> extents, strides;
  for (int dim : order)
    extents.push_back(x.extent(dim)), strides.push_back(x.stride(dim));
  return x.withStrides(std::move(extents), std::move(strides));
}

Tensor transposed(const Tensor &x) {
  std::vector<int> order(static_cast<size_t>(x.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return permuted(x, order);
}

Tensor reshaped(const Stream &stream, const Tensor &x, const ExtentList &shape, Loc loc) {
  return x.isContiguous() ? x.reshape(shape) : ops::copy(stream, x, any, loc).reshape(shape);
}

Tensor asRows(const Stream &stream, const Tensor &x, Loc loc) {
  // Rows are counted by their own extents: those without columns are rows too.
  int64_t rows = 1, columns = x.rank() ? x.extent(x.rank() - 1) : 1;
  for (int dim = 0; dim + 1 < x.rank(); ++dim)
    rows *= x.extent(dim);
  return reshaped(stream, x, {rows, columns}, loc);
}

} // namespace tile::autograd::detail
