// At which clock a GPU works at a moment, and what slows it: what a time that was measured depends on.
#pragma once

#include "base/Fork.h"
#include "runtime/device/Device.h"
#include "runtime/device/Nvml.h"

#include <optional>
#include <string>

namespace tile::device {

/// What was read at a moment.
struct ClockReading {
  int megahertz = 0;     ///< of the multiprocessors
  uint64_t slowedBy = 0; ///< bits of nvml::Reason
};

/// "heat and its power limit"; empty if nothing slows a device.
std::string slowdownText(uint64_t slowedBy);

/// Asks NVML for a device, which it finds by its place on the PCI bus: numbers of devices change with CUDA_VISIBLE_DEVICES.
/// Nothing is read, and `why` says so, of a device without time, a part of a GPU (MIG), whose clock others have to do with as
/// well, without the library, without its permission, or in a child of the process.
class ClockReader {
public:
  explicit ClockReader(const DeviceProps &props);

  std::optional<ClockReading> read();
  /// For people: "1980 MHz, 43 degrees Celsius, 121 W"; or why nothing is known.
  std::string text();
  const std::string &why() const { return why_; }

private:
  void open(const DeviceProps &props);
  void close(const std::string &what, nvml::Result result);

  const nvml::Functions *nvml_ = nullptr;
  nvml::Handle device_ = nullptr;
  base::MadeInProcess process_;
  std::string why_;
};

} // namespace tile::device
