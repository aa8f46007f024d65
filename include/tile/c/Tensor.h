// For C: tensors, and their exchange by DLPack 1.1 (docs/exchange.md). Part of tile/tile_c.h.
#pragma once

#include <tile/c/Device.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The element type of a tensor or scalar, one of tile_dtypes.
typedef int32_t tile_dtype;
enum tile_dtypes {
  TILE_ANY = 0, ///< of a kernel's parameter: every type is taken. No tensor has it.
  TILE_I1 = 1,  ///< a byte, 0 or 1
  TILE_I8 = 2,
  TILE_I16 = 3,
  TILE_I32 = 4,
  TILE_I64 = 5,
  TILE_U8 = 6,
  TILE_U16 = 7,
  TILE_U32 = 8,
  TILE_U64 = 9,
  TILE_F16 = 10,
  TILE_BF16 = 11,
  TILE_F32 = 12,
  TILE_F64 = 13,
  TILE_E4M3 = 14,
  TILE_E5M2 = 15
};
/// "f16", "i32", ...; "?" for a number that is none.
const char *tile_dtype_name(tile_dtype dtype);
/// Bytes of one element; 0 for TILE_ANY and numbers that are none.
size_t tile_dtype_size(tile_dtype dtype);

/// The most dimensions of a tensor.
#define TILE_MAX_RANK 8

/// Memory of a device with extents and strides. Views share it and keep it alive.
typedef struct tile_tensor tile_tensor;

/// A tensor whose elements are not set. Shapes and strides are in elements, `rank` of each; strides
/// of NULL are those of row-major memory, others must not be negative. Its memory is given back
/// after all work of the device. Errors: TILE_INVALID_SHAPE for ranks beyond TILE_MAX_RANK,
/// negative or too large extents; TILE_OUT_OF_MEMORY.
tile_status tile_tensor_create(tile_device *device, tile_dtype dtype, int32_t rank,
                               const int64_t *shape, const int64_t *strides, tile_tensor **tensor);
/// The same in memory of a stream, for its work: later tensors of the stream take the memory again
/// as soon as this one is released, without waiting.
tile_status tile_tensor_create_on(tile_stream *stream, tile_dtype dtype, int32_t rank,
                                  const int64_t *shape, const int64_t *strides,
                                  tile_tensor **tensor);
/// A tensor in memory of the device that others own, from element (0, 0, ...) at `data` on.
/// `release`, if not NULL, is called once with `context` when nothing uses the memory any more, by
/// any thread; not at all if this fails. On the virtual GPU the memory must be its own.
tile_status tile_tensor_wrap(tile_device *device, void *data, tile_dtype dtype, int32_t rank,
                             const int64_t *shape, const int64_t *strides,
                             void (*release)(void *context), void *context, tile_tensor **tensor);
tile_status tile_tensor_release(tile_tensor *tensor);

/// Views: the dimensions in another order, of which `order` has each once; one dimension cut to
/// `extent` from `start`; the same elements in another shape, one extent of which may be -1
/// (contiguous tensors only); other extents and strides from element (0, 0, ...) on.
tile_status tile_tensor_permute(tile_tensor *tensor, const int32_t *order, tile_tensor **view);
tile_status tile_tensor_slice(tile_tensor *tensor, int32_t dimension, int64_t start, int64_t extent,
                              tile_tensor **view);
tile_status tile_tensor_reshape(tile_tensor *tensor, int32_t rank, const int64_t *shape,
                                tile_tensor **view);
tile_status tile_tensor_restride(tile_tensor *tensor, int32_t rank, const int64_t *shape,
                                 const int64_t *strides, tile_tensor **view);

/// What a tensor is.
typedef struct tile_tensor_layout {
  size_t size; ///< sizeof(tile_tensor_layout)
  tile_dtype dtype;
  int32_t rank;
  int64_t shape[TILE_MAX_RANK];
  int64_t strides[TILE_MAX_RANK]; ///< in elements; 0 for a repeated dimension
  void *data;                     ///< of element (0, 0, ...); not for the host to read
  int64_t elements;
  size_t bytes;          ///< that the elements take without gaps: what copies have
  uint64_t device;       ///< the "id" of its device
  int32_t is_contiguous; ///< row-major without gaps
} tile_tensor_layout;
tile_status tile_tensor_info(tile_tensor *tensor, tile_tensor_layout *layout);
/// The device that the tensor is of: a handle to be released.
tile_status tile_tensor_device(tile_tensor *tensor, tile_device **device);

/// Copies all elements in row-major order, whatever the strides, and waits for it. With a stream it
/// is work of that stream; with NULL it comes after all work of the device and before what it is
/// given next. Error: TILE_INVALID_ARGUMENT unless `bytes` are those of the tensor.
tile_status tile_tensor_upload(tile_tensor *tensor, tile_stream *stream, const void *source,
                               size_t bytes);
tile_status tile_tensor_download(tile_tensor *tensor, tile_stream *stream, void *target,
                                 size_t bytes);
/// The same without waiting: the host leaves its memory alone until the stream has been waited for.
/// Contiguous tensors only.
tile_status tile_tensor_upload_async(tile_tensor *tensor, tile_stream *stream, const void *source,
                                     size_t bytes);
tile_status tile_tensor_download_async(tile_tensor *tensor, tile_stream *stream, void *target,
                                       size_t bytes);

struct DLManagedTensorVersioned;
struct DLManagedTensor;

/// Exports a tensor; the structure's own deleter releases it. GPU memory is shared, with work still
/// in flight; memory of the virtual GPU is copied to the host, after its work.
tile_status tile_tensor_to_dlpack(tile_tensor *tensor, struct DLManagedTensorVersioned **managed);
tile_status tile_tensor_to_dlpack_unversioned(tile_tensor *tensor,
                                              struct DLManagedTensor **managed);
/// Takes a tensor, and calls its deleter once, also if this fails. Memory of this device is shared;
/// that of the host, and what must not be written to, is copied. The host waits for `producer`, the
/// stream that writes the elements, unless that is NULL.
tile_status tile_tensor_from_dlpack(tile_device *device, struct DLManagedTensorVersioned *managed,
                                    tile_stream *producer, tile_tensor **tensor);
tile_status tile_tensor_from_dlpack_unversioned(tile_device *device,
                                                struct DLManagedTensor *managed,
                                                tile_stream *producer, tile_tensor **tensor);

#ifdef __cplusplus
} // extern "C"
#endif
