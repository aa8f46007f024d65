#include "runtime/device/ClockReader.h"

#include "runtime/device/CudaDriver.h"

#include <utility>
#include <vector>

namespace tile::device {
namespace {

constexpr uint64_t kHeat = nvml::kThermal | nvml::kHardwareThermal;
constexpr uint64_t kSlowdowns =
    kHeat | nvml::kPowerCap | nvml::kPowerBrake | nvml::kHardwareSlowdown;

/// As "00000000:65:00.0"; empty if the driver does not tell.
std::string pciBusIdOf(int ordinal) {
  const cuda::Driver &driver = cuda::Driver::get();
  cuda::CUdevice device = 0;
  char text[32] = {};
  bool isKnown = driver.deviceGetPciBusId && driver.deviceGet(&device, ordinal) == cuda::kSuccess &&
                 driver.deviceGetPciBusId(text, sizeof text, device) == cuda::kSuccess;
  return isKnown ? text : "";
}

} // namespace

std::string slowdownText(uint64_t slowedBy) {
  std::vector<const char *> names;
  if (slowedBy & kHeat)
    names.push_back("heat");
  if (slowedBy & nvml::kPowerCap)
    names.push_back("its power limit");
  if (slowedBy & nvml::kPowerBrake)
    names.push_back("a power brake");
  if (slowedBy & nvml::kHardwareSlowdown && names.empty()) // set together with its cause
    names.push_back("its hardware");
  std::string text;
  for (const char *name : names)
    text += (text.empty() ? "" : " and ") + std::string(name);
  return text;
}

ClockReader::ClockReader(const DeviceProps &props) {
  if (props.countsWork)
    why_ = "it has none";
  else
    open(props);
}

void ClockReader::open(const DeviceProps &props) {
  nvml_ = nvml::functions(&why_);
  if (!nvml_) {
    why_ = "there is no NVML: " + why_;
    return;
  }
  std::string place = pciBusIdOf(props.ordinal);
  if (place.empty()) {
    why_ = "the CUDA driver does not tell where the device is";
    return;
  }
  if (nvml::Result result = nvml_->init())
    return close("NVML does not start", result);
  if (nvml::Result result = nvml_->deviceByPciBusId(place.c_str(), &device_))
    return close("NVML does not give out " + place, result);
  unsigned isDivided = 0, soon = 0;
  if (nvml_->migMode && nvml_->migMode(device_, &isDivided, &soon) == nvml::kSuccess && isDivided) {
    device_ = nullptr;
    why_ = "the GPU is divided (MIG), and its clock not this part's alone";
    return;
  }
  read();
}

void ClockReader::close(const std::string &what, nvml::Result result) {
  device_ = nullptr;
  const char *words = nvml_->errorString(result);
  why_ = what + ": " + (words ? words : "error " + std::to_string(result));
}

std::optional<ClockReading> ClockReader::read() {
  if (!device_ || process_.isOfParent())
    return {};
  unsigned megahertz = 0;
  if (nvml::Result result = nvml_->clock(device_, nvml::kClockOfMultiprocessors, &megahertz)) {
    close("NVML does not tell the clock", result);
    return {};
  }
  unsigned long long reasons = 0;
  if (nvml_->clockReasons && nvml_->clockReasons(device_, &reasons) != nvml::kSuccess)
    reasons = 0;
  return ClockReading{static_cast<int>(megahertz), reasons & kSlowdowns};
}

std::string ClockReader::text() {
  std::optional<ClockReading> reading = read();
  if (!reading)
    return "not known: " + (why_.empty() ? "this process was forked" : why_);
  std::string text = std::to_string(reading->megahertz) + " MHz";
  unsigned value = 0;
  if (nvml_->temperature &&
      nvml_->temperature(device_, nvml::kSensorOfGpu, &value) == nvml::kSuccess)
    text += ", " + std::to_string(value) + " degrees Celsius";
  constexpr unsigned kMilliwatts = 1000;
  if (nvml_->power && nvml_->power(device_, &value) == nvml::kSuccess)
    text += ", " + std::to_string(value / kMilliwatts) + " W";
  std::string slowed = slowdownText(reading->slowedBy);
  return slowed.empty() ? text : text + ", slowed by " + slowed;
}

} // namespace tile::device
