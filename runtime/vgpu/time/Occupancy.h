// How many blocks a multiprocessor holds at once.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/vgpu/machine/Program.h"
#include "runtime/vgpu/time/Calibration.h"

#include <optional>

namespace tile::vgpu {

/// Blocks that a multiprocessor holds at once, and why not more.
struct Occupancy {
  unsigned blocks = 1;
  const char *limit = "threads"; ///< "registers", "shared memory", "blocks", "barriers", "threads"
  unsigned registers = 0;        ///< of a thread
  unsigned barriers = 0;         ///< of a block
  bool registersAreEstimated = false, barriersAreEstimated = false;
};

/// What ptxas -v says of a kernel; what is missing is estimated from the PTX.
struct AssemblerFigures {
  std::optional<unsigned> registers, barriers;
};

/// Registers of a thread, as an assembler needs them: the most 32-bit values that are alive at one
/// place, and a few more.
unsigned estimateRegisters(const Program &program);
/// Named barriers that a block takes: up to the largest number that occurs, all if one is in a
/// register.
unsigned countBarriers(const Program &program);

Occupancy occupancyOf(const Program &program, const device::DeviceProps &props, unsigned threads,
                      size_t sharedBytes, unsigned clusterSize, const AssemblerFigures &known,
                      const Calibration &calibration);

} // namespace tile::vgpu
