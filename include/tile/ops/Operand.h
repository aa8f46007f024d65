// How every op takes its tensors: by what they are (dtype, extents, strides, address, device), not
// by the class that owns them.
#pragma once

#include <tile/HostArg.h>

#include <span>
#include <string>

namespace tile::ops {

/// A tensor argument of an op. Tensor, TensorOf, Ref and any class with a `toHostArg` convert to
/// it; it does not own memory, so the tensor must live until the call returns. Error at the
/// caller's line: more than kMaxRank dimensions.
class Operand {
public:
  /// No tensor.
  Operand() = default;
  template <class T>
  requires(!std::same_as<T, Operand> &&
           requires(const T &tensor) {
             { toHostArg(tensor) } -> std::same_as<HostArg>;
           }) Operand(const T &tensor, Loc where = Loc::here())
      : arg_(toHostArg(tensor)) {
    if (arg_.rank > kMaxRank)
      refuseRank(where);
  }

  /// Whether there is a tensor; Operand() is an optional argument that is absent, and so is a
  /// Tensor that is none.
  explicit operator bool() const { return arg_.dtype != any; }
  DType dtype() const { return arg_.dtype; }
  int rank() const { return arg_.rank; }
  int64_t extent(int dim) const { return arg_.extents[dim]; }
  /// In elements.
  int64_t stride(int dim) const { return arg_.strides[dim]; }
  void *data() const { return arg_.pointer; }
  uint64_t deviceHandle() const { return arg_.device; }
  /// The number of elements.
  int64_t numel() const;
  /// "f16 1000x777"; "no tensor"
  std::string str() const;
  /// "1000x777"; "scalar"
  std::string shapeStr() const;

  /// Whether the elements lie in row-major order without gaps.
  bool isContiguous() const;
  /// NumPy's rule: counted from the last, each extent is 1 or the other's, which has no fewer.
  bool broadcastsTo(const Operand &other) const;
  /// The last two dimensions exchanged.
  Operand T() const;
  /// The same elements with a first dimension of extent 1.
  Operand asRow() const;
  /// The same memory in another shape, row-major. The operand must be contiguous and `extents`
  /// must multiply to numel().
  Operand reshaped(std::span<const int64_t> extents) const;
  Operand reshaped(std::initializer_list<int64_t> extents) const {
    return reshaped(std::span(extents.begin(), extents.size()));
  }
  /// The elements with this index in the first dimension, without it.
  Operand at(int64_t index) const;
  /// The elements with indices start .. start + size - 1 along a dimension, which must have them.
  Operand slice(int dim, int64_t start, int64_t size) const;
  /// Another view of the same memory, from its first element on.
  Operand strided(std::span<const int64_t> extents, std::span<const int64_t> strides) const;
  /// The same memory with its bits taken as another dtype of the same width, or any dtype if there
  /// are no elements.
  Operand as(DType dtype) const;

private:
  [[noreturn]] static void refuseRank(Loc where);

  HostArg arg_;
};

} // namespace tile::ops
