// One kernel after the other, on the same device: what one leaves in memory the next meets.
#include "tests/fuzz/addresses/HostileMachine.h"

#include "tests/fuzz/addresses/HostileKernel.h"
#include "tests/fuzz/addresses/Instructions.h"

#include <tile/Error.h>

#include <cstdlib>

namespace tile::fuzz {

HostileMachine::HostileMachine() {
  setenv("TILE_VGPU_MAX_BRANCHES", "5000", 1);
  device_ =
      vgpu::asVirtual(device::openVirtual({.target = "sm_90a", .checks = "all", .threads = 1}));
  unsetenv("TILE_VGPU_MAX_BRANCHES");
  device_->setFindingSink([this](const std::vector<vgpu::Finding> &found) {
    hasFindings_ |= !found.empty();
    if (!found.empty())
      ++firstFindings[std::string(vgpu::nameOf(found[0].kind)) + ": " +
                      found[0].ptxText.substr(0, found[0].ptxText.find(" "))];
  });
  buffer_ = device_->alloc(kHostileBufferBytes);
}

void HostileMachine::run(uint64_t seed) {
  try {
    hasFindings_ = false;
    launch(seed);
    ++(hasFindings_ ? withFindings : clean);
  } catch (const Error &error) {
    if (error.code() == ErrorCode::InternalCompilerError)
      faults[seed] = error.what();
    ++refusals;
    refused.try_emplace(error.message(), seed);
  }
}

void HostileMachine::launch(uint64_t seed) {
  HostileKernel kernel = hostileKernel(seed, buffer_);
  Draw draw(~seed);
  static const vgpu::Checks kAll = device_->checks();
  device_->setChecks(draw.oneIn(2) ? vgpu::Checks::none() : kAll);
  const vgpu::Schedule schedules[] = {vgpu::Schedule::Eager, vgpu::Schedule::Lazy,
                                      vgpu::Schedule::Random};
  device_->setSchedule(draw.oneOf(schedules), seed);
  device::TensorMap map;
  if (device::tensorMapFault(kernel.map).empty())
    map = device_->encodeTensorMap(kernel.map);
  device::Module module = device_->loadModule(kernel.ptx);
  struct Unload {
    vgpu::VirtualDevice &device;
    device::Module &module;
    ~Unload() { device.unloadModule(module); }
  } unload{*device_, module};
  const uint64_t pointer = buffer_;
  const device::Arg args[] = {{&pointer, 8},
                              {&kernel.address, 8},
                              {&kernel.laneDistance, 8},
                              {&kernel.size, 4},
                              {&map, sizeof map}};
  device_->launch(device_->getFunction(module, "k"), {{2}, {kHostileThreads}, {kernel.cluster}, 0},
                  args);
}

} // namespace tile::fuzz
