// The report of a `tilec run` for programs: JSON with launch, checks, findings, notes and counters.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/vgpu/VgpuDevice.h"

#include <optional>
#include <string>
#include <vector>

namespace tile::tilec {

/// What was launched.
struct LaunchShape {
  device::Dim3 grid, block, cluster;
  uint32_t sharedBytes = 0;
};
struct LaunchSummary {
  std::string input, entry;
  std::optional<LaunchShape> shape = {}; ///< where the command line gave it
};

struct RunReport {
  LaunchSummary launch;
  std::string device;   ///< its name, empty if none was opened
  std::string schedule; ///< as the command line has it
  uint64_t seed = 0;
  int exitCode = 0;
  std::string error; ///< what ended the run, empty if it came to its end
  const vgpu::VirtualDevice *virtualDevice =
      nullptr; ///< where checks and counters are from, if any
  bool counters = false;
  std::vector<vgpu::Finding> findings;
  std::vector<std::string> notes;
};

std::string asJson(const RunReport &report);

} // namespace tile::tilec
