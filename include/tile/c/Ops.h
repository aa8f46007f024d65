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
  size_t size;         ///< sizeof(tile_op_description)
  const char *name;    ///< these live as long as the process
  const char *summary; ///< one line
  int32_t inputs;      ///< how many tensors it reads
} tile_op_description;

/// How many ops there are, and one of them, in the order of their names.
tile_status tile_op_count(size_t *count);
tile_status tile_op_at(size_t index, tile_op_description *op);
/// The op of a name. Error: TILE_INVALID_ARGUMENT.
tile_status tile_op_find(const char *name, tile_op_description *op);
/// What the op's output must be for these inputs. `shape` has room for TILE_MAX_RANK extents.
/// Errors: TILE_INVALID_ARGUMENT for another number of inputs; the op's own.
tile_status tile_op_output(const char *name, tile_tensor *const *inputs, size_t input_count,
                           const tile_setting *settings, size_t setting_count, tile_dtype *dtype,
                           int32_t *rank, int64_t *shape);
/// Computes it on the stream. Errors also: TILE_INVALID_ARGUMENT for settings that the op does not
/// have.
tile_status tile_op_run(const char *name, tile_stream *stream, tile_tensor *const *inputs,
                        size_t input_count, tile_tensor *output, const tile_setting *settings,
                        size_t setting_count);

#ifdef __cplusplus
} // extern "C"
#endif
