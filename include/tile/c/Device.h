// For C: devices, streams and events. Part of tile/tile_c.h.
#pragma once

#include <tile/c/Status.h>

#ifdef __cplusplus
extern "C" {
#endif

/// An NVIDIA GPU, or the virtual GPU, which runs the same kernels on the CPU and checks them.
typedef struct tile_device tile_device;

/// Opens "cuda", "cuda:1", "virtual" (sm_80), "virtual:sm_90a" or "auto"; NULL: the device that the
/// environment's TILE_DEVICE names, else "auto". Handles of one name are one device. Errors:
/// TILE_INVALID_ARGUMENT for other names; TILE_NO_DEVICE with the driver's words.
tile_status tile_device_open(const char *name, tile_device **device);
/// The device of a CUcontext that others made and keep; NULL: of the one current to this thread.
tile_status tile_device_of_context(void *context, tile_device **device);
tile_status tile_device_release(tile_device *device);

/// A property that is a text: "name" (what tile_device_open takes), "product", "target" (the PTX
/// target of kernels, "sm_90a"). Error: TILE_INVALID_ARGUMENT, listing the names there are.
tile_status tile_device_text(tile_device *device, const char *property, const char **text);
/// One that is a number: "id" (the `device` of arguments), "ordinal", "is_virtual" (0 or 1),
/// "multiprocessors", "total_memory", "l2_bytes", "shared_memory_per_multiprocessor",
/// "shared_memory_per_block", "registers_per_multiprocessor" and "max_threads_per_block". Sizes are
/// in bytes.
tile_status tile_device_number(tile_device *device, const char *property, int64_t *number);
/// Waits for all work of the device. Errors: what that work did wrong.
tile_status tile_device_synchronize(tile_device *device);

/// A queue of work, which runs in the order in which it was given. Work of two streams runs at any
/// time: where one uses what the other writes, it has to wait.
typedef struct tile_stream tile_stream;
/// A point in the work of a stream.
typedef struct tile_event tile_event;

tile_status tile_stream_create(tile_device *device, tile_stream **stream);
/// A CUstream of this device that others made and keep, which is used as any stream is. Errors:
/// TILE_WRONG_DEVICE; TILE_INVALID_HANDLE on the virtual GPU for what tile_stream_native() did not
/// give.
tile_status tile_stream_adopt(tile_device *device, void *native, tile_stream **stream);
/// The stream ends with its last handle, after its work, for which that call waits; one of others
/// is only let go.
tile_status tile_stream_release(tile_stream *stream);
/// The CUstream, for libraries of others; on the virtual GPU a name for tile_stream_adopt().
tile_status tile_stream_native(tile_stream *stream, void **native);
/// The device that the stream is of: a handle to be released.
tile_status tile_stream_device(tile_stream *stream, tile_device **device);
/// Waits on the host for the stream's work. Errors: what that work did wrong.
tile_status tile_stream_synchronize(tile_stream *stream);
/// What `stream` is given from here on starts after all that `other` has been given so far.
tile_status tile_stream_wait(tile_stream *stream, tile_stream *other);
/// The same for what was given before `event` was recorded last; nothing if it never was.
tile_status tile_stream_wait_event(tile_stream *stream, tile_event *event);
/// From here on kernels given to the stream may start while the one before ends; results stay the
/// same. Kernels of archives launch as before, as does all on devices before sm_90. 0 ends it.
tile_status tile_stream_overlap_launches(tile_stream *stream, int32_t overlap);
/// Waits for the stream, and gives the device the memory that it keeps for later tensors.
tile_status tile_stream_trim(tile_stream *stream);

/// What the tensors of tile_tensor_create_on() hold of the device's memory.
typedef struct tile_stream_usage {
  size_t size;          ///< sizeof(tile_stream_usage)
  uint64_t used_bytes;  ///< by tensors there are
  uint64_t kept_bytes;  ///< by none, kept for those to come
  uint64_t allocations; ///< how often the device was asked for memory so far
} tile_stream_usage;
tile_status tile_stream_get_usage(tile_stream *stream, tile_stream_usage *usage);

tile_status tile_event_create(tile_device *device, tile_event **event);
tile_status tile_event_release(tile_event *event);
/// The event is, from here on, the end of what the stream has been given so far.
tile_status tile_event_record(tile_event *event, tile_stream *stream);
/// Waits on the host until it has been reached; not at all if it was never recorded.
tile_status tile_event_synchronize(tile_event *event);
/// Writes 1 if it has been reached, or was never recorded, else 0.
tile_status tile_event_query(tile_event *event, int32_t *is_reached);
/// Milliseconds from `start` to `end`; waits for both. TILE_INVALID_HANDLE if one was never
/// recorded.
tile_status tile_event_elapsed(tile_event *start, tile_event *end, float *milliseconds);

#ifdef __cplusplus
} // extern "C"
#endif
