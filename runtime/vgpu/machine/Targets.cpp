// The table of targets, and what follows from it.
#include "runtime/vgpu/machine/Targets.h"

#include "runtime/vgpu/ptx/Requirements.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

// The GPUs that the virtual GPU can claim to be. Limits are those of the hardware of that name
// (CUDA C++ Programming Guide, table of compute capabilities).
struct TargetRow {
  const char *target;
  int arch, smCount;
  size_t sharedOptinKiB, sharedSmKiB, l2MiB;
  uint32_t smThreads, smBlocks; // the most at a time
};
constexpr TargetRow kTargets[] = {
    {"sm_75", 75, 40, 64, 64, 4, 1024, 16},     {"sm_80", 80, 108, 163, 164, 40, 2048, 32},
    {"sm_86", 86, 84, 99, 100, 6, 1536, 16},    {"sm_89", 89, 128, 99, 100, 72, 1536, 24},
    {"sm_90", 90, 132, 227, 228, 50, 2048, 32}, {"sm_90a", 90, 132, 227, 228, 50, 2048, 32}};
constexpr size_t kReservedSharedBytes = 1024; // of each block, since sm_80

} // namespace

uint32_t warpsPerSm(const device::DeviceProps &props) {
  return std::ranges::find(kTargets, props.target, &TargetRow::target)->smThreads / 32;
}

uint32_t residentBlocks(const device::DeviceProps &props, uint32_t threads, size_t sharedBytes) {
  const TargetRow *row = std::ranges::find(kTargets, props.target, &TargetRow::target);
  uint32_t warps = (threads + 31) / 32;
  size_t blocks = std::min<size_t>({row->smBlocks, row->smThreads / (32 * warps),
                                    props.sharedPerSm / (sharedBytes + kReservedSharedBytes)});
  return static_cast<uint32_t>(std::max<size_t>(blocks, 1)) * static_cast<uint32_t>(props.smCount);
}

device::DeviceProps propsFor(const std::string &target) {
  const TargetRow *row = std::ranges::find(kTargets, target, &TargetRow::target);
  if (row == std::end(kTargets))
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "the virtual GPU has no target '" + target +
                    "': use sm_75, sm_80, sm_86, sm_89, sm_90 or sm_90a");
  device::DeviceProps props;
  props.name = "tilec virtual GPU (" + target + ")";
  props.arch = row->arch;
  props.target = target;
  props.smCount = row->smCount;
  props.sharedPerBlockOptin = row->sharedOptinKiB * 1024;
  props.sharedPerSm = row->sharedSmKiB * 1024;
  props.l2Bytes = row->l2MiB << 20;
  props.totalMemory = size_t{64} << 30;
  props.maxGrid = {0x7fffffff, 65535, 65535};
  props.maxBlock = {1024, 1024, 64};
  props.maxClusterSize = row->arch >= 90 ? 16 : 1;
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
  for (const TargetRow &row : kTargets)
    if (isSpecific ? ptxTarget == row.target : row.arch >= std::max(arch, kLeastArch))
      return row.target;
  return std::string(ptxTarget);
}

} // namespace tile::vgpu
