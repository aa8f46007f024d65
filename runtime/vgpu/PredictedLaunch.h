// Launches that are predicted in place of being executed.
#pragma once

#include "runtime/vgpu/PredictionRequest.h"
#include "runtime/vgpu/time/PredictTime.h"

#include <memory>
#include <vector>

namespace tile::vgpu {

/// The predictions of a device that is asked for them; launches given to a stream hold it.
struct Predictions {
  /// Error: InvalidArgument for a setting that the calibration does not have.
  explicit Predictions(PredictionRequest request);

  const PredictionRequest request;
  Calibration calibration;
  std::vector<PredictedLaunch> launches;
};

/// While it lives, launches that this thread gives to the device are predicted.
class PredictionScope {
public:
  PredictionScope(const device::Device &device, std::shared_ptr<Predictions> predictions);
  ~PredictionScope();
  PredictionScope(const PredictionScope &) = delete;
  PredictionScope &operator=(const PredictionScope &) = delete;

  /// Where predictions for the device go, or null: launches are executed.
  static std::shared_ptr<Predictions> current(const device::Device &device);

private:
  const device::Device &device_;
  std::shared_ptr<Predictions> predictions_;
  PredictionScope *outer_;
};

/// Predicts a launch, as predictTime() does, and names what it finds by lines and words.
PredictedLaunch predictLaunch(LaunchSetup setup, const Calibration &calibration,
                              const TimeOptions &options);

} // namespace tile::vgpu
