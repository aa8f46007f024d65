// Measures what a call costs the host, on the fake driver of the tests, which runs nothing.
#pragma once

#include "bench/ops/Cases.h"

namespace tile::bench {

/// Microseconds of the calling thread's time, medians of rounds.
struct HostTime {
  double call = 0;     ///< the whole call, its kernels in memory
  double launches = 0; ///< bare launches, by the device, of kernels with the same parameters
  double overhead() const { return call - launches; }
};

/// Needs the fake driver as TILE_LIBCUDA.
HostTime hostTimeOf(const Case &each);

} // namespace tile::bench
