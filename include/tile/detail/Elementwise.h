// Functions that libraries call on tiles whose extents their users have not chosen.
#pragma once

#include <tile/Value.h>

#include <concepts>
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
  /// `result` is a tile of `extents`, or broadcasts to one. Error: InvalidShape, at
  /// the line of its operation.
  void checkResult(const Value &result, const Shape &extents) const;

private:
  const char *op_;
  size_t first_; ///< of the operations
};

/// f(arguments...), a tile of `extents` or several, checked.
template <class F, class... Arguments>
auto elementwise(const char *op, const Shape &extents, const F &f, const Arguments &...arguments) {
  ElementwisePart part(op);
  auto result = f(arguments...);
  part.check();
  if constexpr (std::convertible_to<decltype(result), Value>)
    part.checkResult(result, extents);
  else
    for (const Value &each : result)
      part.checkResult(each, extents);
  return result;
}

} // namespace tile::detail
