// Exchange of tensors with other libraries in their process, by DLPack 1.1: NumPy, PyTorch, JAX,
// CuPy and others make and take its structures. Not part of tile/tile.h.
//
//   dlpack::ManagedTensorVersioned *given = toDlpack(tensor); // the taker calls given->deleter
//   Tensor tensor = fromDlpack(device, taken);                // we call taken->deleter
//
// The structures are those of dlpack.h under other names: a pointer to DLManagedTensorVersioned
// is cast to ManagedTensorVersioned, one to DLManagedTensor to ManagedTensor.
//
// Memory of a GPU is shared, whatever the direction. The virtual GPU has no memory that others can
// address: with it tensors are copied, and are memory of the host for others.
#pragma once

#include <tile/Tensor.h>

#include <cstddef>
#include <cstdint>

namespace tile {

namespace dlpack {

inline constexpr uint32_t kMajorVersion = 1, kMinorVersion = 1;

/// Those that we give and take; others have other numbers.
enum class DeviceType : int32_t { Cpu = 1, Cuda = 2, CudaHost = 3, CudaManaged = 13 };
enum class TypeCode : uint8_t {
  Int = 0,
  Uint = 1,
  Float = 2,
  Bfloat = 4,
  Bool = 6,
  Float8E4M3Fn = 10,
  Float8E5M2 = 12
};

/// `flags` of ManagedTensorVersioned.
inline constexpr uint64_t kReadOnly = 1, kIsCopied = 2, kIsSubbytePadded = 4;

struct Version {
  uint32_t major, minor;
};
struct DeviceId {
  DeviceType type;
  int32_t id;
};
struct ElementType {
  TypeCode code;
  uint8_t bits;
  uint16_t lanes;
};
/// DLTensor. Strides are in elements; null ones are those of row-major memory without gaps.
struct Layout {
  void *data;
  DeviceId device;
  int32_t ndim;
  ElementType dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};
struct ManagedTensor {
  Layout dl_tensor;
  void *manager_ctx;
  void (*deleter)(ManagedTensor *self);
};
struct ManagedTensorVersioned {
  Version version;
  void *manager_ctx;
  void (*deleter)(ManagedTensorVersioned *self);
  uint64_t flags;
  Layout dl_tensor;
};

static_assert(sizeof(void *) == 8, "the places below are those of 64-bit machines");
static_assert(sizeof(ElementType) == 4 && offsetof(ElementType, lanes) == 2);
static_assert(sizeof(Layout) == 48 && offsetof(Layout, device) == 8 &&
              offsetof(Layout, ndim) == 16);
static_assert(offsetof(Layout, ndim) == 16 && offsetof(Layout, dtype) == 20);
static_assert(offsetof(Layout, shape) == 24);
static_assert(offsetof(Layout, strides) == 32 && offsetof(Layout, byte_offset) == 40);
static_assert(sizeof(ManagedTensor) == 64 && offsetof(ManagedTensor, manager_ctx) == 48 &&
              offsetof(ManagedTensor, deleter) == 56);
static_assert(sizeof(ManagedTensorVersioned) == 80);
static_assert(offsetof(ManagedTensorVersioned, manager_ctx) == 8);
static_assert(offsetof(ManagedTensorVersioned, deleter) == 16);
static_assert(offsetof(ManagedTensorVersioned, flags) == 24);
static_assert(offsetof(ManagedTensorVersioned, dl_tensor) == 32);

} // namespace dlpack

/// Exports a tensor. It stays alive until any thread calls `deleter`. GPU memory is exported as it
/// is, with work still in flight: let the consumer's stream wait for ours. On the virtual GPU the
/// call waits for all work and copies the elements (`kIsCopied`): the tensor does not see what the
/// consumer writes. Errors: InvalidHandle for no tensor; OutOfMemory.
dlpack::ManagedTensorVersioned *toDlpack(const Tensor &tensor, Loc where = Loc::here());
/// The same in the form that was usual before DLPack 1.0, which cannot say that it is a copy.
dlpack::ManagedTensor *toUnversionedDlpack(const Tensor &tensor, Loc where = Loc::here());

/// Takes a tensor that another library hands out, and with it the duty to call its deleter: once,
/// also if this throws. Memory of `device` is shared, and given back with the last tensor that uses
/// it, after all work of the device. Memory of the host, and what must not be written to, is copied
/// and given back at once. The host waits for `producer`, a stream whose work writes the elements
/// (Device::externalStream makes one of a CUstream); without one they have to be there.
/// Errors, all of which name what was given: InvalidArgument for null pointers and elements that
/// lie across their size; InvalidShape for a rank above kMaxRank, negative or too large extents;
/// Unsupported for another major version, for elements that tensors cannot have, and for negative
/// strides; WrongDevice; OutOfMemory.
Tensor fromDlpack(const Device &device, dlpack::ManagedTensorVersioned *managed,
                  const Stream &producer = {}, Loc where = Loc::here());
Tensor fromDlpack(const Device &device, dlpack::ManagedTensor *managed, const Stream &producer = {},
                  Loc where = Loc::here());

} // namespace tile
