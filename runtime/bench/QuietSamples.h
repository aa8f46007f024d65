// Times of a device whose clock is not always the same: those count that were taken at its usual clock while nothing slowed it.
#pragma once

#include "runtime/device/ClockReader.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tile {

/// Whether times at two clocks are not to be compared.
bool isFarClock(int megahertz, int usual);
/// The middle one; 0 without any.
int medianClock(std::vector<int> clocks);

class QuietSamples {
public:
  struct Sample {
    double milliseconds = 0;
    std::optional<device::ClockReading> clock =
        {}; ///< nothing where it is not known: then it counts
  };

  void add(const Sample &sample);

  size_t disturbed() const { return all_.size() - quiet_.size(); }
  /// More samples were disturbed than not: then all count, as there is nothing better.
  bool isDoubtful() const { return disturbed() > quiet_.size(); }
  /// The times that count, in ascending order.
  std::span<const double> sorted() const { return isDoubtful() ? all_ : quiet_; }
  /// The same in the order in which they were taken.
  std::vector<double> inOrder() const;
  /// The clock of those that count, in MHz; 0 if it is not known.
  int clock() const;
  /// Why they are doubtful, for people; empty if they are not.
  std::string doubt() const;

private:
  bool isQuiet(const Sample &sample) const;
  void sortAgain();

  std::vector<Sample> samples_;
  std::vector<double> all_, quiet_; ///< in ascending order
  std::vector<int> clocks_;         ///< of samples that nothing slowed, in ascending order
  int usual_ = 0;
};

} // namespace tile
