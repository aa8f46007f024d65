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
                                       "use select(c, a, b), if_(c, ...), or & | ~ on i1 values");
    return false;
  }
};

uint32_t currentScope();

template <class T>
concept HostNumber = std::is_arithmetic_v<T> ||
    isFloat8(dtypeOf<T>) || std::same_as<T, half> || std::same_as<T, bfloat16>;

} // namespace detail

} // namespace tile
