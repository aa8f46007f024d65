// toDlpack: a tensor and what describes it to others, kept until the taker's deleter.
#include "runtime/host/DLPackTypes.h"
#include "runtime/host/State.h"

#include <tile/DLPack.h>

#include <algorithm>
#include <new>

namespace tile {
namespace {

/// Memory of the host, aligned as DLPack asks for.
struct FreeAligned {
  static constexpr std::align_val_t kAlignment{256};
  void operator()(std::byte *bytes) const { ::operator delete(bytes, kAlignment); }
};

template <class Managed> struct Exported {
  Managed managed = {};
  Tensor tensor; ///< whose memory it is; none where it was copied
  std::unique_ptr<std::byte, FreeAligned> copy;
  int64_t extents[kMaxRank] = {}, strides[kMaxRank] = {};
};

template <class Managed>
void copyToHost(Exported<Managed> &exported, const Tensor &tensor, Loc where) {
  size_t bytes = tensor.bytes();
  void *memory = ::operator new(std::max<size_t>(bytes, 1), FreeAligned::kAlignment, std::nothrow);
  if (!memory)
    throw Error(Fault::Device, ErrorCode::OutOfMemory,
                "the host has no " + std::to_string(bytes) + " bytes for a copy of the tensor",
                where);
  exported.copy.reset(static_cast<std::byte *>(memory));
  tensor.downloadBytes(memory, bytes, where);
  int64_t stride = 1;
  for (int dim = tensor.rank(); dim-- > 0; stride *= std::max<int64_t>(tensor.extents()[dim], 1))
    exported.strides[dim] = stride;
}

template <class Managed>
std::unique_ptr<Exported<Managed>> exportOf(const Tensor &tensor, Loc where) {
  const device::DeviceProps &props = tensor.device(where).state()->device->props();
  auto exported = std::make_unique<Exported<Managed>>();
  dlpack::Layout &layout = exported->managed.dl_tensor;
  std::ranges::copy(tensor.extents(), exported->extents);
  if (props.isVirtual) {
    copyToHost(*exported, tensor, where);
    layout.device = {dlpack::DeviceType::Cpu, 0};
    layout.data = exported->copy.get();
  } else {
    exported->tensor = tensor;
    std::ranges::copy(tensor.strides(), exported->strides);
    layout.device = {dlpack::DeviceType::Cuda, props.ordinal};
    layout.data = tensor.data(); // with no byte_offset, which not all takers look at
  }
  if (tensor.numel() == 0)
    layout.data = nullptr;
  layout.ndim = tensor.rank();
  layout.dtype = dlpack::elementTypeOf(tensor.dtype());
  layout.shape = exported->extents;
  layout.strides = exported->strides;
  exported->managed.manager_ctx = exported.get();
  exported->managed.deleter = [](Managed *self) {
    delete static_cast<Exported<Managed> *>(self->manager_ctx);
  };
  return exported;
}

} // namespace

dlpack::ManagedTensorVersioned *toDlpack(const Tensor &tensor, Loc where) {
  auto exported = exportOf<dlpack::ManagedTensorVersioned>(tensor, where);
  exported->managed.version = {dlpack::kMajorVersion, dlpack::kMinorVersion};
  exported->managed.flags = exported->copy ? dlpack::kIsCopied : 0;
  return &exported.release()->managed;
}

dlpack::ManagedTensor *toUnversionedDlpack(const Tensor &tensor, Loc where) {
  return &exportOf<dlpack::ManagedTensor>(tensor, where).release()->managed;
}

} // namespace tile
