// How an argument of a kernel's call is described: what a class of yours needs to be one.
//
// Any class with dtype(), rank(), extent(dim), stride(dim) and data() is a tensor argument as it
// is. Of another, a function `tile::HostArg toHostArg(const Yours &)` in its own namespace makes
// one; kernels and ops find it.
#pragma once

#include <tile/Error.h>
#include <tile/Shape.h>

#include <limits>

namespace tile {

/// An argument of a call: a tensor, or the bits of a scalar of the parameter's dtype (in the low
/// bytes).
struct HostArg {
  enum Kind : uint8_t { Tensor, Scalar } kind = Tensor;
  DType dtype = any;
  uint8_t rank = 0; ///< at most kMaxRank; calls of kernels and ops refuse larger ones
  /// Set by the runtime: 1 + the first argument that is this very view, where the kernel writes one
  /// of them; else 0.
  uint8_t sameAs = 0;
  bool hasValue = true; ///< false: a scalar whose value is still open, in an example
  uint64_t bits = 0;    ///< of a scalar
  void *pointer = nullptr;
  uint64_t device = 0; ///< handle of the device that owns the memory; 0 if unknown
  int64_t extents[kMaxRank] = {};
  int64_t strides[kMaxRank] = {}; ///< in elements
};

/// A class that describes itself as a tensor; `deviceHandle()` is taken if it has it.
template <class X>
concept TensorLike = requires(const X &x) {
  { x.dtype() } -> std::convertible_to<DType>;
  x.rank();
  x.extent(0);
  x.stride(0);
  x.data();
};

/// The description of such a tensor. One with a rank that HostArg cannot hold has the largest that
/// it can, which every call refuses.
template <TensorLike X> HostArg toHostArg(const X &tensor) {
  HostArg arg;
  arg.dtype = tensor.dtype();
  constexpr auto kLargest = std::numeric_limits<uint8_t>::max();
  auto rank = static_cast<int64_t>(tensor.rank());
  arg.rank = rank < 0 || rank > kLargest ? kLargest : static_cast<uint8_t>(rank);
  arg.pointer = const_cast<void *>(static_cast<const void *>(tensor.data()));
  if constexpr (requires { tensor.deviceHandle(); })
    arg.device = tensor.deviceHandle();
  for (int dim = 0; dim < arg.rank && dim < kMaxRank; ++dim)
    arg.extents[dim] = tensor.extent(dim), arg.strides[dim] = tensor.stride(dim);
  return arg;
}

namespace detail {
using tile::HostArg, tile::toHostArg; // the runtime's names for them
} // namespace detail

} // namespace tile
