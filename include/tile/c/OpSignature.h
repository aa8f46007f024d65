// For C: what ops by name call their tensors and settings. Part of tile/tile_c.h; of libtile.so, as
// Ops.h.
#pragma once

#include <tile/c/Ops.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tile_op_signature {
  size_t size; ///< sizeof(tile_op_signature)
  const char
      *inputs; ///< "x, weight, bias": in their order; of more tensors the last names all others.
               ///< Empty where nobody described the op. These live as long as the process
  const char *outputs; ///< "y, mean, rstd": settings may leave out the last
  int32_t settings;    ///< how many settings it has
} tile_op_signature;

/// What the value of a setting is. Numbers are not used again.
enum tile_setting_kind {
  TILE_INTEGER_SETTING = 1,
  TILE_NUMBER_SETTING = 2,
  TILE_FLAG_SETTING = 3, ///< 0 or 1
  TILE_DTYPE_SETTING = 4,
  TILE_INTEGERS_SETTING = 5, ///< "0,2"
  TILE_TEXT_SETTING = 6
};

typedef struct tile_setting_description {
  size_t size; ///< sizeof(tile_setting_description)
  const char *name;
  const char *fallback; ///< what it is unless given; empty where the op chooses by its inputs
  const char *summary;  ///< a few words
  int32_t kind;         ///< one of tile_setting_kind
  int32_t is_required;  ///< 1: there is no fallback
} tile_setting_description;

/// The signature of an op, and one of its settings. Errors: TILE_INVALID_ARGUMENT for a name or
/// number that is none.
tile_status tile_op_signature_of(const char *name, tile_op_signature *signature);
tile_status tile_op_setting_at(const char *name, size_t index, tile_setting_description *setting);

#ifdef __cplusplus
} // extern "C"
#endif
