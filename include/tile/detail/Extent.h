// The elements of a braced list of extents. Users need Shape.h alone.
#pragma once

#include <tile/Const.h>
#include <tile/detail/AlwaysFalse.h>

namespace tile::detail {

struct Operators;

/// One extent in a braced list. It exists so that `{BM, 32u, n}` needs no casts and a staged value
/// is refused.
struct Extent {
  int64_t value = 0;
  template <class T>
  requires HostInt<std::remove_cvref_t<T>>
  constexpr Extent(const T &extent) : value(static_cast<int64_t>(extent)) {}
  template <class T>
  requires std::derived_from<T, Operators>
  constexpr Extent(const T &) {
    static_assert(kAlwaysFalse<T>, "a tile's shape is made of host constants (int or Const), "
                                   "not of staged values: make it a Const parameter of the kernel");
  }
};

} // namespace tile::detail
