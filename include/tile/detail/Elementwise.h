// Functions that libraries call on tiles whose extents their users have not chosen.
#pragma once

#include <tile/Error.h>

#include <cstddef>

namespace tile::detail {

/// While it lives, it sees what the kernel being traced computes: check() refuses what is not of
/// each element by itself, such as a sum or another shape, since its result would follow from the
/// extents of the tile. `op` is what the error begins with.
class ElementwisePart {
public:
  explicit ElementwisePart(const char *op);
  /// Error: InvalidArgument, at the line of the operation.
  void check() const;

private:
  const char *op_;
  size_t first_; ///< of the operations
};

/// f(arguments...), checked.
template <class F, class... Arguments>
auto elementwise(const char *op, const F &f, const Arguments &...arguments) {
  ElementwisePart part(op);
  auto result = f(arguments...);
  part.check();
  return result;
}

} // namespace tile::detail
