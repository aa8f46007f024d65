// Views: tensors in memory as a kernel sees them. `A.tile({BM, BK})(m, k)` is the tile of that
// shape in row m, column k of the grid of such tiles. Elements outside the tensor read as zero (or
// `.pad(x)`) and are dropped when stored, so kernels have no masks. An access of an `In` view loads
// immediately; an `Out` access can only be assigned; an `InOut` access allows either, in the
// statement in which it stands.
//
// Errors while tracing: a shape list of another length than the view's rank, extents below 1, tile
// indices that are not integer scalars, a stored value of another dtype (write `cast`) or shape.
#pragma once

#include <tile/detail/View.h>

namespace tile {

/// A view cut into tiles of one shape: `A.tile({BM, BK})`. Call it with tile indices, or `offset`
/// with elements.
template <class Mode, int Rank> class Tiles {
public:
  using Result = typename Mode::Result;

  explicit Tiles(const detail::TileAccess &access) : access_(access) {}

  /// Elements outside the tensor read as `number` (an infinity, say); NaN for `.pad(NAN)`. Loads
  /// only.
  [[nodiscard]] Tiles pad(double number) const {
    Tiles result = *this;
    result.access_.padding = {number != number ? detail::Padding::Nan
                              : number == 0    ? detail::Padding::Zero
                                               : detail::Padding::Number,
                              number};
    return result;
  }
  /// Promises that the whole tile is inside the tensor; a broken promise is undefined.
  [[nodiscard]] Tiles unchecked() const {
    Tiles result = *this;
    result.access_.unchecked = true;
    return result;
  }

  /// Options of the access (Hinted.h): `A.tile({B}).hints({.cache = Cache::cg})(i)`.
  [[nodiscard]] Tiles hints(AccessOptions options) const {
    Tiles result = *this;
    result.access_.hints = options;
    return result;
  }

  /// Prefetches the tile with these indices into the L2 cache (or L1), without waiting.
  void prefetch(std::initializer_list<Arg> indices, int level = 2, Loc loc = Loc::here()) const {
    detail::prefetchTile(access_, {indices.begin(), static_cast<int>(indices.size()), false}, level,
                         loc);
  }

  /// The tile with these indices, one per dimension.
  Result operator()(Arg at0, Loc loc = Loc::here()) const requires(Rank == 1) {
    return at(false, loc, at0);
  }
  Result operator()(Arg at0, Arg at1, Loc loc = Loc::here()) const requires(Rank == 2) {
    return at(false, loc, at0, at1);
  }
  Result operator()(Arg at0, Arg at1, Arg at2, Loc loc = Loc::here()) const requires(Rank == 3) {
    return at(false, loc, at0, at1, at2);
  }
  Result operator()(Arg at0, Arg at1, Arg at2, Arg at3, Loc loc = Loc::here()) const
      requires(Rank == 4) {
    return at(false, loc, at0, at1, at2, at3);
  }
  Result operator()(Arg at0, Arg at1, Arg at2, Arg at3, Arg at4, Loc loc = Loc::here()) const
      requires(Rank == 5) {
    return at(false, loc, at0, at1, at2, at3, at4);
  }
  template <class... Index>
  requires(!detail::areIndices<Rank, Index...>()) Result operator()(const Index &...) const {
    refuseCount<Index...>();
  }

  /// The tile whose first element is at these element offsets, which may be negative or ragged.
  Result offset(Arg e0, Loc loc = Loc::here()) const requires(Rank == 1) {
    return at(true, loc, e0);
  }
  Result offset(Arg e0, Arg e1, Loc loc = Loc::here()) const requires(Rank == 2) {
    return at(true, loc, e0, e1);
  }
  Result offset(Arg e0, Arg e1, Arg e2, Loc loc = Loc::here()) const requires(Rank == 3) {
    return at(true, loc, e0, e1, e2);
  }
  Result offset(Arg e0, Arg e1, Arg e2, Arg e3, Loc loc = Loc::here()) const requires(Rank == 4) {
    return at(true, loc, e0, e1, e2, e3);
  }
  Result offset(Arg e0, Arg e1, Arg e2, Arg e3, Arg e4, Loc loc = Loc::here()) const
      requires(Rank == 5) {
    return at(true, loc, e0, e1, e2, e3, e4);
  }
  template <class... Index>
  requires(!detail::areIndices<Rank, Index...>()) Result offset(const Index &...)
  const { refuseCount<Index...>(); }

  /// A tile of arbitrary rows (columns, ...): position r along `dim` has the tensor's elements at
  /// indices[r] of that dimension; `others` are the tile indices of the other dimensions, in order.
  /// Indices outside the tensor read as `.pad(x)` or zero.
  ///   Value embedded = table.tile({R, E}).gather(0, tokens, {0}); // tokens: R row numbers
  /// Errors: indices that are not a tile of integers of one dimension with the tile's extent along
  /// `dim`, another number of `others`.
  Value gather(int dim, Arg indices, std::initializer_list<Arg> others = {},
               Loc loc = Loc::here()) const {
    static_assert(Mode::kReads,
                  "an Out view can only be written: declare the argument InOut to read it");
    return detail::loadElements(access_, elements(dim, indices, others, loc), loc);
  }
  /// The same elements, to be stored to: `out.tile({R, E}).scatter(0, rows, {0}) = x`. Indices
  /// outside the tensor are dropped; if two are equal, one of them wins. Errors: as gather, and
  /// those of a store.
  detail::ScatterRef scatter(int dim, Arg indices, std::initializer_list<Arg> others = {},
                             Loc loc = Loc::here()) const {
    static_assert(Mode::kWrites,
                  "an In view can only be read: declare the argument Out or InOut to store to it");
    return detail::ScatterRef(access_, elements(dim, indices, others, loc));
  }

  /// Which elements of the tile with these indices are inside the tensor: an i1 tile.
  Value inside(Arg at0, Loc loc = Loc::here()) const requires(Rank == 1) {
    return insideAt(loc, at0);
  }
  Value inside(Arg at0, Arg at1, Loc loc = Loc::here()) const requires(Rank == 2) {
    return insideAt(loc, at0, at1);
  }
  Value inside(Arg at0, Arg at1, Arg at2, Loc loc = Loc::here()) const requires(Rank == 3) {
    return insideAt(loc, at0, at1, at2);
  }
  Value inside(Arg at0, Arg at1, Arg at2, Arg at3, Loc loc = Loc::here()) const
      requires(Rank == 4) {
    return insideAt(loc, at0, at1, at2, at3);
  }
  Value inside(Arg at0, Arg at1, Arg at2, Arg at3, Arg at4, Loc loc = Loc::here()) const
      requires(Rank == 5) {
    return insideAt(loc, at0, at1, at2, at3, at4);
  }
  template <class... Index>
  requires(!detail::areIndices<Rank, Index...>()) Value inside(const Index &...)
  const { refuseCount<Index...>(); }

private:
  template <class... Index> [[noreturn]] static void refuseCount() {
    static_assert(detail::areIndices<Rank, Index...>(),
                  "a tile of a view takes one index for each dimension of the view");
  }
  template <class... Index> Result at(bool inElements, Loc loc, const Index &...indices) const {
    Arg args[] = {indices...};
    return Mode::access(access_, {args, Rank, inElements}, loc);
  }
  detail::Elements elements(int dim, const Arg &indices, std::initializer_list<Arg> others,
                            Loc loc) const {
    return detail::resolveElements(access_, dim, indices,
                                   {others.begin(), static_cast<int>(others.size()), false}, loc);
  }
  template <class... Index> Value insideAt(Loc loc, const Index &...indices) const {
    Arg args[] = {indices...};
    return detail::insideTile(access_, {args, Rank, false}, loc);
  }

  detail::TileAccess access_;
};

/// What In, Out and InOut have in common. `D` may be `any`: then ask `dtype()`, which is a host
/// value while tracing.
template <template <DType, int> class Self, class Mode, DType D, int Rank> class View {
public:
  static_assert(Rank >= 1 && Rank <= 5, "a view has 1 to 5 dimensions");
  explicit View(const Value &view) : view_(view) {}

  /// The view in tiles of this shape, one host constant per dimension.
  Tiles<Mode, Rank> tile(Shape shape, Loc loc = Loc::here()) const {
    return Tiles<Mode, Rank>(detail::makeAccess(view_, shape, loc));
  }
  /// The extent of a dimension: an i32 scalar (run time). Negative dims count from the end.
  Value dim(int dim, Loc loc = Loc::here()) const { return detail::viewDim(view_, dim, loc); }
  /// The stride of a dimension, in elements: i32, or i64 for huge tensors.
  Value stride(int dim, Loc loc = Loc::here()) const { return detail::viewStride(view_, dim, loc); }
  /// The element type, known while tracing even for `any`.
  DType dtype() const { return detail::viewDtype(view_); }
  static constexpr int rank() { return Rank; }
  /// The last two dimensions exchanged; no data moves.
  Self<D, Rank> T(Loc loc = Loc::here()) const requires(Rank >= 2) {
    int order[Rank];
    for (int dim = 0; dim < Rank; ++dim)
      order[dim] = dim;
    std::swap(order[Rank - 1], order[Rank - 2]);
    return Self<D, Rank>(detail::permuteView(view_, order, Rank, loc));
  }
  /// Dimension i of the result is dimension order[i] of this view; no data moves.
  Self<D, Rank> permute(const int (&order)[Rank], Loc loc = Loc::here()) const {
    return Self<D, Rank>(detail::permuteView(view_, order, Rank, loc));
  }
  /// A pointer to the first element, for pointer tiles: `load(A.ptr() + offsets, mask, other)`.
  Value ptr(Loc loc = Loc::here()) const { return detail::viewPointer(view_, loc); }

  /// States that two arguments may overlap: accesses to both then behave in program order, as
  /// accesses to one argument do, and a launch with tensors that overlap is no error. It holds for
  /// the whole kernel, wherever it stands. It does not order programs of one launch. Error: views
  /// of one and the same argument, which are always in order.
  ///   x.may_alias(y);
  template <template <DType, int> class Other, DType E, int R>
  void may_alias(const Other<E, R> &other, Loc loc = Loc::here()) const {
    detail::mayAlias(view_, other.handle(), loc);
  }

  /// Refuses it with a sentence.
  template <class Index> void operator[](const Index &) const {
    static_assert(detail::kAlwaysFalse<Index>,
                  "a view has no operator []: one element is x.tile({1})(i), its row of a matrix "
                  "x.tile({1, N})(i, 0)");
  }

  /// For the tracer.
  const Value &handle() const { return view_; }

private:
  Value view_;
};

/// A tensor argument that is only read; an access is a Value.
template <DType D, int Rank> class In : public View<In, detail::Loads, D, Rank> {
  using View<In, detail::Loads, D, Rank>::View;
};
/// A tensor argument that is only written; an access can only be assigned.
template <DType D, int Rank>
class Out : public View<Out, detail::Refers<detail::StoreRef>, D, Rank> {
  using View<Out, detail::Refers<detail::StoreRef>, D, Rank>::View;
};
/// A tensor argument that is read and written. Accesses to one argument keep their program order.
template <DType D, int Rank>
class InOut : public View<InOut, detail::Refers<detail::InOutRef>, D, Rank> {
  using View<InOut, detail::Refers<detail::InOutRef>, D, Rank>::View;
};

} // namespace tile
