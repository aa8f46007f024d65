// predict(): launches on the virtual GPU whose time is asked for, not their work.
#include <tile/Predict.h>

#include "runtime/host/Capture.h"
#include "runtime/predict/Figures.h"
#include "runtime/vgpu/VgpuDevice.h"

#include <cmath>

namespace tile {
namespace {

void check(const std::function<void()> &call, const PredictOptions &options, Loc where) {
  auto require = [&](bool isTrue, const char *rule) {
    if (!isTrue)
      throw Error(Fault::User, ErrorCode::InvalidArgument, std::string("predict: ") + rule, where);
  };
  require(call != nullptr, "there is no call to predict: the function is empty");
  require(!options.clockGhz || (std::isfinite(*options.clockGhz) && *options.clockGhz > 0),
          "clockGhz must be above 0, as 1.755");
}

template <double PredictedLaunch::*field> double sumOf(const Prediction &prediction) {
  double sum = 0;
  for (const PredictedLaunch &launch : prediction.launches)
    sum += launch.*field;
  return sum;
}

} // namespace

Prediction predict(const Device &device, const std::function<void()> &call,
                   const PredictOptions &options, Loc where) {
  check(call, options, where);
  detail::refuseInCapture(*device.state(), "predict", where);
  std::shared_ptr<vgpu::VirtualDevice> seam = vgpu::asVirtual(device.state()->device);
  if (!seam)
    throw Error(Fault::User, ErrorCode::Unsupported,
                "predict: '" + device.name() +
                    "' is a GPU, which has times of its own: measure them by bench(), or predict "
                    "on \"virtual:sm_90a\"",
                where);
  vgpu::PredictionRequest request;
  request.clockGhz = options.clockGhz;
  request.isDirty = options.isDirty;
  if (options.assembles)
    request.assembler = predict::figuresOf;
  return {seam->predict(call, request)};
}

double Prediction::us() const { return sumOf<&PredictedLaunch::us>(*this); }
double Prediction::lowUs() const { return sumOf<&PredictedLaunch::lowUs>(*this); }
double Prediction::highUs() const { return sumOf<&PredictedLaunch::highUs>(*this); }
double Prediction::cycles() const { return sumOf<&PredictedLaunch::cycles>(*this); }

bool Prediction::isCalibrated() const {
  for (const PredictedLaunch &launch : launches)
    if (!launch.isCalibrated)
      return false;
  return true;
}

} // namespace tile
