// A number of whatever type it is written in, not rounded to another.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <variant>

namespace tile {

/// An integer of up to 64 bits, with or without a sign, or a double: any number of C++ turns into
/// one, and stays what it is.
class Number {
public:
  template <std::signed_integral T> Number(T value) : value_(static_cast<int64_t>(value)) {}
  template <std::unsigned_integral T> Number(T value) : value_(static_cast<uint64_t>(value)) {}
  template <class T>
  requires(std::convertible_to<T, double> && !std::integral<T>) Number(T value)
      : value_(static_cast<double>(value)) {}

  /// As a type that holds every one of them (where a long double has 64 bits of mantissa).
  long double exact() const {
    return std::visit([](auto value) { return static_cast<long double>(value); }, value_);
  }
  /// The nearest double.
  double asDouble() const { return static_cast<double>(exact()); }
  /// Whether it is an integer from `least` to `most`.
  bool isWithin(int64_t least, uint64_t most) const;
  /// The integer modulo 2^64. The number must be within those of 64 bits, with or without a sign.
  uint64_t asBits() const;
  /// "18446744073709551615", "-0.5"
  std::string str() const;

private:
  std::variant<int64_t, uint64_t, double> value_;
};

} // namespace tile
