// What Value, Var and Arg rest on. Users need Value.h alone.
#pragma once

#include <tile/Types.h>
#include <tile/detail/AlwaysFalse.h>

#include <concepts>
#include <type_traits>

namespace tile {

class Arg;
class Value;
class Var;

namespace detail {

class InOutRef;
class StoreRef;

/// Base of everything staged. Its friends are the operators: argument-dependent lookup finds them
/// only if one operand is staged.
struct Operators {
  friend Value operator+(Arg lhs, Arg rhs);
  friend Value operator-(Arg lhs, Arg rhs);
  friend Value operator*(Arg lhs, Arg rhs);
  friend Value operator/(Arg lhs, Arg rhs);
  friend Value operator%(Arg lhs, Arg rhs);
  friend Value operator&(Arg lhs, Arg rhs);
  friend Value operator|(Arg lhs, Arg rhs);
  friend Value operator^(Arg lhs, Arg rhs);
  friend Value operator<<(Arg lhs, Arg rhs);
  friend Value operator>>(Arg lhs, Arg rhs);
  friend Value operator==(Arg lhs, Arg rhs);
  friend Value operator!=(Arg lhs, Arg rhs);
  friend Value operator<(Arg lhs, Arg rhs);
  friend Value operator<=(Arg lhs, Arg rhs);
  friend Value operator>(Arg lhs, Arg rhs);
  friend Value operator>=(Arg lhs, Arg rhs);
  friend Value operator-(Arg operand);
  friend Value operator~(Arg operand);

  /// Refuses `if (value)`, `value && value` and `!value` with a sentence.
  template <class Dummy = void> explicit operator bool() const {
    static_assert(kAlwaysFalse<Dummy>, "a staged value has no truth value while tracing: "
                                       "use select(c, a, b), if_(c, ...), or & | ~ on i1 values; "
                                       "a loop up to a staged n is for (auto i : range(n))");
    return false;
  }

  /// Refuses what other languages have, with a sentence.
  template <class Index> void operator[](const Index &) const {
    static_assert(kAlwaysFalse<Index>,
                  "a tile has no elements to index: load one of a tensor, x.tile({1})(i), or pick "
                  "one of a tile by sum(select(arange(n) == i, tile, 0))");
  }
  template <class T>
  requires std::derived_from<T, Operators>
  friend void max(const T &) {
    static_assert(kAlwaysFalse<T>, "max(a, b) compares two operands element by element: the "
                                   "largest element of a tile is reduce_max(x)");
  }
  template <class T>
  requires std::derived_from<T, Operators>
  friend void min(const T &) {
    static_assert(kAlwaysFalse<T>, "min(a, b) compares two operands element by element: the "
                                   "smallest element of a tile is reduce_min(x)");
  }
};

uint32_t currentScope();

template <class T>
concept HostNumber = std::is_arithmetic_v<T> ||
    isFloat8(dtypeOf<T>) || std::same_as<T, half> || std::same_as<T, bfloat16>;

} // namespace detail

} // namespace tile
