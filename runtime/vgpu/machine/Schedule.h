// Schedules decide what the ISA leaves open: which warp runs next, and when asynchronous operations
// complete.
#pragma once

#include <cstdint>
#include <random>
#include <string_view>

namespace tile::vgpu {

/// TILE_VGPU_SEED, else 0: the seed of devices that are opened without one.
uint64_t seedOfEnvironment();

enum class Schedule : uint8_t {
  Eager, // asynchronous operations complete where they are issued; warps take turns
  Lazy, // they complete as late as a correct program allows, into poisoned destinations; warps take turns
  Random, // they complete at any time between; warps run for random stretches, blocks start in random order
};

/// "eager", "lazy" or "random". Throws InvalidArgument for other words.
Schedule parseSchedule(std::string_view word);
const char *nameOf(Schedule schedule);

/// The choices of one cluster of blocks. They depend on the seed and the cluster only, not on host
/// threads.
class Choices {
public:
  void reset(uint64_t seed, uint64_t cluster) {
    engine_.seed(seed * 0x9E3779B97F4A7C15u + cluster);
  }
  /// A number below `bound`, which is not 0.
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(engine_() % bound); }
  bool oneIn(uint32_t chances) { return below(chances) == 0; }

private:
  std::mt19937_64 engine_;
};

} // namespace tile::vgpu
