// The GPUs of the table (ir/target), as devices.
#include "runtime/vgpu/machine/Targets.h"

#include "ir/target/Target.h"
#include "runtime/vgpu/ptx/Requirements.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

/// "sm_75, sm_80 or sm_90a".
std::string allNames() {
  std::string names;
  for (const ir::Target &gpu : ir::allGpus()) {
    bool isLast = &gpu == &ir::allGpus().back();
    names += (names.empty() ? "" : isLast ? " or " : ", ") + std::string(gpu.name);
  }
  return names;
}

} // namespace

uint32_t warpsPerSm(const device::DeviceProps &props) {
  return static_cast<uint32_t>(ir::findGpu(props.target)->maxThreadsPerSm / ir::kWarpSize);
}

uint32_t residentBlocks(const device::DeviceProps &props, uint32_t threads, size_t sharedBytes) {
  const ir::Target gpu = *ir::findGpu(props.target);
  uint32_t warps = (threads + 31) / 32;
  size_t blocks = std::min<size_t>({static_cast<size_t>(gpu.maxBlocksPerSm),
                                    static_cast<size_t>(gpu.maxThreadsPerSm) / (32 * warps),
                                    props.sharedPerSm / (sharedBytes + kReservedSharedBytes)});
  return static_cast<uint32_t>(std::max<size_t>(blocks, 1)) * static_cast<uint32_t>(props.smCount);
}

device::DeviceProps propsFor(const std::string &target) {
  const std::optional<ir::Target> gpu = ir::findGpu(target);
  if (!gpu)
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "the virtual GPU has no target '" + target + "': use " + allNames());
  device::DeviceProps props;
  props.name = "tilec virtual GPU (" + target + ")";
  props.arch = gpu->smVersion;
  props.target = target;
  props.smCount = gpu->card.multiprocessors;
  props.registersPerSm = gpu->registersPerSm;
  props.maxThreadsPerBlock = gpu->maxThreadsPerBlock;
  props.sharedPerBlockOptin = static_cast<size_t>(gpu->maxSharedBytesPerBlock);
  props.sharedPerSm = static_cast<size_t>(gpu->sharedBytesPerSm);
  props.l2Bytes = static_cast<size_t>(gpu->card.l2Megabytes) << 20;
  props.totalMemory = size_t{64} << 30;
  props.maxGrid = {0x7fffffff, 65535, 65535};
  props.maxBlock = {1024, 1024, 64};
  props.maxClusterSize = gpu->hasClusters ? 2 * ir::kMostBlocksOfCluster : 1;
  props.isVirtual = true;
  props.checksBounds = props.countsWork = true;
  return props;
}

void checkTarget(const Module &module, const device::DeviceProps &props) {
  int arch = archOfTarget(module.target);
  bool specific = module.target.ends_with("a") || module.target.ends_with("f");
  if (arch == 0)
    throw Error(Fault::User, ErrorCode::Parse, "the PTX has no .target such as sm_80",
                {module.name.c_str(), 1});
  if (arch > props.arch || (specific && module.target != props.target))
    throw Error(Fault::User, ErrorCode::Unsupported,
                "the PTX is for " + module.target + ", the virtual GPU is " + props.target +
                    ": open it as " + module.target +
                    ", e.g. with TILE_DEVICE=virtual:" + module.target,
                {module.name.c_str(), 1});
  if (module.version < versionOfTarget(module.target))
    throw Error(Fault::User, ErrorCode::Parse,
                ".target " + module.target + " needs .version " +
                    versionText(versionOfTarget(module.target)) + " or later, the file has " +
                    versionText(module.version),
                {module.name.c_str(), 1});
}

std::string targetFor(std::string_view ptxTarget) {
  constexpr int kLeastArch = 80;
  bool isSpecific = ptxTarget.ends_with('a') || ptxTarget.ends_with('f');
  int arch = archOfTarget(ptxTarget);
  for (const ir::Target &gpu : ir::allGpus())
    if (isSpecific ? ptxTarget == gpu.name : gpu.smVersion >= std::max(arch, kLeastArch))
      return gpu.name;
  return std::string(ptxTarget);
}

} // namespace tile::vgpu
