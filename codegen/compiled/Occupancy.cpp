#include "codegen/compiled/Occupancy.h"

#include <algorithm>

namespace tile::codegen {

// How resources are handed out, the same on compute capability 8.0 to 9.0 (CUDA C++ Programming Guide, "Hardware
// Multithreading", and the occupancy calculator of Nsight Compute).
static constexpr int64_t kRegisterUnit = 256; // registers of a warp are rounded up to these
static constexpr int64_t kPartitions = 4;   // an SM's registers are split among its four schedulers
static constexpr int64_t kSharedUnit = 128; // bytes
static constexpr int64_t kReservedSharedBytes =
    1024; // the system's part of each block's shared memory

static int64_t roundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

Occupancy occupancyOf(const ir::Target &target, int64_t threads, std::optional<int64_t> registers,
                      int64_t sharedBytes) {
  int64_t warps = std::max<int64_t>(1, roundUp(threads, ir::kWarpSize) / ir::kWarpSize);
  struct Limit {
    const char *name;
    int64_t blocks;
  };
  int64_t maxWarps = target.maxThreadsPerSm / ir::kWarpSize;
  Limit limits[4] = {{"threads", maxWarps / warps}, {"blocks", target.maxBlocksPerSm}};
  int count = 2;
  if (registers && *registers > 0) {
    int64_t ofWarp = roundUp(*registers * ir::kWarpSize, kRegisterUnit);
    int64_t warpsThatFit = target.registersPerSm / kPartitions / ofWarp * kPartitions;
    limits[count++] = {"registers", warpsThatFit / warps};
  }
  if (sharedBytes > 0)
    limits[count++] = {"shared memory",
                       target.sharedBytesPerSm /
                           (roundUp(sharedBytes, kSharedUnit) + kReservedSharedBytes)};
  Occupancy occupancy{limits[0].blocks, 0, maxWarps, {}};
  for (int i = 1; i < count; ++i)
    occupancy.blocksPerSm = std::min(occupancy.blocksPerSm, limits[i].blocks);
  for (int i = 0; i < count; ++i)
    if (limits[i].blocks == occupancy.blocksPerSm)
      occupancy.limit += (occupancy.limit.empty() ? "" : " and ") + std::string(limits[i].name);
  occupancy.warpsPerSm = occupancy.blocksPerSm * warps;
  return occupancy;
}

} // namespace tile::codegen
