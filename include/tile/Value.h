// Values: what a kernel computes with. A Value is a tile or scalar whose dtype and shape are known
// while tracing; a Var is a mutable variable; an Arg is how any operation takes its operands.
//
// Host numbers are constants, staged values exist at run time. Operators are found only for staged
// operands, so arithmetic on Const and int stays host arithmetic. Promotion of operands (addition,
// multiplication, comparisons, select, min, max ...):
//   - two floats: the wider; bf16 with f16 gives f16; bf16 with an integer or an 8-bit float gives
//   f32; e4m3 with e5m2 gives f16; a float with an integer gives the float, but an 8-bit float with
//   an integer tile is an error. 8-bit floats are computed in f32 and rounded back, saturating;
//   - two integers: the wider; of equal width the unsigned one; small integers are not promoted (i8
//   + i8 is i8);
//   - `/` and `%` with any float below f64 compute and return f32; on integers of mixed signedness
//   they are an error;
//   - a host number of lower or equal kind (bool < int < float) takes the tile's dtype and must fit
//   it.
// Shapes follow the NumPy rule: missing leading dimensions are 1, each pair is equal or contains a
// 1; scalars fit all. Integers wrap, `/` truncates toward zero, `%` has the sign of the dividend, a
// shift count is taken modulo the width. Errors: tile::Error at the user's line, thrown while
// tracing.
#pragma once

#include <tile/Error.h>
#include <tile/Shape.h>
#include <tile/detail/FunctionRef.h>
#include <tile/detail/Value.h>

namespace tile {

/// Infinity, a host number that every float dtype takes: `x.tile({R, C}).pad(-inf)`.
inline constexpr double inf = __builtin_inf();

/// A tile or scalar of one kernel: a cheap handle, passed by value. Assigning to one is plain C++
/// and therefore only allowed in the staged scope in which it was declared; a variable that changes
/// in a staged loop or branch is a `var(...)`.
class Value : public detail::Operators {
public:
  /// An empty handle; using it before assigning is an error.
  Value() : home_(detail::currentScope()) {}
  Value(const Value &other)
      : trace_(other.trace_), node_(other.node_), home_(detail::currentScope()) {}
  Value(Value &&other) noexcept = default;
  /// Rebinds the handle. Error: in a staged scope inside the one where this handle was declared.
  Value &operator=(const Value &other) &;
  /// Refuses to store through an `In` view, whose access is a Value.
  template <class T> void operator=(const T &) && {
    static_assert(detail::kAlwaysFalse<T>,
                  "an In view can only be read: declare the argument Out or InOut to store to it");
  }

  /// `a += b` is `a = a + b`, with the same rule as assignment.
  Value &operator+=(Arg rhs) &;
  Value &operator-=(Arg rhs) &;
  Value &operator*=(Arg rhs) &;
  Value &operator/=(Arg rhs) &;

  /// The element type (of a pointer tile: the type pointed to).
  DType dtype() const;
  /// True for pointers and tiles of pointers.
  bool is_pointer() const;
  /// The extents; rank 0 for a scalar.
  Shape shape() const;
  int rank() const { return shape().rank(); }
  /// The last two dimensions exchanged. Error: rank below 2.
  Value T(Loc loc = Loc::here()) const;

  /// For the tracer.
  Value(uint64_t trace, uint32_t node)
      : trace_(trace), node_(node), home_(detail::currentScope()) {}
  uint64_t trace() const { return trace_; }
  uint32_t node() const { return node_; }
  uint32_t home() const { return home_; }

private:
  uint64_t trace_ = 0;
  uint32_t node_ = 0;
  uint32_t home_ = 0;
};

/// A mutable tile or scalar of fixed dtype and shape, made by `var(init)`. Assignments inside
/// staged loops and branches become loop-carried values. Not copyable: `Value now = acc;` takes a
/// snapshot, `auto other = var(acc)` a second one.
class Var : public detail::Operators {
public:
  /// Unavailable, with a message: a copy would be a second name for the variable.
  __attribute__((unavailable(
      "a Var is not copied: `Value now = v;` reads it, `auto w = var(v);` makes a second one, "
      "and a lambda that returns one says `-> Value`"))) Var(const Var &);
  /// Moving transfers the variable itself, for vectors of variables: `std::vector<Var>`.
  Var(Var &&) noexcept = default;
  /// Stores. Error: another dtype or shape (host numbers adapt), or the region of the Var has
  /// ended.
  Var &operator=(Arg value);
  /// Stores the other's current value; the two stay separate variables.
  Var &operator=(const Var &other);
  Var &operator+=(Arg rhs);
  Var &operator-=(Arg rhs);
  Var &operator*=(Arg rhs);
  Var &operator/=(Arg rhs);

  /// The current value.
  Value get(Loc loc = Loc::here()) const;
  operator Value() const { return get(madeAt_); }
  DType dtype() const;
  Shape shape() const;

private:
  friend Var var(Arg init);
  Var(uint64_t trace, uint32_t slot, Loc loc) : trace_(trace), slot_(slot), madeAt_(loc) {}

  uint64_t trace_;
  uint32_t slot_;
  Loc madeAt_;
};

/// Declares a mutable variable with its first value; a host number becomes i32, i64 or f32 (use
/// full() for others).
Var var(Arg init);

/// An operand: a Value, Var, InOut access or host number, with the caller's line. Users never name
/// it.
class Arg : public detail::Operators {
public:
  enum class Kind : uint8_t { Staged, Bool, Int, UInt, Float };

  Arg(const Value &value, Loc loc = Loc::here()) : value_(value), loc_(loc) {}
  Arg(const Var &variable, Loc loc = Loc::here()) : value_(variable.get(loc)), loc_(loc) {}
  Arg(Const constant, Loc loc = Loc::here()) : kind_(Kind::Int), int_(constant), loc_(loc) {}
  Arg(ConstOf<bool> constant, Loc loc = Loc::here())
      : kind_(Kind::Bool), int_(constant), loc_(loc) {}
  template <detail::HostNumber T> Arg(T number, Loc loc = Loc::here()) : loc_(loc) {
    if constexpr (std::same_as<T, bool>)
      kind_ = Kind::Bool, int_ = number;
    else if constexpr (std::signed_integral<T>)
      kind_ = Kind::Int, int_ = number;
    else if constexpr (std::unsigned_integral<T>)
      kind_ = Kind::UInt, int_ = static_cast<int64_t>(number);
    else
      kind_ = Kind::Float, float_ = static_cast<double>(number);
  }
  Arg(detail::InOutRef &&access, Loc loc = Loc::here());
  template <class T>
  requires std::same_as<T, detail::InOutRef> Arg(T &, Loc = Loc::here()) {
    static_assert(
        detail::kAlwaysFalse<T>,
        "an InOut access was kept in `auto`: write `Value x = C.tile(...)(...)` to load the tile");
  }
  template <class T>
  requires std::same_as<T, detail::StoreRef> Arg(const T &, Loc = Loc::here()) {
    static_assert(detail::kAlwaysFalse<T>,
                  "an Out view can only be written: declare the argument InOut to read it");
  }

  Kind kind() const { return kind_; }
  bool isStaged() const { return kind_ == Kind::Staged; }
  const Value &value() const { return value_; }
  /// The number of a Bool, Int or UInt (the bits of a uint64_t above INT64_MAX).
  int64_t asInt() const { return int_; }
  /// Any host number as a double.
  double asDouble() const;
  Loc loc() const { return loc_; }

private:
  Value value_;
  Kind kind_ = Kind::Staged;
  int64_t int_ = 0;
  double float_ = 0;
  Loc loc_;
};

/// A run-time scalar argument of a kernel: `Scalar<f32> scale`. It is a Value of rank 0.
template <DType D> class Scalar : public Value {
public:
  static_assert(D != any, "a scalar argument has a definite dtype, such as Scalar<f32>");
  explicit Scalar(const Value &value) : Value(value) {}
};

} // namespace tile
