// What accesses of views are made of. Users need View.h alone.
#pragma once

#include <tile/Hinted.h>
#include <tile/Value.h>

#include <tuple>

namespace tile {

namespace detail {

struct Padding {
  enum Kind { Zero, Nan, Number } kind = Zero;
  double number = 0;
};

/// A view with a tile shape: what `A.tile({...})` knows.
struct TileAccess {
  uint64_t trace = 0;
  uint32_t view = 0;
  Shape shape;
  Padding padding;
  bool unchecked = false;
  AccessOptions hints = {};
};

/// A tile's position: tile indices, or element offsets.
struct Position {
  const Arg *indices;
  int count;
  bool inElements;
};

TileAccess makeAccess(const Value &view, const Shape &shape, Loc loc);
Value loadTile(const TileAccess &access, Position position, Loc loc);
Value insideTile(const TileAccess &access, Position position, Loc loc);
void prefetchTile(const TileAccess &access, Position position, int level, Loc loc);
/// The element offsets of a position as one vector of nodes, kept by a reference until it is stored
/// to.
struct Offsets {
  uint32_t nodes[kMaxRank];
};
Offsets resolvePosition(const TileAccess &access, Position position, Loc loc);
Value loadAt(const TileAccess &access, const Offsets &offsets, Loc loc);
void storeAt(const TileAccess &access, const Offsets &offsets, const Arg &value);
void addAt(const TileAccess &access, const Offsets &offsets, const Arg &value);
/// Where the elements of a gathered tile are, and which of them the tensor has, as nodes.
struct Elements {
  uint32_t pointers, inside;
};
Elements resolveElements(const TileAccess &access, int dim, const Arg &indices, Position others,
                         Loc loc);
Value loadElements(const TileAccess &access, const Elements &elements, Loc loc);
void storeElements(const TileAccess &access, const Elements &elements, const Arg &value);
Value permuteView(const Value &view, const int *order, int count, Loc loc);
Value viewDim(const Value &view, int dim, Loc loc);
Value viewStride(const Value &view, int dim, Loc loc);
Value viewPointer(const Value &view, Loc loc);
DType viewDtype(const Value &view);
void mayAlias(const Value &view, const Value &other, Loc loc);

/// An access of an `Out` view: assign to it, in the same statement.
class [[nodiscard]] StoreRef {
public:
  StoreRef(const TileAccess &access, Offsets offsets, Loc) : access_(access), offsets_(offsets) {}
  StoreRef(const StoreRef &) = delete;
  /// Stores a tile of the view's dtype and the access's shape; scalars and host numbers fill it.
  void operator=(Arg value) && { storeAt(access_, offsets_, value); }
  void operator=(StoreRef &&) = delete;
  template <class Dummy = void> operator Value() const {
    static_assert(kAlwaysFalse<Dummy>,
                  "an Out view can only be written: declare the argument InOut to read it");
    return Value();
  }
  template <class T> void operator+=(const T &) && { refuseRead<T>(); }
  template <class T> void operator-=(const T &) && { refuseRead<T>(); }
  template <class T> void operator*=(const T &) && { refuseRead<T>(); }
  template <class T> void operator/=(const T &) && { refuseRead<T>(); }

private:
  template <class T> static void refuseRead() {
    static_assert(kAlwaysFalse<T>, "an Out view can only be written, and this would read it: "
                                   "declare the argument InOut");
  }

  TileAccess access_;
  Offsets offsets_;
};

/// An access of an `InOut` view: reads when used as a value, stores when assigned, in the statement
/// in which it stands.
class [[nodiscard]] InOutRef : public Operators {
public:
  InOutRef(const TileAccess &access, Offsets offsets, Loc loc)
      : access_(access), offsets_(offsets), loc_(loc) {}
  InOutRef(const InOutRef &) = delete;
  void operator=(Arg value) && { storeAt(access_, offsets_, value); }
  void operator=(InOutRef &&other) && {
    storeAt(access_, offsets_, Arg(std::move(other), other.loc_));
  }
  void operator+=(Arg value) && { store(now(value) + value, value); }
  void operator-=(Arg value) && { store(now(value) - value, value); }
  void operator*=(Arg value) && { store(now(value) * value, value); }
  void operator/=(Arg value) && { store(now(value) / value, value); }
  operator Value() && { return load(); }
  template <class Dummy = void> operator Value() & {
    static_assert(
        kAlwaysFalse<Dummy>,
        "an InOut access was kept in `auto`: write `Value x = C.tile(...)(...)` to load the tile");
    return Value();
  }

  /// What `atomic_add` of the access does.
  void addAtomically(const Arg &value) && { addAt(access_, offsets_, value); }

private:
  friend class tile::Arg;
  Value load() const { return loadAt(access_, offsets_, loc_); }
  Arg now(const Arg &value) const { return Arg(load(), value.loc()); }
  void store(const Value &result, const Arg &value) const {
    storeAt(access_, offsets_, Arg(result, value.loc()));
  }

  TileAccess access_;
  Offsets offsets_;
  Loc loc_;
};

/// The places of a scatter: assign to them, in the same statement.
class [[nodiscard]] ScatterRef {
public:
  ScatterRef(const TileAccess &access, Elements elements) : access_(access), elements_(elements) {}
  ScatterRef(const ScatterRef &) = delete;
  /// Stores a tile of the view's dtype and the access's shape; scalars and host numbers fill it.
  void operator=(Arg value) && { storeElements(access_, elements_, value); }
  void operator=(ScatterRef &&) = delete;

private:
  TileAccess access_;
  Elements elements_;
};

/// Whether these are `Rank` indices, with the caller's line or without.
template <int Rank, class... Index> constexpr bool areIndices() {
  constexpr int kGiven = sizeof...(Index);
  if constexpr (kGiven == Rank + 1)
    return std::same_as<std::tuple_element_t<Rank, std::tuple<Index...>>, Loc>;
  return kGiven == Rank;
}

/// How an access of each kind of view answers.
struct Loads {
  using Result = Value;
  static constexpr bool kReads = true, kWrites = false;
  static Value access(const TileAccess &access, Position position, Loc loc) {
    return loadTile(access, position, loc);
  }
};
template <class Ref> struct Refers {
  using Result = Ref;
  static constexpr bool kReads = std::same_as<Ref, InOutRef>, kWrites = true;
  static Ref access(const TileAccess &access, Position position, Loc loc) {
    return Ref(access, resolvePosition(access, position, loc), loc);
  }
};

} // namespace detail

inline Arg::Arg(detail::InOutRef &&access, Loc loc) : value_(access.load()), loc_(loc) {}

} // namespace tile
