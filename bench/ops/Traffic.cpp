// One call on the virtual GPU, with counters and without checks.
#include "bench/ops/Traffic.h"

#include "runtime/vgpu/VgpuDevice.h"

namespace tile::bench {

namespace {

/// The sector efficiency of all lines of PTX that hold one of these instructions.
double efficiencyOf(const std::vector<vgpu::LineCounters> &lines,
                    std::initializer_list<std::string_view> instructions) {
  vgpu::Counters total;
  for (const vgpu::LineCounters &line : lines)
    for (std::string_view instruction : instructions)
      if (line.ptxText.find(instruction) != std::string::npos)
        total += line.counters;
  return total.sectorEfficiency();
}

} // namespace

Traffic trafficOf(const Case &each) {
  std::shared_ptr<device::Device> raw = device::openVirtual({.checks = "none"});
  std::shared_ptr<vgpu::VirtualDevice> device = vgpu::asVirtual(raw);
  Device opened = Device::wrap(raw, "virtual");
  Stream stream = opened.stream();
  Setup setup(opened, stream);
  Call call = each.prepare(setup);
  uint64_t launchesBefore = device->statistics().launches;
  device->setCounters(true);
  call();
  stream.synchronize();

  vgpu::Counters counters = device->counters();
  std::vector<vgpu::LineCounters> lines = device->countersByLine();
  Traffic traffic;
  traffic.leastBytes = setup.leastBytes;
  traffic.flops = setup.flops;
  auto overLeast = [&](uint64_t bytes) {
    return static_cast<double>(bytes) / static_cast<double>(setup.leastBytes);
  };
  traffic.askedOverLeast = overLeast(counters.globalBytesMoved());
  traffic.distinctOverLeast = overLeast(counters.distinctBytes());
  traffic.loadEfficiency = efficiencyOf(lines, {"ld.global", "cp.async"});
  traffic.storeEfficiency = efficiencyOf(lines, {"st.global"});
  if (counters.sharedWavefronts)
    traffic.bankConflicts = static_cast<double>(counters.bankConflicts()) /
                            static_cast<double>(counters.sharedWavefronts);
  traffic.launches = device->statistics().launches - launchesBefore;
  return traffic;
}

} // namespace tile::bench
