// Tensors of the C API: memory of ours and of others, and copies.
#include "capi/Dtype.h"
#include "capi/Handles.h"
#include "capi/Place.h"
#include "capi/Sized.h"
#include "runtime/host/State.h"

#include <tile/Tensor.h>

#include <algorithm>

using namespace tile;
using namespace tile::capi;

namespace {

/// On a device or in memory of a stream.
Tensor make(const auto &owner, tile_dtype number, int32_t rank, const int64_t *shape,
            const int64_t *strides) {
  DType dtype = elementType(number);
  Extents extents = extentsAt(shape, rank, "shape");
  if (!strides)
    return Tensor(owner, dtype, extents, here());
  std::vector<int64_t> places = stridesAt(strides, extents);
  int64_t span = spanOf(extents, places, sizeOf(dtype));
  Tensor flat(owner, dtype, std::span(&span, 1), here());
  return flat.withStrides({extents.begin(), extents.end()}, std::move(places), here());
}

/// Memory of others, who are told when it is used no more.
struct Lent {
  void (*release)(void *);
  void *context;
  bool isTaken = false; ///< else the call failed, and it stays the caller's
  ~Lent() {
    if (isTaken && release)
      release(context);
  }
};

/// A device that knows its memory looks whether this is of it.
void checkLent(const Device &device, const void *data, DType dtype, size_t bytes) {
  auto address = reinterpret_cast<uint64_t>(data);
  uint64_t end;
  if (address % sizeOf(dtype) || __builtin_add_overflow(address, bytes, &end))
    refuse(ErrorCode::InvalidArgument, "'data' is no address of " + std::to_string(bytes) +
                                           " bytes of elements of type " + nameOf(dtype));
  device::Device &seam = *device.state()->device;
  if (!seam.props().checksBounds || bytes == 0)
    return;
  auto allocation = seam.allocationOf(address);
  if (!allocation || end > allocation->base + allocation->bytes)
    refuse(ErrorCode::InvalidArgument,
           "the " + std::to_string(bytes) + " bytes at 'data' are not in memory of device " +
               device.name() + ": to copy from the host, use tile_tensor_upload");
}

Tensor wrap(const Device &device, void *data, DType dtype, Extents shape, const int64_t *strides,
            const std::shared_ptr<Lent> &lent) {
  std::vector<int64_t> places = stridesAt(strides, shape);
  size_t bytes = static_cast<size_t>(spanOf(shape, places, sizeOf(dtype))) * sizeOf(dtype);
  checkLent(device, required(data, bytes, "data"), dtype, bytes);
  auto storage = std::make_shared<detail::Storage>(
      device.state(), reinterpret_cast<device::DevicePtr>(data), bytes, lent);
  return Tensor(std::move(storage), dtype, shape, places, here());
}

} // namespace

tile_status tile_tensor_create(tile_device *device, tile_dtype dtype, int32_t rank,
                               const int64_t *shape, const int64_t *strides, tile_tensor **tensor) {
  return guarded([&] {
    auto owner = at(device, "device");
    required(tensor, "tensor");
    *tensor = give<tile_tensor>(make(*owner, dtype, rank, shape, strides));
  });
}

tile_status tile_tensor_create_on(tile_stream *stream, tile_dtype dtype, int32_t rank,
                                  const int64_t *shape, const int64_t *strides,
                                  tile_tensor **tensor) {
  return guarded([&] {
    auto owner = at(stream, "stream");
    required(tensor, "tensor");
    *tensor = give<tile_tensor>(make(*owner, dtype, rank, shape, strides));
  });
}

tile_status tile_tensor_wrap(tile_device *device, void *data, tile_dtype dtype, int32_t rank,
                             const int64_t *shape, const int64_t *strides,
                             void (*release)(void *context), void *context, tile_tensor **tensor) {
  return guarded([&] {
    auto owner = at(device, "device");
    required(tensor, "tensor");
    Extents extents = extentsAt(shape, rank, "shape");
    auto lent = std::make_shared<Lent>(Lent{release, context});
    *tensor = give<tile_tensor>(wrap(*owner, data, elementType(dtype), extents, strides, lent));
    lent->isTaken = true;
  });
}

tile_status tile_tensor_release(tile_tensor *tensor) {
  return guarded([&] { release(tensor); });
}

tile_status tile_tensor_device(tile_tensor *tensor, tile_device **device) {
  return guarded([&] {
    auto object = at(tensor, "tensor");
    required(device, "device");
    *device = give<tile_device>(object->device(here()));
  });
}

tile_status tile_tensor_info(tile_tensor *tensor, tile_tensor_layout *layout) {
  return guarded([&] {
    auto object = at(tensor, "tensor");
    tile_tensor_layout known = {};
    known.dtype = numberOf(object->dtype());
    known.rank = object->rank();
    std::ranges::copy(object->extents(), known.shape);
    std::ranges::copy(object->strides(), known.strides);
    known.data = object->data();
    known.elements = object->numel();
    known.bytes = object->bytes();
    known.device = object->deviceHandle();
    known.is_contiguous = object->isContiguous();
    writeSized(layout, "layout", known);
  });
}

// --- Copies --------------------------------------------------------------------------------------

tile_status tile_tensor_upload(tile_tensor *tensor, tile_stream *stream, const void *source,
                               size_t bytes) {
  return guarded([&] {
    auto object = at(tensor, "tensor");
    required(source, bytes, "source");
    if (stream)
      object->uploadBytes(*at(stream, "stream"), source, bytes, here());
    else
      object->uploadBytes(source, bytes, here());
  });
}

tile_status tile_tensor_download(tile_tensor *tensor, tile_stream *stream, void *target,
                                 size_t bytes) {
  return guarded([&] {
    auto object = at(tensor, "tensor");
    required(target, bytes, "target");
    if (stream)
      object->downloadBytes(*at(stream, "stream"), target, bytes, here());
    else
      object->downloadBytes(target, bytes, here());
  });
}

tile_status tile_tensor_upload_async(tile_tensor *tensor, tile_stream *stream, const void *source,
                                     size_t bytes) {
  return guarded([&] {
    auto object = at(tensor, "tensor");
    object->uploadBytesAsync(*at(stream, "stream"), required(source, bytes, "source"), bytes,
                             here());
  });
}

tile_status tile_tensor_download_async(tile_tensor *tensor, tile_stream *stream, void *target,
                                       size_t bytes) {
  return guarded([&] {
    auto object = at(tensor, "tensor");
    object->downloadBytesAsync(*at(stream, "stream"), required(target, bytes, "target"), bytes,
                               here());
  });
}
