// What a finding says of an address: the allocation, variable or window it lies in or is nearest to.
#include "runtime/vgpu/machine/access/AccessFault.h"

#include "runtime/vgpu/machine/Hex.h"
#include "runtime/vgpu/machine/Launch.h"

namespace tile::vgpu {

MemoryLocation sharedLocationOf(const Launch &launch, uint64_t address) {
  for (const Program::SharedVariable &variable : launch.program().shared)
    if (address >= variable.address && address - variable.address < variable.bytes)
      return {std::string(variable.name), static_cast<int64_t>(address - variable.address),
              variable.bytes};
  return {"shared memory", static_cast<int64_t>(address - kSharedBase), launch.sharedBytes()};
}

namespace {

MemoryLocation locationOf(const Launch &launch, Space space, uint64_t address) {
  if (space == Space::Global)
    return launch.memory().locationOf(address);
  return space == Space::Shared ? sharedLocationOf(launch, address & kOffsetMask)
                                : MemoryLocation{};
}

// ", its element 100 of 4 bytes", where that is one.
std::string elementText(const MemoryLocation &location, uint32_t bytes) {
  bool isElement = !location.name.empty() && location.offset >= 0 && location.offset % bytes == 0;
  return isElement ? ", its element " + std::to_string(location.offset / bytes) + " of " +
                         std::to_string(bytes) + " bytes"
                   : "";
}

} // namespace

std::string describeAddress(Warp &warp, Space space, uint64_t address) {
  Launch &launch = *warp.cta->launch;
  const Program &program = launch.program();
  if (space == Space::Global)
    return launch.memory().describe(address);
  if (space == Space::Local)
    return "a thread has " + std::to_string(program.localBytes) + " bytes of local memory";
  if (space == Space::Param)
    return "the kernel has " + std::to_string(program.paramBytes) + " bytes of parameters";
  if (size_t blocks = warp.cta->cluster->ctas.size(); address >> kRankShift >= blocks)
    return blocks == 1 ? "beyond the block's window of 16 MiB"
                       : "beyond the windows of the cluster's " + std::to_string(blocks) +
                             " blocks, of 16 MiB each";
  address &= kOffsetMask;
  for (const Program::SharedVariable &variable : program.shared)
    if (address >= variable.address && address - variable.address < variable.bytes)
      return "offset " + std::to_string(address - variable.address) + " of " +
             std::string(variable.name);
  uint64_t end = kSharedBase + launch.sharedBytes();
  if (address >= end)
    return std::to_string(address - end) + " bytes past the block's " +
           std::to_string(launch.sharedBytes()) + " bytes of shared memory";
  return address < kSharedBase
             ? "below the first shared address, " + std::to_string(kSharedBase)
             : "offset " + std::to_string(address - kSharedBase) + " of shared memory";
}

void stopAtFault(Warp &warp, const Op &op, const Access &access, uint32_t lanes, FindingKind kind,
                 const std::string &what) {
  if (warp.repeats(op, kind, LaneMask{lanes}))
    throw StopCta();
  auto lane = static_cast<unsigned>(std::countr_zero(lanes));
  uint64_t address = access.address[lane];
  std::string where = describeAddress(warp, access.space, address);
  if (access.space == Space::Global && kind == FindingKind::OutOfBounds)
    where += elementText(warp.cta->launch->memory().locationOf(address), access.bytes) +
             "; give the access a mask (tiles of views have one)";
  Finding finding = warp.cta->launch->findingAt(
      warp, op, kind, lane,
      std::string(access.kind == AccessKind::Atomic ? "atomic access to"
                  : access.isWrite()                ? "write of"
                                                    : "read of") +
          " " + std::to_string(access.bytes) + " bytes at " + nameOf(access.space) + " address " +
          hex(address) + " " + what + ": " + where);
  finding.lanes = lanes;
  finding.space = access.space;
  finding.address = address;
  finding.bytes = access.bytes;
  finding.allocation = locationOf(*warp.cta->launch, access.space, address);
  warp.report(std::move(finding));
  throw StopCta();
}

} // namespace tile::vgpu
