// Constants of a kernel: parameters that are host values while it is traced, and part of the
// specialisation.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace tile {

/// An integer parameter of a kernel that is a constant while tracing and part of the
/// specialisation. It behaves as the `int` it holds: `if (BM == 128)`, `BM * BN` and `{BM, BN}` are
/// ordinary C++.
class Const {
public:
  constexpr Const(int value) : value_(value) {}
  constexpr operator int() const { return value_; }

private:
  int value_;
};

/// An `int`-like host type: integral types except bool, or a Const.
template <class T>
concept HostInt = (std::integral<T> && !std::same_as<T, bool>) || std::same_as<T, Const>;

} // namespace tile
