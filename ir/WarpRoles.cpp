#include "ir/WarpRoles.h"

#include "ir/Target.h"

#include <algorithm>

namespace tile::gpu {

/// In steps of which a group of warps has registers.
static constexpr int32_t kStep = 8;
static constexpr int32_t kRegistersOfMultiprocessor = 65536, kMostRegistersOfThread = 255;
/// What a producer's loop and the places of a few boxes take, the least that can be asked for; and of more. Between the two
/// kernels measured on an H100 ran equally fast, or up to 4 % faster with the least.
static constexpr int32_t kProducerRegisters = 24, kProducerRegistersOfMany = 40;
static constexpr int64_t kFewBoxes = 12;
/// More than so many a thread that computes never needs; ptxas counts a few as reserved.
static constexpr int32_t kMostConsumerRegisters = 240;

static int32_t inSteps(int32_t registers) { return registers / kStep * kStep; }

RegisterShares registerShares(int64_t consumerWarps, int64_t boxesOfFill) {
  auto consumers = static_cast<int32_t>(consumerWarps * ir::kWarpSize);
  int32_t producers = kProducerWarps * ir::kWarpSize, threads = consumers + producers;
  int32_t launched =
      inSteps(std::min(kMostRegistersOfThread, kRegistersOfMultiprocessor / threads));
  int32_t kept = boxesOfFill > kFewBoxes ? kProducerRegistersOfMany : kProducerRegisters;
  int32_t handedOver = (launched * threads - kept * producers) / consumers;
  return {launched, std::min(kMostConsumerRegisters, inSteps(handedOver)), kept};
}

} // namespace tile::gpu
