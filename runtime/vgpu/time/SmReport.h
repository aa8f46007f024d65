// What a run of one multiprocessor says.
#pragma once

#include "runtime/vgpu/machine/cost/TimeForm.h"

#include <array>
#include <cstdint>
#include <map>

namespace tile::vgpu {

/// Why a warp does not issue.
enum class Stall : uint8_t {
  Operand, // a result is not there yet
  Pipe,    // its pipe, or the scheduler, is busy
  Tensor,  // the queue of the tensor core is full
  Memory,  // the pipe of loads and stores is busy
  Mbarrier,
  Barrier,
  Warpgroup, // the other warps of its group
  Wgmma,     // products that it waits for
  Copies,    // asynchronous copies that it waits for
};
constexpr size_t kStalls = static_cast<size_t>(Stall::Copies) + 1;
const char *nameOf(Stall stall);

struct SmReport {
  double cycles = 0;
  uint64_t instructions = 0;
  std::array<double, kPipes>
      busy{};        ///< cycles of one scheduler; Memory, BulkCopy: of the multiprocessor
  double issued = 0; ///< issue slots
  double loadedBytes = 0, storedBytes = 0, dramBytes = 0;
  /// Cycles of warps that wait, by instruction (of Program::lines) and reason.
  std::map<std::pair<uint32_t, Stall>, double> stalls;
};

} // namespace tile::vgpu
