// How many blocks a multiprocessor holds at once.
#pragma once

#include "runtime/vgpu/time/TimedLaunch.h"

namespace tile::vgpu {

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
