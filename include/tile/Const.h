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

/// The same of a bool or an enum, as which it behaves: `ConstOf<bool> causal`,
/// `ConstOf<Precision> precision`. In `consts(...)` its value is a T; in text, as on tilec's
/// command line, the number behind it.
template <class T> class ConstOf {
public:
  static_assert(std::same_as<T, bool> || std::is_enum_v<T>,
                "ConstOf holds a bool or an enum; a Const holds an int");
  constexpr ConstOf(T value) : value_(value) {}
  constexpr operator T() const { return value_; }

private:
  T value_;
};

/// An `int`-like host type: integral types except bool, or a Const.
template <class T>
concept HostInt = (std::integral<T> && !std::same_as<T, bool>) || std::same_as<T, Const>;

} // namespace tile
