// The time of a launch on the card of a calibration, without the card. docs/time.md says how far to
// trust it.
#pragma once

#include "runtime/vgpu/time/SmReport.h"
#include "runtime/vgpu/time/TimedLaunch.h"

#include <optional>
#include <string>
#include <vector>

namespace tile::vgpu {

struct TimeOptions {
  AssemblerFigures assembler;
  std::optional<double> clockGhz; ///< instead of the clock that the load makes
  bool isDirty = true; ///< L2 is full of lines that were written before, as a benchmark leaves it
  std::optional<unsigned>
      multiprocessor; ///< the one to simulate, instead of those that stand for all
};

struct TimeReport {
  double us = 0, lowUs = 0, highUs = 0; ///< between two events around the launch
  double cycles = 0;                    ///< of the kernel alone
  double clockGhz = 0;
  std::array<double, kPipes> busy{}; ///< share of the time
  double issueShare = 0;
  double distinctShare = 1; ///< of the bytes loaded by tensor copies, inside their GPC
  SmReport sm;
  Occupancy occupancy;
  std::vector<std::string>
      assumptions; ///< what the prediction takes for granted, and what makes it doubtful
};

/// `setup` has a program decoded with DecodeOptions::keepsInstructions and no checks.
TimeReport predictTime(LaunchSetup setup, const Calibration &calibration,
                       const TimeOptions &options = {});

} // namespace tile::vgpu
