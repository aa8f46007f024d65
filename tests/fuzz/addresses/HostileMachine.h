// A device on which hostile kernels run once each.
#pragma once

#include "runtime/vgpu/VgpuDevice.h"

#include <map>
#include <string>

namespace tile::fuzz {

class HostileMachine {
public:
  HostileMachine();
  /// Runs the kernel of `seed` under checks and a schedule that the seed chooses.
  void run(uint64_t seed);

  uint64_t clean = 0, withFindings = 0;
  std::map<std::string, uint64_t> firstFindings; // how many of each kind and opcode
  std::map<std::string, uint64_t> refused; // a seed of each message with which a kernel was refused
  uint64_t refusals = 0;
  /// The seeds at which a fault of the virtual GPU's own came to the last gate (vgpu::refuseHostAccess), with its words.
  std::map<uint64_t, std::string> faults;

private:
  void launch(uint64_t seed);

  std::shared_ptr<vgpu::VirtualDevice> device_;
  device::DevicePtr buffer_ = 0;
  bool hasFindings_ = false;
};

} // namespace tile::fuzz
