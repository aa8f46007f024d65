#include "ops/NewTensor.h"

#include <algorithm>

namespace tile::ops {

Extents broadcastExtents(const Arguments &arguments, std::initializer_list<Named> operands) {
  int rank = 0;
  for (const Named &named : operands)
    rank = std::max(rank, named.operand.rank());
  Extents extents;
  for (int dim = 0; dim < rank; ++dim)
    extents.append(1);
  for (const Named &named : operands)
    for (int own = 0; own < named.operand.rank(); ++own) {
      int64_t &extent = extents[rank - named.operand.rank() + own];
      if (extent == 1)
        extent = named.operand.extent(own);
    }
  // The first loop took any extent that is not 1: each operand's must be 1 or equal to the result's.
  for (const Named &named : operands)
    for (int own = 0; own < named.operand.rank(); ++own) {
      int64_t extent = extents[rank - named.operand.rank() + own];
      if (named.operand.extent(own) != 1 && named.operand.extent(own) != extent)
        arguments.refuseBroadcast(*operands.begin(), named);
    }
  return extents;
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

Tensor newBroadcast(const Arguments &arguments, std::initializer_list<Named> operands,
                    DType dtype) {
  for (const Named &operand : operands)
    arguments.given(operand);
  return newTensor(arguments, dtype, broadcastExtents(arguments, operands).span());
}

Tensor temporaryLike(const Stream &stream, const Operand &x, DType dtype) {
  return stream.tensor(dtype, Extents(x).span());
}

} // namespace tile::ops
