// Time of the calling thread, which the rest of the machine does not disturb.
#pragma once

#include <algorithm>
#include <ctime>
#include <vector>

namespace tile::bench {

/// Seconds this thread has run.
inline double threadSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Microseconds a call takes: the mean of each round of `calls`, from the quickest to the slowest.
template <class Call> std::vector<double> microsecondsOf(const Call &call, int rounds, int calls) {
  std::vector<double> means;
  for (int round = 0; round < rounds; ++round) {
    double start = threadSeconds();
    for (int i = 0; i < calls; ++i)
      call();
    means.push_back(1e6 * (threadSeconds() - start) / calls);
  }
  std::sort(means.begin(), means.end());
  return means;
}

} // namespace tile::bench
