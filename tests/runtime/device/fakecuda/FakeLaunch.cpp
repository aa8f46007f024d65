// Launches, which are checked and recorded.
#include "tests/runtime/device/fakecuda/FakeDriver.h"

#include <cstring>

namespace fakecuda {
namespace {

CUresult checkCluster(const CUfunc_st &function, const CUlaunchConfig &config,
                      const unsigned (&cluster)[3]) {
  constexpr uint64_t kPortable = 8, kLargest = 16;
  uint64_t blocks = uint64_t{cluster[0]} * cluster[1] * cluster[2];
  if (state().attributes[75] < 9)
    return kInvalidValue;
  for (int axis = 0; axis < 3; ++axis)
    if (cluster[axis] == 0 || config.grid[axis] % cluster[axis])
      return kInvalidValue;
  return blocks > (function.allowsLargeClusters ? kLargest : kPortable) ? kInvalidClusterSize
                                                                        : kSuccess;
}

CUresult checkShape(const CUfunc_st &function, const CUlaunchConfig &config) {
  uint64_t threads = uint64_t{config.block[0]} * config.block[1] * config.block[2];
  for (int axis = 0; axis < 3; ++axis)
    if (config.grid[axis] == 0 || config.block[axis] == 0 ||
        config.block[axis] > unsigned(state().attributes[2 + axis]) ||
        config.grid[axis] > unsigned(state().attributes[5 + axis]))
      return kInvalidValue;
  bool isTooBig = threads > 1024 || long{config.sharedMemBytes} > function.maxDynamicShared;
  return isTooBig ? kInvalidValue : kSuccess;
}

CUresult readAttributes(const CUlaunchConfig &config, FakeLaunch &launch) {
  constexpr int kCluster = 4, kProgrammatic = 6;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const CUlaunchAttribute &attribute = config.attrs[i];
    if (attribute.id == kCluster) {
      launch.hasCluster = true;
      launch.cluster[0] = attribute.value.clusterDim.x;
      launch.cluster[1] = attribute.value.clusterDim.y;
      launch.cluster[2] = attribute.value.clusterDim.z;
    } else if (attribute.id == kProgrammatic) {
      launch.isProgrammatic = attribute.value.programmaticStreamSerializationAllowed != 0;
    } else {
      return kInvalidValue;
    }
  }
  return kSuccess;
}

// The memory that arguments point to.
std::vector<CUdeviceptr> memoryOf(const FakeLaunch &launch) {
  std::vector<CUdeviceptr> bases;
  for (const auto &bytes : launch.params) {
    CUdeviceptr pointer = 0;
    if (bytes.size() != sizeof pointer)
      continue;
    std::memcpy(&pointer, bytes.data(), sizeof pointer);
    if (CUdeviceptr base = memoryAt(pointer))
      bases.push_back(base);
  }
  return bases;
}

} // namespace

FAKE_API cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **params,
                          void **extra) {
  if (skipsLaunches && !(config->hStream && config->hStream->capture))
    return kSuccess;
  FAKE_ENTER("cuLaunchKernelEx", Needs::Context);
  if (!state().functions.count(function) || !isStream(config->hStream))
    return kInvalidHandle;
  FakeLaunch launch{state().isRecording ? function->name : std::string(),
                    {config->grid[0], config->grid[1], config->grid[2]},
                    {config->block[0], config->block[1], config->block[2]},
                    {1, 1, 1},
                    config->sharedMemBytes,
                    false,
                    false,
                    config->hStream,
                    {}};
  CUresult result = checkShape(*function, *config);
  if (result == kSuccess)
    result = readAttributes(*config, launch);
  if (result == kSuccess && launch.hasCluster)
    result = checkCluster(*function, *config, launch.cluster);
  if (result != kSuccess)
    return result;
  const std::vector<size_t> &sizes = function->image.paramSizes;
  if (extra || (!sizes.empty() && !params))
    return kInvalidValue;
  for (size_t i = 0; i < sizes.size() && state().isRecording; ++i) {
    auto *bytes = static_cast<const unsigned char *>(params[i]);
    launch.params.emplace_back(bytes, bytes + sizes[i]);
  }
  constexpr int kFirstWithEarlyLaunchesInGraphs = 12030;
  if (launch.isProgrammatic && state().version < kFirstWithEarlyLaunchesInGraphs)
    if (CUresult refused = refuseCaptured(config->hStream); refused != kSuccess)
      return refused;
  FakeNode node{FakeNode::Launch, [launch](CUstream stream) {
                  bool isSlow = state().timedLaunches++ / 2 % 2;
                  state().clockMilliseconds +=
                      state().launchMilliseconds * (isSlow ? 1 + state().unsteadyShare : 1);
                  if (!state().isRecording)
                    return;
                  state().launches.push_back(launch);
                  state().launches.back().stream = stream;
                }};
  if (captureOf(config->hStream))
    node.memory = memoryOf(launch);
  return perform(config->hStream, std::move(node));
}

} // namespace fakecuda
