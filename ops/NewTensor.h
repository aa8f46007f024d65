// The outputs of the forms of ops that allocate.
#pragma once

#include "ops/Arguments.h"

#include <tile/Tensor.h>

#include <optional>

namespace tile::ops {

/// A list of extents, on the stack.
class Extents {
public:
  Extents() = default;
  explicit Extents(const Operand &x) : count_(x.rank()) {
    for (int dim = 0; dim < count_; ++dim)
      list_[dim] = x.extent(dim);
  }
  int64_t &operator[](int dim) { return list_[dim]; }
  /// One more, behind the others; what does not fit is refused where the tensor is made.
  void append(int64_t extent) {
    if (count_ < kMaxRank)
      list_[count_] = extent;
    ++count_;
  }
  std::span<const int64_t> span() const { return {list_, static_cast<size_t>(count_)}; }

private:
  int64_t list_[kMaxRank + 1] = {};
  int count_ = 0;
};

/// The extents that the operands broadcast to by NumPy's rule, or none.
std::optional<Extents> commonExtents(std::initializer_list<Operand> operands);
/// Those of two; operands that do not broadcast are refused.
Extents broadcastExtents(const Arguments &arguments, Named first, Named second);

/// A row-major tensor of the stream, for the caller: errors name the op and are at the caller's line.
Tensor newTensor(const Arguments &arguments, DType dtype, std::span<const int64_t> extents);
/// One with x's extents.
Tensor newLike(const Arguments &arguments, Named x, DType dtype);
/// One with the extents that both broadcast to.
Tensor newBroadcast(const Arguments &arguments, Named first, Named second, DType dtype);

/// Temporary memory with x's extents, row-major.
Tensor temporaryLike(const Stream &stream, const Operand &x, DType dtype);

} // namespace tile::ops
