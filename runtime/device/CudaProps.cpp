#include "runtime/device/CudaProps.h"

namespace tile::device {

using namespace cuda;

DeviceProps cudaProps(const CudaContext &context, int ordinal) {
  const Driver &driver = context.driver();
  DeviceProps props;
  auto attribute = [&](int which) {
    int value = 0;
    context.check(driver.deviceGetAttribute(&value, which, context.device()),
                  "asking for device attribute " + std::to_string(which));
    return value;
  };
  auto size = [&](int which) { return static_cast<size_t>(attribute(which)); };
  auto extent = [&](int which) { return static_cast<uint32_t>(attribute(which)); };
  char name[256] = {};
  context.check(driver.deviceGetName(name, sizeof name, context.device()),
                "asking for the device's name");
  props.name = name;
  props.arch = 10 * attribute(kComputeMajor) + attribute(kComputeMinor);
  // Architecture-specific features exist from 9.0 on.
  props.target = "sm_" + std::to_string(props.arch) + (props.arch >= 90 ? "a" : "");
  props.smCount = attribute(kMultiprocessorCount);
  props.warpSize = attribute(kWarpSize);
  props.maxThreadsPerBlock = attribute(kMaxThreadsPerBlock);
  props.registersPerSm = attribute(kRegistersPerMultiprocessor);
  props.sharedPerBlock = size(kSharedPerBlock);
  props.sharedPerBlockOptin = size(kSharedPerBlockOptin);
  props.sharedPerSm = size(kSharedPerMultiprocessor);
  props.l2Bytes = size(kL2CacheSize);
  props.maxBlock = {extent(kMaxBlockX), extent(kMaxBlockY), extent(kMaxBlockZ)};
  props.maxGrid = {extent(kMaxGridX), extent(kMaxGridY), extent(kMaxGridZ)};
  props.maxClusterSize = props.arch >= 90 ? 2 * kPortableClusterSize : 1;
  props.ordinal = ordinal;
  props.runsMachineCode = true;
  context.check(driver.deviceTotalMem(&props.totalMemory, context.device()),
                "asking for the device's memory");
  return props;
}

} // namespace tile::device
