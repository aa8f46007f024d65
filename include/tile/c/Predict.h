// For C: how long kernels would take on a GPU, by a model (docs/time.md). Part of tile/tile_c.h.
// libtile.so has it; libtile_rt.so, which is without a compiler, has not.
#pragma once

#include <tile/c/Device.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The predictions of the launches of a call.
typedef struct tile_prediction tile_prediction;

/// How it is predicted; NULL or zeros mean the defaults.
typedef struct tile_predict_options {
  size_t size;      ///< sizeof(tile_predict_options)
  double clock_ghz; ///< in place of the clock that the model expects under the load
  uint32_t flags;   ///< of tile_predict_flags
} tile_predict_options;

typedef enum tile_predict_flags {
  TILE_PREDICT_CLEAN = 1,   ///< L2 is not full of written lines at the start
  TILE_PREDICT_ESTIMATE = 2 ///< registers and barriers are estimated even if there is an assembler
} tile_predict_flags;

/// Calls `work`, and predicts what it launches on the virtual GPU `device` in place of running it.
/// A status other than TILE_OK that it returns is what this function returns. TILE_UNSUPPORTED for
/// a device that is a GPU.
tile_status tile_predict(tile_device *device, tile_status (*work)(void *context), void *context,
                         const tile_predict_options *options, tile_prediction **prediction);
/// A number of all launches together: "us", "low_us", "high_us", "cycles", "launches" and
/// "is_calibrated" (0 or 1). Error: TILE_INVALID_ARGUMENT, listing the names there are.
tile_status tile_prediction_number(tile_prediction *prediction, const char *name, double *number);
/// All of it: "text" for people, "json" for programs.
tile_status tile_prediction_text(tile_prediction *prediction, const char *form, const char **text);
tile_status tile_prediction_release(tile_prediction *prediction);

#ifdef __cplusplus
} // extern "C"
#endif
