// What predict() says of launches (Predict.h): times, and what they are made of.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace tile {

/// Part of the time for which a unit works.
struct PredictedShare {
  /// "tensor", "fma", "alu", "imad", "mufu", "memory", "bulk copy", "issue", "L2", "DRAM"
  std::string name;
  double share = 0; ///< 0 to 1
};

/// Warps that wait at a line.
struct PredictedStall {
  std::string file; ///< of the kernel's source; that of the PTX where no source is known
  int line = 0;     ///< of that file
  std::string
      reason;       ///< "operand", "pipe", "tensor", "memory", "mbarrier", "barrier", "wgmma", ...
  double share = 0; ///< of all the time for which warps wait
};

/// One launch, as if it ran alone.
struct PredictedLaunch {
  std::string kernel;
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, cluster[3] = {1, 1, 1};
  uint32_t dynamicSharedBytes = 0;

  /// Microseconds between two events around the launch.
  double us = 0;
  /// What the time is likely to lie between. Both are 0 where no interval is known.
  double lowUs = 0, highUs = 0;
  /// The kernel alone takes so many. Tests compare them: they are the same on each machine.
  double cycles = 0;
  double clockGhz = 0; ///< that the load leaves

  /// What limits the time: one of `busy`, or what most warps wait for.
  std::string bound;
  std::vector<PredictedShare> busy; ///< largest first
  /// Where warps wait, largest first.
  std::vector<PredictedStall> stalls;

  int blocksPerMultiprocessor = 1; ///< at once
  std::string occupancyLimit;      ///< why not more: "registers", "shared memory", "blocks", ...
  int registers = 0;               ///< of a thread
  int barriers = 0;                ///< of a block
  /// Whether these two were estimated from the PTX, as there was no assembler to say them.
  bool registersAreEstimated = false, barriersAreEstimated = false;

  /// Whether the numbers of the model are those of the device. Else times are those of another
  /// card: they may serve to order launches, and are no microseconds of this one.
  bool isCalibrated = false;
  std::string calibration; ///< of which card the numbers are: "h100-sxm"
  /// Times by numbers of another version are not to be compared with these.
  std::string calibrationVersion;
  /// What the model took for granted, such as the way of a branch that depends on data.
  std::vector<std::string> assumptions;

  /// About 15 lines for people.
  std::string str() const;
};

/// Launches in the order in which they were given.
struct Prediction {
  std::vector<PredictedLaunch> launches;

  /// Sums over the launches: they run one after the other.
  double us() const, lowUs() const, highUs() const, cycles() const;
  /// Whether all launches are.
  bool isCalibrated() const;
  /// All launches, and the sum if there are several.
  std::string str() const;
  /// All of it for programs. Names are those of the fields, as in "low_us".
  std::string json() const;
};

std::ostream &operator<<(std::ostream &out, const Prediction &prediction);

} // namespace tile
