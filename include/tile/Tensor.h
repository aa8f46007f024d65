// Tensors: memory of a device with extents and strides. Views of a tensor (transposed, sliced,
// reshaped) share its memory and keep it alive; only upload and download copy.
//
//   auto a = dev.tensor<half>({1000, 777});
//   a.upload(values);
//   auto rows = a.slice(0, 10, 20), transposed = a.T();
//   std::vector<half> result = rows.download();
//
// Memory that others own enters a call through `ref(pointer, {extents}, {strides})` of Kernel.h.
#pragma once

#include <tile/Device.h>
#include <tile/Shape.h>

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>

namespace tile {

namespace detail {
struct Storage;
} // namespace detail

/// A tensor whose element type is known at run time. Copies share the memory, which is freed with
/// the last of them, after all work of the device has finished.
class Tensor {
public:
  /// No tensor: no memory, rank 0, dtype `any`.
  Tensor() = default;
  /// A row-major tensor whose elements are not set; see Device::tensor for errors.
  Tensor(const Device &device, DType dtype, std::span<const int64_t> shape,
         Loc where = Loc::here());
  /// The same in memory of the stream; see Stream::tensor.
  Tensor(const Stream &stream, DType dtype, std::span<const int64_t> shape,
         Loc where = Loc::here());

  /// Whether there is a tensor.
  explicit operator bool() const { return storage_ != nullptr; }
  DType dtype() const { return dtype_; }
  int rank() const { return rank_; }
  /// The extent of a dimension in 0 .. rank-1; InvalidArgument beyond.
  int64_t extent(int dim, Loc where = Loc::here()) const { return extents_[checked(dim, where)]; }
  /// The stride in elements; 0 for a broadcast dimension.
  int64_t stride(int dim, Loc where = Loc::here()) const { return strides_[checked(dim, where)]; }
  std::span<const int64_t> extents() const { return {extents_, static_cast<size_t>(rank_)}; }
  std::span<const int64_t> strides() const { return {strides_, static_cast<size_t>(rank_)}; }
  /// The address of element (0, 0, ...) in the device's memory; not for the host to read.
  void *data() const;
  /// The number of elements; 1 for rank 0.
  int64_t numel() const;
  /// The size of the elements: numel() times the size of one.
  size_t bytes() const { return static_cast<size_t>(numel()) * sizeOf(dtype_); }
  /// Row-major without gaps.
  bool isContiguous() const;
  /// Whether other tensors, or copies of this one, share its memory.
  bool isShared() const { return storage_.use_count() > 1; }
  /// How often markChanged() was called for this memory, by views of it too.
  uint64_t version() const;
  /// States that the elements were changed in place, for those who keep the tensor for later.
  void markChanged() const;
  Device device(Loc where = Loc::here()) const;
  /// Device::handle() of the owner; 0 for no tensor.
  uint64_t deviceHandle() const;

  /// For the runtime: a view from the beginning of memory. Errors: those of withStrides.
  Tensor(std::shared_ptr<detail::Storage> storage, DType dtype, std::span<const int64_t> extents,
         std::span<const int64_t> strides, Loc where);

  /// Dimensions exchanged (rank 2 only), reordered, or one of them cut to `size` from `start`.
  Tensor T(Loc where = Loc::here()) const;
  Tensor permute(std::initializer_list<int> order, Loc where = Loc::here()) const;
  Tensor slice(int dim, int64_t start, int64_t size, Loc where = Loc::here()) const;
  /// The same elements in another shape; one extent may be -1. Error: Unsupported unless
  /// contiguous.
  Tensor reshape(std::vector<int64_t> shape, Loc where = Loc::here()) const;
  /// Any view that begins at element (0, 0, ...). Errors: InvalidShape if it leaves the memory,
  /// Unsupported for negative strides.
  Tensor withStrides(std::vector<int64_t> extents, std::vector<int64_t> strides,
                     Loc where = Loc::here()) const;

  /// Copies numel() elements in row-major order, whatever the strides, waiting for all work of the
  /// device before and after. Error: InvalidArgument if `size` is not bytes().
  void uploadBytes(const void *source, size_t size, Loc where = Loc::here()) const;
  void downloadBytes(void *target, size_t size, Loc where = Loc::here()) const;
  /// The same as work of a stream; they wait only for that stream. If the tensor has gaps, an
  /// upload writes their contents again.
  void uploadBytes(const Stream &stream, const void *source, size_t size,
                   Loc where = Loc::here()) const;
  void downloadBytes(const Stream &stream, void *target, size_t size,
                     Loc where = Loc::here()) const;
  /// The same without waiting: the host leaves its memory alone until the stream has been waited
  /// for. Copies and kernels run at once only if that memory is page-locked. Errors also:
  /// Unsupported unless contiguous.
  void uploadBytesAsync(const Stream &stream, const void *source, size_t size,
                        Loc where = Loc::here()) const;
  void downloadBytesAsync(const Stream &stream, void *target, size_t size,
                          Loc where = Loc::here()) const;

protected:
  void requireDtype(DType dtype, Loc where) const;

private:
  Tensor(DType dtype, std::span<const int64_t> shape, Loc where);
  size_t checked(int dim, Loc where) const {
    if (dim < 0 || dim >= rank_)
      refuseDimension(dim, where);
    return static_cast<size_t>(dim);
  }
  [[noreturn]] void refuseDimension(int dim, Loc where) const;

  std::shared_ptr<detail::Storage> storage_;
  int64_t offset_ = 0; // elements from the start of the storage
  DType dtype_ = any;
  int rank_ = 0;
  int64_t extents_[kMaxRank] = {}, strides_[kMaxRank] = {};
};

/// A tensor of elements of a host type (float, half, bfloat16, int32_t, ...).
template <class Element> class TensorOf : public Tensor {
  static_assert(dtypeOf<Element> != any,
                "tensors hold the host types of Types.h: float, half, ...");

public:
  /// What download returns: the elements; bytes for bool, since vector<bool> packs its elements.
  using Vector =
      std::vector<std::conditional_t<std::is_same_v<Element, bool>, unsigned char, Element>>;

  TensorOf() = default;
  TensorOf(const Device &device, std::span<const int64_t> shape, Loc where = Loc::here())
      : Tensor(device, dtypeOf<Element>, shape, where) {}
  /// The same tensor with its element type known. Error: InvalidArgument if it has another.
  explicit TensorOf(Tensor tensor, Loc where = Loc::here()) : Tensor(std::move(tensor)) {
    requireDtype(dtypeOf<Element>, where);
  }

  /// Sets all elements, given in row-major order; waits for the device. Error: InvalidArgument if
  /// their number differs.
  void upload(std::span<const Element> values, Loc where = Loc::here()) const {
    uploadBytes(values.data(), values.size() * sizeof(Element), where);
  }
  /// All elements in row-major order; waits for the device. The virtual GPU notes on stderr how
  /// many of them were never written, once per caller's line.
  Vector download(Loc where = Loc::here()) const {
    Vector values(static_cast<size_t>(numel()));
    downloadBytes(values.data(), values.size() * sizeof(Element), where);
    return values;
  }
  /// The same as work of a stream; they wait only for that stream.
  void upload(const Stream &stream, std::span<const Element> values,
              Loc where = Loc::here()) const {
    uploadBytes(stream, values.data(), values.size() * sizeof(Element), where);
  }
  Vector download(const Stream &stream, Loc where = Loc::here()) const {
    Vector values(static_cast<size_t>(numel()));
    downloadBytes(stream, values.data(), values.size() * sizeof(Element), where);
    return values;
  }
  /// The same without waiting: the host leaves `values` alone until the stream has been waited for.
  void uploadAsync(const Stream &stream, std::span<const Element> values,
                   Loc where = Loc::here()) const {
    uploadBytesAsync(stream, values.data(), values.size() * sizeof(Element), where);
  }
  void downloadAsync(const Stream &stream, std::span<Element> values,
                     Loc where = Loc::here()) const {
    downloadBytesAsync(stream, values.data(), values.size() * sizeof(Element), where);
  }
  /// Sets all elements to one value; waits for the device.
  void fill(Element value, Loc where = Loc::here()) const {
    auto values = std::make_unique<Element[]>(static_cast<size_t>(numel()));
    std::fill_n(values.get(), numel(), value);
    uploadBytes(values.get(), bytes(), where);
  }

  TensorOf T(Loc where = Loc::here()) const { return TensorOf(Tensor::T(where)); }
  TensorOf permute(std::initializer_list<int> order, Loc where = Loc::here()) const {
    return TensorOf(Tensor::permute(order, where));
  }
  TensorOf slice(int dim, int64_t start, int64_t size, Loc where = Loc::here()) const {
    return TensorOf(Tensor::slice(dim, start, size, where));
  }
  TensorOf reshape(std::vector<int64_t> shape, Loc where = Loc::here()) const {
    return TensorOf(Tensor::reshape(std::move(shape), where));
  }
  TensorOf withStrides(std::vector<int64_t> extents, std::vector<int64_t> strides,
                       Loc where = Loc::here()) const {
    return TensorOf(Tensor::withStrides(std::move(extents), std::move(strides), where));
  }
};

template <class T> TensorOf<T> Stream::tensor(std::vector<int64_t> shape, Loc where) const {
  return TensorOf<T>(tensor(dtypeOf<T>, shape, where));
}
template <class T> TensorOf<T> Device::tensor(std::vector<int64_t> shape, Loc where) const {
  return TensorOf<T>(*this, shape, where);
}
template <class T>
TensorOf<T> Device::tensor(std::vector<int64_t> shape, std::span<const T> data, Loc where) const {
  TensorOf<T> result(*this, shape, where);
  result.upload(data, where);
  return result;
}

} // namespace tile
