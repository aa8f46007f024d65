// For C: kernels that `tilec aot` has compiled ahead of time. They need no compiler: libtile_rt.so
// has them. Part of tile/tile_c.h.
//
// The header that `tilec aot` writes has a function for each, whose parameters are those of the
// kernel; what follows is for programs that learn what they launch when they run.
#pragma once

#include <tile/c/Argument.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The functions that one run of `tilec aot` has compiled.
typedef struct tile_archive tile_archive;
/// One of them: a kernel with its constants.
typedef struct tile_function tile_function;

/// Reads NAME.tilekernels. Errors: TILE_IO_ERROR; TILE_PARSE if it is damaged or of another
/// version.
tile_status tile_archive_open(const char *path, tile_archive **archive);
/// The same from memory, which may go afterwards; `source` is what messages call it.
tile_status tile_archive_read(const void *bytes, size_t size, const char *source,
                              tile_archive **archive);
tile_status tile_archive_release(tile_archive *archive);
tile_status tile_archive_function_count(tile_archive *archive, size_t *count);
tile_status tile_archive_function_at(tile_archive *archive, size_t index, tile_function **function);
/// The function of this name. Error: TILE_INVALID_ARGUMENT, listing those that there are.
tile_status tile_archive_function(tile_archive *archive, const char *name,
                                  tile_function **function);
tile_status tile_function_release(tile_function *function);

typedef struct tile_function_description {
  size_t size;         ///< sizeof(tile_function_description)
  const char *name;    ///< texts live as long as the function's handle
  const char *targets; ///< what it is compiled for, "sm_80, sm_90a"
  int32_t parameters;  ///< one argument each
  int32_t constants;   ///< that it was compiled with
} tile_function_description;
tile_status tile_function_info(tile_function *function, tile_function_description *description);
tile_status tile_function_parameter(tile_function *function, size_t index,
                                    tile_parameter_description *parameter);
tile_status tile_function_constant(tile_function *function, size_t index, const char **name,
                                   int64_t *value);

/// Launches on the stream; one argument for each parameter. Errors: those of a kernel's launch;
/// TILE_UNSUPPORTED where it is not compiled for the device or for arguments like these.
tile_status tile_function_launch(tile_function *function, tile_stream *stream,
                                 const tile_argument *arguments, size_t argument_count);
/// Loads all that launches on this device may need: at start-up, or before a graph is captured.
tile_status tile_function_prepare(tile_function *function, tile_device *device);

/// What generated headers call: launches a function of an archive among the program's own bytes,
/// which stays where it is and is read once.
tile_status tile_embedded_launch(const unsigned char *bytes, size_t size, const char *name,
                                 tile_stream *stream, const tile_argument *arguments,
                                 size_t argument_count);
/// The same for tile_function_prepare.
tile_status tile_embedded_prepare(const unsigned char *bytes, size_t size, const char *name,
                                  tile_device *device);

#ifdef __cplusplus
} // extern "C"
#endif
