// Conversion plans: how a tile moves from one register layout to another, by the cheapest of four
// means.
//
//   Identity             the same registers
//   RegisterPermutation  each thread has everything it needs, in other registers
//   WarpShuffle          each warp has everything it needs: rounds of shfl.sync
//   SharedMemory         through shared memory (see scratchSwizzle for the layout)
//
// A shuffle round moves one register per lane, and everything in it is linear over GF(2) in the
// bits of the thread. With "thread" = lane bits, then warp bits:
//
//   published by a lane         register  publish(round) ^ publishByThread . (thread of that lane)
//   read by a lane from lane    source(round) ^ sourceByThread . (thread)          (shfl.sync.idx)
//   stored by the reading lane  register  store(round)   ^ storeByThread . (thread)
//
// Where publishByThread and storeByThread are zero, registers are plain constants. Otherwise code
// generation permutes registers first: for each thread bit whose column is not zero,
//
//   new[r] = (bit of this thread) ? old[r ^ column] : old[r]         for all r
//
// after which a lane publishes new[publish(round)]; likewise it collects what it reads in
// old[store(round)] and permutes by storeByThread afterwards.
#pragma once

#include "ir/layout/Layout.h"

#include <vector>

namespace tile::layout {

enum class ConversionKind : uint8_t { Identity, RegisterPermutation, WarpShuffle, SharedMemory };

/// One shfl.sync for the whole warp. Register numbers include odd repeats.
struct ShuffleRound {
  int32_t publish; ///< source register of thread 0
  int32_t source;  ///< lane that thread 0 reads
  int32_t store;   ///< target register of thread 0
};

struct ShufflePlan {
  std::vector<ShuffleRound> rounds;
  /// One entry per thread bit: lane bits, then warp bits.
  std::vector<int32_t> publishByThread, sourceByThread, storeByThread;

  /// No lane reads another one: the round is a register move.
  [[nodiscard]] bool staysInLane(const ShuffleRound &round) const;
};

/// The same of words of two registers, if pairs of them stay together: half the rounds.
std::optional<ShufflePlan> planOfPairs(const ShufflePlan &plan);

struct Conversion {
  ConversionKind kind = ConversionKind::SharedMemory;
  /// Identity, RegisterPermutation: source register of each target register.
  std::vector<int32_t> registers;
  /// WarpShuffle only.
  ShufflePlan shuffle;
};

/// Plans the conversion between two layouts of the same shape that both hold every element. Copies
/// are used where they help. Shuffles are declined (SharedMemory) if they take more than
/// `maxShuffles` rounds, if data crosses warps, or if a lane would have to serve two different
/// registers in one round.
Conversion planConversion(const Layout &source, const Layout &target, int maxShuffles = 32);

/// For each register of `target` the register of `source` in the same thread that holds its
/// element, or nothing if some thread lacks it. Dimensions of size 1 in `source` match any size in
/// `target` (broadcast).
std::optional<std::vector<int32_t>> registerSources(const Layout &source, const Layout &target);

/// Carries out a plan on values: `values[thread][register]`, thread = lane + 32 * warp. For tests
/// and for the constant evaluation of conversions. SharedMemory plans are not simulated: the result
/// is empty.
std::vector<std::vector<int64_t>> simulate(const Conversion &plan, const Layout &target,
                                           const std::vector<std::vector<int64_t>> &values);

} // namespace tile::layout
