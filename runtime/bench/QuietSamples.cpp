#include "runtime/bench/QuietSamples.h"

#include <algorithm>
#include <cstdlib>

namespace tile {
namespace {

template <class T> void insertSorted(std::vector<T> &sorted, T value) {
  sorted.insert(std::ranges::upper_bound(sorted, value), value);
}

} // namespace

// Clocks move by steps of 15 MHz even of a device at rest.
bool isFarClock(int megahertz, int usual) {
  constexpr double kFar = 0.05;
  return std::abs(megahertz - usual) > kFar * usual;
}

int medianClock(std::vector<int> clocks) {
  std::ranges::sort(clocks);
  return clocks.empty() ? 0 : clocks[clocks.size() / 2];
}

bool QuietSamples::isQuiet(const Sample &sample) const {
  return !sample.clock || (!sample.clock->slowedBy && !isFarClock(sample.clock->megahertz, usual_));
}

void QuietSamples::add(const Sample &sample) {
  samples_.push_back(sample);
  insertSorted(all_, sample.milliseconds);
  if (sample.clock && !sample.clock->slowedBy)
    insertSorted(clocks_, sample.clock->megahertz);
  int median = clocks_.empty() ? 0 : clocks_[clocks_.size() / 2];
  // A small step changes little, and must not have thousands of samples sorted again each time.
  constexpr double kSmallStep = 0.01;
  if (std::abs(median - usual_) > kSmallStep * usual_) {
    usual_ = median;
    sortAgain();
  } else if (isQuiet(sample)) {
    insertSorted(quiet_, sample.milliseconds);
  }
}

void QuietSamples::sortAgain() {
  quiet_.clear();
  for (const Sample &sample : samples_)
    if (isQuiet(sample))
      quiet_.push_back(sample.milliseconds);
  std::ranges::sort(quiet_);
}

std::vector<double> QuietSamples::inOrder() const {
  std::vector<double> times;
  for (const Sample &sample : samples_)
    if (isDoubtful() || isQuiet(sample))
      times.push_back(sample.milliseconds);
  return times;
}

int QuietSamples::clock() const {
  if (!isDoubtful())
    return usual_;
  std::vector<int> clocks;
  for (const Sample &sample : samples_)
    if (sample.clock)
      clocks.push_back(sample.clock->megahertz);
  return medianClock(std::move(clocks));
}

std::string QuietSamples::doubt() const {
  if (!isDoubtful())
    return {};
  uint64_t slowedBy = 0;
  for (const Sample &sample : samples_)
    slowedBy |= sample.clock ? sample.clock->slowedBy : 0;
  if (slowedBy)
    return "the device was slowed by " + device::slowdownText(slowedBy);
  return "its clock went from " + std::to_string(clocks_.front()) + " to " +
         std::to_string(clocks_.back()) + " MHz";
}

} // namespace tile
