// For C: kernels of the language that a shared library holds in static variables. Part of
// tile/tile_c.h. libtile.so has it; libtile_rt.so, which is without a compiler, has not.
#pragma once

#include <tile/c/Argument.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A library of kernels, LIB.so, compiled against libtile.so.
typedef struct tile_library tile_library;
/// One kernel of it.
typedef struct tile_kernel tile_kernel;

/// Loads a library, whose code stays in the process. Errors: TILE_IO_ERROR if there is no such
/// file; TILE_LINK_ERROR with the loader's words; TILE_INVALID_ARGUMENT if it makes no kernels.
tile_status tile_library_open(const char *path, tile_library **library);
tile_status tile_library_release(tile_library *library);
/// How many kernels the library has, in the order in which it makes them.
tile_status tile_library_kernel_count(tile_library *library, size_t *count);
tile_status tile_library_kernel_at(tile_library *library, size_t index, tile_kernel **kernel);
/// The only kernel of this name. Error: TILE_INVALID_ARGUMENT, listing those that there are.
tile_status tile_library_kernel(tile_library *library, const char *name, tile_kernel **kernel);
tile_status tile_kernel_release(tile_kernel *kernel);

typedef struct tile_kernel_description {
  size_t size;      ///< sizeof(tile_kernel_description)
  const char *name; ///< texts live as long as the kernel's handle
  const char *file; ///< where it is defined
  int32_t line;
  int32_t parameters; ///< constants and arguments
  int32_t constants;
  int32_t is_tuned; ///< has settings that the launch may leave to tuning
} tile_kernel_description;
tile_status tile_kernel_info(tile_kernel *kernel, tile_kernel_description *description);
tile_status tile_kernel_parameter(tile_kernel *kernel, size_t index,
                                  tile_parameter_description *parameter);

/// A constant by its name.
typedef struct tile_constant {
  const char *name;
  int64_t value;
} tile_constant;

enum tile_launch_flags {
  TILE_NO_FP_FUSION = 1, ///< a * b + c is rounded twice
  TILE_FLUSH_DENORMALS = 2,
  TILE_CHECKED = 4,  ///< what the kernel takes for granted is asserted
  TILE_NO_ASSUME = 8 ///< one compile for all alignments and strides
};

/// How to launch. Zeros are what a kernel has unless it is told otherwise.
typedef struct tile_launch_options {
  size_t size; ///< sizeof(tile_launch_options)
  const tile_constant *constants;
  size_t constant_count;
  int32_t warps;         ///< of a program: a power of two; 0: 4, or what is tuned
  int32_t max_registers; ///< of a thread
  int32_t occupancy;     ///< programs that must fit a multiprocessor together
  uint32_t flags;        ///< of tile_launch_flags
  int64_t grid[3];       ///< all 0: what follows from the kernel; else 0 is 1 in y and z
} tile_launch_options;

/// Launches on the stream: compiles for these dtypes and constants on first use. One argument for
/// each parameter that is no constant, in their order. Constants and settings of a kernel that is
/// tuned may be left out, and are then those that are best as far as that is known. `options` may
/// be NULL. Errors: TILE_INVALID_ARGUMENT for constants or arguments that do not fit, each with its
/// name; errors of the kernel itself at its line.
tile_status tile_kernel_launch(tile_kernel *kernel, tile_stream *stream,
                               const tile_launch_options *options, const tile_argument *arguments,
                               size_t argument_count);
/// Compiles and loads what such a launch needs, without launching.
tile_status tile_kernel_prepare(tile_kernel *kernel, tile_device *device,
                                const tile_launch_options *options, const tile_argument *arguments,
                                size_t argument_count);
/// The same for launches on a stream, whose options count: tile_stream_overlap_launches.
tile_status tile_kernel_prepare_for(tile_kernel *kernel, tile_stream *stream,
                                    const tile_launch_options *options,
                                    const tile_argument *arguments, size_t argument_count);

#ifdef __cplusplus
} // extern "C"
#endif
