#include "runtime/bench/MedianInterval.h"

#include <algorithm>
#include <cmath>

namespace tile {

size_t intervalPlace(size_t samples) {
  constexpr double kMissed = 0.05;
  double n = static_cast<double>(samples);
  double term = -n * std::log(2.0); // of the number 0; logarithms, as 2^-n is beyond doubles
  double below = 0;                 // the probability of fewer than `place`
  size_t place = 0;
  while (2 * (below + std::exp(term)) <= kMissed) {
    below += std::exp(term);
    term += std::log((n - static_cast<double>(place)) / (static_cast<double>(place) + 1));
    ++place;
  }
  return std::max<size_t>(place, 1);
}

MedianInterval medianIntervalOf(std::span<const double> sorted) {
  size_t count = sorted.size(), place = intervalPlace(count);
  return {(sorted[(count - 1) / 2] + sorted[count / 2]) / 2, sorted[place - 1],
          sorted[count - place]};
}

} // namespace tile
