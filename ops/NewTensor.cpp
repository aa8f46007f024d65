#include "ops/NewTensor.h"

#include <algorithm>

namespace tile::ops {

Tensor newLike(const Stream &stream, const Operand &x, DType dtype) {
  int64_t extents[kMaxRank];
  for (int dim = 0; dim < x.rank(); ++dim)
    extents[dim] = x.extent(dim);
  return stream.tensor(dtype, {extents, static_cast<size_t>(x.rank())});
}

Tensor newBroadcast(const Stream &stream, const Arguments &arguments,
                    std::initializer_list<Named> operands, DType dtype) {
  int rank = 0;
  for (const Named &named : operands)
    rank = std::max(rank, named.operand.rank());
  int64_t extents[kMaxRank];
  std::fill_n(extents, rank, 1);
  for (const Named &named : operands)
    for (int own = 0; own < named.operand.rank(); ++own) {
      int64_t &extent = extents[rank - named.operand.rank() + own];
      if (extent == 1)
        extent = named.operand.extent(own);
    }
  // What each operand brought must be 1 or what came of all.
  for (const Named &named : operands)
    for (int own = 0; own < named.operand.rank(); ++own) {
      int64_t extent = extents[rank - named.operand.rank() + own];
      if (named.operand.extent(own) != 1 && named.operand.extent(own) != extent)
        arguments.refuseBroadcast(*operands.begin(), named);
    }
  return stream.tensor(dtype, {extents, static_cast<size_t>(rank)});
}

} // namespace tile::ops
