#include <tile/DLPack.h>

#include "capi/Guard.h"
#include "capi/Handles.h"

#include <tile/c/Tensor.h>

using namespace tile;
using namespace tile::capi;

namespace {

/// Whatever is wrong with the other arguments, the producer's tensor is given back.
template <class Managed>
tile_status take(tile_device *device, Managed *managed, tile_stream *producer,
                 tile_tensor **tensor) {
  bool isHandedOn = false;
  tile_status status = guarded([&] {
    auto owner = at(device, "device");
    required(tensor, "tensor");
    Stream stream = producer ? *at(producer, "producer") : Stream();
    isHandedOn = true;
    *tensor = give<tile_tensor>(fromDlpack(*owner, managed, stream, here()));
  });
  if (!isHandedOn && managed && managed->deleter)
    managed->deleter(managed);
  return status;
}

} // namespace

tile_status tile_tensor_to_dlpack(tile_tensor *tensor, struct DLManagedTensorVersioned **managed) {
  return guarded([&] {
    auto object = at(tensor, "tensor");
    required(managed, "managed");
    *managed = reinterpret_cast<DLManagedTensorVersioned *>(toDlpack(*object, here()));
  });
}

tile_status tile_tensor_to_dlpack_unversioned(tile_tensor *tensor,
                                              struct DLManagedTensor **managed) {
  return guarded([&] {
    auto object = at(tensor, "tensor");
    required(managed, "managed");
    *managed = reinterpret_cast<DLManagedTensor *>(toUnversionedDlpack(*object, here()));
  });
}

tile_status tile_tensor_from_dlpack(tile_device *device, struct DLManagedTensorVersioned *managed,
                                    tile_stream *producer, tile_tensor **tensor) {
  return take(device, reinterpret_cast<dlpack::ManagedTensorVersioned *>(managed), producer,
              tensor);
}

tile_status tile_tensor_from_dlpack_unversioned(tile_device *device,
                                                struct DLManagedTensor *managed,
                                                tile_stream *producer, tile_tensor **tensor) {
  return take(device, reinterpret_cast<dlpack::ManagedTensor *>(managed), producer, tensor);
}
