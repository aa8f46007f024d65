// The device of a `tilec run`, and what it reports: findings of the virtual GPU's checkers, counters, JSON.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/vgpu/VgpuDevice.h"

#include <tile/Device.h>

#include <optional>
#include <string>
#include <vector>

namespace tile::tilec {

struct SessionOptions {
  std::string device, checks, json;
  uint64_t seed = 0;
  bool counters = false;
};

/// What was launched, for the report.
struct LaunchShape {
  device::Dim3 grid, block;
  uint32_t sharedBytes = 0;
};
struct LaunchSummary {
  std::string input, entry;
  std::optional<LaunchShape> shape = {}; ///< where the command line gave it
};

class Session {
public:
  /// Opens the device: the one named, TILE_DEVICE, else a GPU if there is one and neither checks nor counters are asked
  /// for, else the virtual GPU. Error: InvalidArgument for checks, counters or a seed on a GPU.
  explicit Session(const SessionOptions &options);

  const Device &device() const { return device_; }
  /// The private seam behind it.
  device::Device &seam() const;
  /// Waits for all work; returns the exit code. Prints findings and counters, and writes the JSON file.
  int finish(const LaunchSummary &summary);

private:
  void writeJson(const LaunchSummary &summary, int code) const;

  SessionOptions options;
  Device device_;
  std::shared_ptr<vgpu::VirtualDevice> virtualDevice; ///< null on a GPU
  std::vector<vgpu::Finding> findings;
};

} // namespace tile::tilec
