// For C: ops by name (docs/ops.md, `tilec build op:NAME`). Part of tile/tile_c.h. libtile.so has
// it; libtile_rt.so, which is without a compiler, has not.
#pragma once

#include <tile/c/Tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A word of an op's settings, as `tilec run op:matmul BM=64` has them.
typedef struct tile_setting {
  const char *name;
  const char *value;
} tile_setting;

typedef struct tile_op_description {
  size_t size;             ///< sizeof(tile_op_description)
  const char *name;        ///< these live as long as the process
  const char *summary;     ///< one line
  int32_t inputs;          ///< how many tensors it needs
  int32_t optional_inputs; ///< how many more it takes, after those
  uint64_t changed;        ///< bit i: it changes input i in place
} tile_op_description;

/// How many ops there are, and one of them, in the order of their names.
tile_status tile_op_count(size_t *count);
tile_status tile_op_at(size_t index, tile_op_description *op);
/// The op of a name. Error: TILE_INVALID_ARGUMENT.
tile_status tile_op_find(const char *name, tile_op_description *op);
/// Inputs. In the three functions below those that may be left out may be NULL, others may follow.
/// How many outputs the op has for these inputs and settings: none if it changes inputs in place
/// alone. Errors: TILE_INVALID_ARGUMENT for another number of inputs; the op's own.
tile_status tile_op_output_count(const char *name, tile_tensor *const *inputs, size_t input_count,
                                 const tile_setting *settings, size_t setting_count, size_t *count);
/// What one of them must be, numbered from 0. `shape` has room for TILE_MAX_RANK extents.
tile_status tile_op_output_at(const char *name, tile_tensor *const *inputs, size_t input_count,
                              const tile_setting *settings, size_t setting_count, size_t index,
                              tile_dtype *dtype, int32_t *rank, int64_t *shape);
/// Computes them on the stream. Errors also: TILE_INVALID_ARGUMENT for settings that the op does
/// not have, and another number of outputs.
tile_status tile_op_launch(const char *name, tile_stream *stream, tile_tensor *const *inputs,
                           size_t input_count, tile_tensor *const *outputs, size_t output_count,
                           const tile_setting *settings, size_t setting_count);

/// The same two of ops with one output.
tile_status tile_op_output(const char *name, tile_tensor *const *inputs, size_t input_count,
                           const tile_setting *settings, size_t setting_count, tile_dtype *dtype,
                           int32_t *rank, int64_t *shape);
tile_status tile_op_run(const char *name, tile_stream *stream, tile_tensor *const *inputs,
                        size_t input_count, tile_tensor *output, const tile_setting *settings,
                        size_t setting_count);

#ifdef __cplusplus
} // extern "C"
#endif
