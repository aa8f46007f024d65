// Counts shared-memory wavefronts the way the hardware serves them.
#include "ir/layout/SharedAccess.h"

#include <algorithm>
#include <array>

namespace tile::layout {

/// Wavefronts of one phase: the largest number of distinct words that fall into one bank.
static int64_t phaseWavefronts(std::vector<int64_t> words) {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  std::array<int64_t, kNumBanks> perBank{};
  for (int64_t word : words)
    ++perBank[static_cast<size_t>(word % kNumBanks)];
  return *std::max_element(perBank.begin(), perBank.end());
}

/// Adds one warp-wide access of `bytes` per lane at the given byte addresses.
static void countAccess(const std::vector<int64_t> &laneAddresses, int bytes, Wavefronts &total) {
  int wordsPerLane = std::max(1, bytes / kBankBytes);
  auto lanesPerPhase = static_cast<size_t>(kLanesPerWarp / wordsPerLane);
  ++total.instructions;
  for (size_t first = 0; first < laneAddresses.size(); first += lanesPerPhase) {
    std::vector<int64_t> words;
    for (size_t lane = first; lane < std::min(first + lanesPerPhase, laneAddresses.size()); ++lane)
      for (int word = 0; word < wordsPerLane; ++word)
        words.push_back(laneAddresses[lane] / kBankBytes + word);
    ++total.ideal;
    total.actual += phaseWavefronts(std::move(words));
  }
}

Wavefronts groupWavefronts(const Layout &regs, const SharedLayout &shared, int elementBytes,
                           const VectorGroup &group, int32_t warp) {
  std::vector<int64_t> addresses;
  for (int32_t lane = 0; lane < kLanesPerWarp; ++lane)
    addresses.push_back(shared.offset(regs.apply(group.front(), lane, warp)) * elementBytes);
  Wavefronts total;
  countAccess(addresses, static_cast<int>(group.size()) * elementBytes, total);
  return total;
}

Wavefronts bankWavefronts(const Layout &regs, const SharedLayout &shared, int elementBytes,
                          int maxVectorBytes) {
  Wavefronts total;
  for (const VectorGroup &group : vectorGroups(regs, shared, elementBytes, maxVectorBytes)) {
    for (int32_t warp = 0; warp < regs.numWarps(); ++warp) {
      Wavefronts one = groupWavefronts(regs, shared, elementBytes, group, warp);
      total.instructions += one.instructions;
      total.ideal += one.ideal;
      total.actual += one.actual;
    }
  }
  return total;
}

Wavefronts matrixWavefronts(const MatrixAccess &access, int numWarps, int elementBytes) {
  constexpr int kRowsPerMatrix = 8;
  Wavefronts total;
  for (size_t i = 0; i < access.instructions.size(); ++i) {
    for (int32_t warp = 0; warp < numWarps; ++warp) {
      std::vector<int64_t> addresses;
      for (int32_t lane = 0; lane < access.matrices * kRowsPerMatrix; ++lane)
        addresses.push_back(access.rowOffset(i, lane, warp) * elementBytes);
      countAccess(addresses, kMaxVectorBytes, total);
    }
  }
  return total;
}

} // namespace tile::layout
