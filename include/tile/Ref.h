// Memory that others own, as a tensor argument of kernels and ops.
#pragma once

#include <tile/Error.h>
#include <tile/Shape.h>

#include <span>
#include <type_traits>

namespace tile {

namespace detail {
/// Throws InvalidShape unless a tensor of these extents has `size` elements.
void checkSpan(size_t size, std::span<const int64_t> extents, Loc loc);
} // namespace detail

/// A non-owning tensor of static rank over memory of a device: `ref(pointer, {1000, 777})`,
/// row-major unless strides (in elements) are given.
template <class T, int Rank> class Ref {
public:
  static constexpr int kRank = Rank;

  Ref(T *data, const int64_t (&extents)[Rank]) : data_(data) {
    for (int dim = Rank - 1; dim >= 0; --dim) {
      extents_[dim] = extents[dim];
      strides_[dim] = dim == Rank - 1 ? 1 : strides_[dim + 1] * extents_[dim + 1];
    }
  }
  Ref(T *data, const int64_t (&extents)[Rank], const int64_t (&strides)[Rank]) : data_(data) {
    for (int dim = 0; dim < Rank; ++dim)
      extents_[dim] = extents[dim], strides_[dim] = strides[dim];
  }
  DType dtype() const { return dtypeOf<std::remove_const_t<T>>; }
  int rank() const { return Rank; }
  int64_t extent(int dim) const { return extents_[dim]; }
  int64_t stride(int dim) const { return strides_[dim]; }
  T *data() const { return data_; }

private:
  T *data_;
  int64_t extents_[Rank], strides_[Rank];
};
template <class T, int Rank> Ref<T, Rank> ref(T *data, const int64_t (&extents)[Rank]) {
  return {data, extents};
}
template <class T, int Rank>
Ref<T, Rank> ref(T *data, const int64_t (&extents)[Rank], const int64_t (&strides)[Rank]) {
  return {data, extents, strides};
}
/// The same, row-major, of a span of the device's memory, which must have as many elements. Error:
/// InvalidShape.
template <class T, int Rank>
Ref<T, Rank> ref(std::span<T> data, const int64_t (&extents)[Rank], Loc loc = Loc::here()) {
  detail::checkSpan(data.size(), extents, loc);
  return {data.data(), extents};
}
/// All elements of a span, as a vector.
template <class T> Ref<T, 1> ref(std::span<T> data) {
  return {data.data(), {static_cast<int64_t>(data.size())}};
}

} // namespace tile
