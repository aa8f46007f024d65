// fromDlpack: nothing of what is handed in is trusted but that its memory is there, and its deleter is called once,
// whatever happens.
#include "runtime/host/DLPackTypes.h"
#include "runtime/host/State.h"

#include <tile/DLPack.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace tile {
namespace {

using dlpack::DeviceType;
using dlpack::Layout;

[[noreturn]] void refuse(ErrorCode code, Loc where, const std::string &message) {
  throw Error(Fault::User, code, "DLPack: " + message, where);
}

/// Gives a tensor back to its producer, of whose errors there is nobody to tell. The producer
/// declares the same structures by names of its own, so its function is of another type.
struct GiveBack {
  template <class Managed>
#ifdef __clang__
  [[clang::no_sanitize("function")]]
#endif
  void
  operator()(Managed *managed) const noexcept {
    try {
      if (managed->deleter)
        managed->deleter(managed);
    } catch (...) {
    }
  }
};
template <class Managed> using Owned = std::unique_ptr<Managed, GiveBack>;

/// What a layout says, after all checks that need no device.
struct Checked {
  DType dtype = any;
  std::vector<int64_t> extents, strides;
  bool isEmpty = false;
  size_t bytes = 0; ///< from the first element to the end of the last one
  uint64_t address = 0;
};

DType checkedDtype(const dlpack::ElementType &type, Loc where) {
  if (std::optional<DType> dtype = dlpack::dtypeOf(type))
    return *dtype;
  refuse(ErrorCode::Unsupported, where,
         "no tensor has elements of " + dlpack::nameOf(type) +
             "; there are i1, i8 to i64, u8 to u64, f16, bf16, f32, f64, e4m3 and e5m2");
}

std::vector<int64_t> checkedExtents(const Layout &layout, Loc where) {
  if (layout.ndim < 0 || layout.ndim > kMaxRank)
    refuse(ErrorCode::InvalidShape, where,
           "a tensor has 0 to " + std::to_string(kMaxRank) + " dimensions, not " +
               std::to_string(layout.ndim));
  if (layout.ndim > 0 && !layout.shape)
    refuse(ErrorCode::InvalidArgument, where, "the shape is a null pointer");
  std::vector<int64_t> extents(layout.shape, layout.shape + layout.ndim);
  for (int64_t extent : extents)
    if (extent < 0)
      refuse(ErrorCode::InvalidShape, where, "extent " + std::to_string(extent) + " is negative");
  return extents;
}

// Those of dimensions with at most one element nobody uses, and producers let them be anything.
std::vector<int64_t> checkedStrides(const Layout &layout, const std::vector<int64_t> &extents,
                                    Loc where) {
  std::vector<int64_t> strides(extents.size());
  int64_t rowMajor = 1;
  for (size_t dim = extents.size(); dim-- > 0;) {
    bool isUsed = layout.strides && extents[dim] > 1;
    strides[dim] = isUsed ? layout.strides[dim] : rowMajor;
    if (strides[dim] < 0)
      refuse(ErrorCode::Unsupported, where,
             "stride " + std::to_string(strides[dim]) + " of dimension " + std::to_string(dim) +
                 " is negative: copy the data in the other order");
    if (__builtin_mul_overflow(rowMajor, extents[dim], &rowMajor))
      refuse(ErrorCode::InvalidShape, where, "the tensor has more than 2^63 elements");
  }
  return strides;
}

size_t bytesOf(const Checked &tensor, Loc where) {
  int64_t last = 0, bytes;
  bool isTooLarge = false;
  for (size_t dim = 0; dim < tensor.extents.size(); ++dim) {
    int64_t term;
    isTooLarge |= __builtin_mul_overflow(tensor.extents[dim] - 1, tensor.strides[dim], &term) ||
                  __builtin_add_overflow(last, term, &last);
  }
  auto element = static_cast<int64_t>(sizeOf(tensor.dtype));
  isTooLarge |= __builtin_mul_overflow(last, element, &bytes) ||
                __builtin_add_overflow(bytes, element, &bytes);
  if (isTooLarge)
    refuse(ErrorCode::InvalidShape, where, "the tensor spans more than 2^63 bytes");
  return static_cast<size_t>(bytes);
}

Checked check(const Layout &layout, Loc where) {
  Checked tensor;
  tensor.dtype = checkedDtype(layout.dtype, where);
  tensor.extents = checkedExtents(layout, where);
  tensor.isEmpty = std::ranges::find(tensor.extents, 0) != tensor.extents.end();
  if (tensor.isEmpty)
    return tensor;
  tensor.strides = checkedStrides(layout, tensor.extents, where);
  tensor.bytes = bytesOf(tensor, where);
  uint64_t end;
  if (!layout.data)
    refuse(ErrorCode::InvalidArgument, where, "the data of a tensor with elements is null");
  if (__builtin_add_overflow(reinterpret_cast<uint64_t>(layout.data), layout.byte_offset,
                             &tensor.address) ||
      __builtin_add_overflow(tensor.address, tensor.bytes, &end))
    refuse(ErrorCode::InvalidShape, where, "the tensor goes beyond the last address");
  return tensor;
}

/// Copies the elements from dimension `dim` on, in row-major order; returns the end of the copies.
std::byte *gather(const Checked &tensor, size_t dim, const std::byte *from, std::byte *to) {
  size_t element = sizeOf(tensor.dtype);
  if (dim == tensor.extents.size()) {
    std::memcpy(to, from, element);
    return to + element;
  }
  for (int64_t i = 0; i < tensor.extents[dim]; ++i)
    to =
        gather(tensor, dim + 1, from + i * tensor.strides[dim] * static_cast<int64_t>(element), to);
  return to;
}

Tensor copyFromHost(const Device &device, const Checked &tensor, Loc where) {
  Tensor copy(device, tensor.dtype, tensor.extents, where);
  const auto *from = reinterpret_cast<const std::byte *>(tensor.address);
  if (std::ranges::equal(tensor.strides, copy.strides())) {
    copy.uploadBytes(from, copy.bytes(), where);
    return copy;
  }
  std::unique_ptr<std::byte[]> elements(new (std::nothrow) std::byte[copy.bytes()]);
  if (!elements)
    throw Error(Fault::Device, ErrorCode::OutOfMemory,
                "the host has no " + std::to_string(copy.bytes()) +
                    " bytes for a copy of the tensor",
                where);
  gather(tensor, 0, from, elements.get());
  copy.uploadBytes(elements.get(), copy.bytes(), where);
  return copy;
}

void checkDevice(const Device &device, const Layout &layout, const Checked &tensor, Loc where) {
  const device::DeviceProps &props = device.state()->device->props();
  bool isManaged = layout.device.type == DeviceType::CudaManaged;
  bool isOurs =
      !props.isVirtual &&
      (isManaged || (layout.device.type == DeviceType::Cuda && layout.device.id == props.ordinal));
  if (!isOurs)
    refuse(ErrorCode::WrongDevice, where,
           "the tensor is in memory of device type " +
               std::to_string(static_cast<int>(layout.device.type)) + ", number " +
               std::to_string(layout.device.id) + ", which " + device.name() + " does not address");
  if (tensor.address % sizeOf(tensor.dtype))
    refuse(ErrorCode::InvalidArgument, where,
           std::string("the elements are not aligned to the size of ") + nameOf(tensor.dtype));
}

/// With the gaps that its elements have.
Tensor copyOnDevice(const Device &device, const Checked &tensor, Loc where) {
  auto storage = std::make_shared<detail::Storage>(device.state(), tensor.bytes);
  device::Device &seam = *device.state()->device;
  seam.copyOnDevice(storage->base, tensor.address, tensor.bytes, {}, where);
  seam.synchronize(device::Stream{});
  return Tensor(std::move(storage), tensor.dtype, tensor.extents, tensor.strides, where);
}

Tensor take(const Device &device, const Layout &layout, uint64_t flags, std::shared_ptr<void> owned,
            const Stream &producer, Loc where) {
  Checked tensor = check(layout, where);
  if (tensor.isEmpty)
    return Tensor(device, tensor.dtype, tensor.extents, where);
  bool isOfHost =
      layout.device.type == DeviceType::Cpu || layout.device.type == DeviceType::CudaHost;
  if (!isOfHost)
    checkDevice(device, layout, tensor, where);
  if (producer.shared())
    producer.synchronize();
  if (isOfHost)
    return copyFromHost(device, tensor, where);
  if (flags & dlpack::kReadOnly)
    return copyOnDevice(device, tensor, where);
  auto storage = std::make_shared<detail::Storage>(device.state(), tensor.address, tensor.bytes,
                                                   std::move(owned));
  return Tensor(std::move(storage), tensor.dtype, tensor.extents, tensor.strides, where);
}

template <class Managed> std::shared_ptr<Managed> owned(Managed *managed, Loc where) {
  if (!managed)
    refuse(ErrorCode::InvalidArgument, where, "the managed tensor is a null pointer");
  return std::shared_ptr<Managed>(Owned<Managed>(managed));
}

} // namespace

Tensor fromDlpack(const Device &device, dlpack::ManagedTensorVersioned *managed,
                  const Stream &producer, Loc where) {
  auto kept = owned(managed, where);
  // Of another version nothing but the deleter is where we look for it.
  if (managed->version.major != dlpack::kMajorVersion)
    refuse(ErrorCode::Unsupported, where,
           "the tensor is of version " + std::to_string(managed->version.major) + "." +
               std::to_string(managed->version.minor) + ", versions 1.x are understood");
  return take(device, managed->dl_tensor, managed->flags, std::move(kept), producer, where);
}

Tensor fromDlpack(const Device &device, dlpack::ManagedTensor *managed, const Stream &producer,
                  Loc where) {
  auto kept = owned(managed, where);
  return take(device, managed->dl_tensor, 0, std::move(kept), producer, where);
}

} // namespace tile
