#include "ops/NewTensor.h"

#include <algorithm>

namespace tile::ops {

std::optional<Extents> commonExtents(std::initializer_list<Operand> operands) {
  int rank = 0;
  for (const Operand &operand : operands)
    rank = std::max(rank, operand.rank());
  Extents extents;
  for (int dim = 0; dim < rank; ++dim)
    extents.append(1);
  for (const Operand &operand : operands)
    for (int own = 0; own < operand.rank(); ++own) {
      int64_t &extent = extents[rank - operand.rank() + own];
      if (extent == 1)
        extent = operand.extent(own);
      else if (operand.extent(own) != 1 && operand.extent(own) != extent)
        return {};
    }
  return extents;
}

Extents broadcastExtents(const Arguments &arguments, Named first, Named second) {
  arguments.given(first), arguments.given(second);
  if (std::optional<Extents> extents = commonExtents({first.operand, second.operand}))
    return *extents;
  arguments.refuseBroadcast(first, second);
}

Tensor newTensor(const Arguments &arguments, DType dtype, std::span<const int64_t> extents) {
  try {
    return arguments.site().stream.tensor(dtype, extents);
  } catch (const Error &error) {
    arguments.fail(error.code(), error.message());
  }
}

Tensor newLike(const Arguments &arguments, Named x, DType dtype) {
  arguments.given(x);
  return newTensor(arguments, dtype, Extents(x.operand).span());
}

Tensor newBroadcast(const Arguments &arguments, Named first, Named second, DType dtype) {
  return newTensor(arguments, dtype, broadcastExtents(arguments, first, second).span());
}

Tensor temporaryLike(const Stream &stream, const Operand &x, DType dtype) {
  return stream.tensor(dtype, Extents(x).span());
}

} // namespace tile::ops
