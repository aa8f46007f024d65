// Predicting: how long launches would take on a GPU, without one. The virtual GPU runs a model of
// an H100 in place of the kernels.
//
//   Device device = Device::open("virtual:sm_90a");
//   Prediction all = predict(device, [&] { ops::softmax(stream, x, y); });
//   Prediction one = predict(stream, scale.consts(256), a, b, 0.5f);
//   std::cout << one;
//   EXPECT_LT(one.cycles(), 1.02 * 41000);
//
// docs/time.md says what is modelled and how far to trust it. Not part of tile/tile.h.
#pragma once

#include <tile/Device.h>
#include <tile/Prediction.h>

#include <functional>
#include <optional>

namespace tile {

struct PredictOptions {
  /// The clock, in place of the one that the model expects under the load.
  std::optional<double> clockGhz = {};
  /// Whether L2 is full of written lines when a launch starts, as benchmarks leave it that fill
  /// their caches by writing.
  bool isDirty = true;
  /// Whether an assembler (ptxas) is asked for registers and barriers where there is one. Without
  /// it predictions are the same on all machines.
  bool assembles = true;
};

/// Calls `call` and predicts the kernels that it launches on the virtual GPU `device`, which are
/// not run: memory stays as it is. Copies and allocations happen. Kernels that other threads launch
/// meanwhile run. Errors: Unsupported for a device that is a GPU, or a kernel that the model cannot
/// follow; InvalidArgument for an empty function or a clock that is none; those of the call.
Prediction predict(const Device &device, const std::function<void()> &call,
                   const PredictOptions &options = {}, Loc where = Loc::here());

/// The same for one call of a kernel: `predict(stream, scale.consts(256), a, b, 0.5f)`.
template <class Launcher, class... Arguments>
requires(requires(const Launcher &launcher, const Stream &stream, const Arguments &...arguments) {
  launcher(stream, arguments...);
}) Prediction
    predict(const Stream &stream, const Launcher &launcher, const Arguments &...arguments) {
  return predict(stream.device(), [&] { launcher(stream, arguments...); });
}

} // namespace tile
