#include "ir/gpu/WarpRoles.h"

#include "ir/target/Target.h"

#include <algorithm>

namespace tile::gpu {

/// The granularity of `setmaxnreg`.
static constexpr int32_t kStep = 8;
static constexpr int32_t kRegistersOfMultiprocessor = 65536, kMostRegistersOfThread = 255;
/// A consumer thread never needs more; ptxas counts a few as reserved.
static constexpr int32_t kMostConsumerRegisters = 240;

static int32_t inSteps(int32_t registers) { return registers / kStep * kStep; }

int32_t registersAtLaunch(int64_t warps) {
  auto threads = static_cast<int32_t>(warps * ir::kWarpSize);
  return inSteps(std::min(kMostRegistersOfThread, kRegistersOfMultiprocessor / threads));
}

RegisterShares registerShares(int64_t consumerWarps, ProducerRegisters producerRegisters) {
  auto consumers = static_cast<int32_t>(consumerWarps * ir::kWarpSize);
  int32_t producers = kProducerWarps * ir::kWarpSize, threads = consumers + producers;
  int32_t launched = registersAtLaunch(consumerWarps + kProducerWarps);
  auto kept = static_cast<int32_t>(producerRegisters);
  int32_t handedOver = (launched * threads - kept * producers) / consumers;
  return {launched, std::min(kMostConsumerRegisters, inSteps(handedOver)), kept};
}

} // namespace tile::gpu
