// For C: arguments and parameters of kernels. Part of tile/tile_c.h.
#pragma once

#include <tile/c/Tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tile_argument_kinds {
  TILE_TENSOR_ARGUMENT = 1,
  TILE_INTEGER_ARGUMENT = 2, ///< for scalars of every dtype that can hold the number
  TILE_REAL_ARGUMENT = 3,    ///< for scalars of floating-point dtypes
  TILE_UNSIGNED_ARGUMENT = 4 ///< as TILE_INTEGER_ARGUMENT, up to 2^64 - 1
};

/// An argument of a kernel's launch: a tensor, also one in memory that is none of tilec's, or a
/// number. It owns nothing: who fills it in keeps the memory. This structure never grows. Set it to
/// zeros, then fill in what its kind needs.
typedef struct tile_argument {
  int32_t kind;     ///< of tile_argument_kinds
  tile_dtype dtype; ///< of a tensor's elements
  int32_t rank;
  int32_t reserved;               ///< 0
  void *data;                     ///< of element (0, 0, ...), in the device's memory
  uint64_t device;                ///< "id" of the device that owns the memory; 0: unknown
  int64_t shape[TILE_MAX_RANK];   ///< in elements
  int64_t strides[TILE_MAX_RANK]; ///< in elements
  int64_t integer;                ///< the number; of TILE_UNSIGNED_ARGUMENT its bits
  double real;
} tile_argument;

/// Fills in the argument for a tensor, which has to outlive the call that it is for.
tile_status tile_tensor_argument(tile_tensor *tensor, tile_argument *argument);
/// Arguments that are numbers.
static inline tile_argument tile_integer(int64_t number) {
  tile_argument argument = {TILE_INTEGER_ARGUMENT, 0, 0, 0, 0, 0, {0}, {0}, number, 0};
  return argument;
}
static inline tile_argument tile_unsigned(uint64_t number) {
  tile_argument argument = {TILE_UNSIGNED_ARGUMENT, 0, 0, 0, 0, 0, {0}, {0}, (int64_t)number, 0};
  return argument;
}
static inline tile_argument tile_real(double number) {
  tile_argument argument = {TILE_REAL_ARGUMENT, 0, 0, 0, 0, 0, {0}, {0}, 0, number};
  return argument;
}

/// What a kernel's parameter is.
enum tile_parameter_kinds {
  TILE_IN = 1,
  TILE_OUT = 2,
  TILE_IN_OUT = 3,
  TILE_SCALAR = 4,
  TILE_CONST = 5 ///< given in tile_launch_options; the others are the arguments of a launch
};
typedef struct tile_parameter_description {
  size_t size;      ///< sizeof(tile_parameter_description)
  const char *name; ///< of named(...), else of the kernel's source, else "arg1", "C1", ...
  int32_t kind;     ///< of tile_parameter_kinds
  tile_dtype dtype; ///< TILE_ANY for views of any type and for constants
  int32_t rank;     ///< of views
} tile_parameter_description;

#ifdef __cplusplus
} // extern "C"
#endif
