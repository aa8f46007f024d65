// How well samples tell the median of where they come from.
#pragma once

#include <cstddef>
#include <span>

namespace tile {

/// The median of samples, and the interval of two of them.
struct MedianInterval {
  double median = 0, lower = 0, upper = 0;
};

/// The place, from 1, of the sample from below with which the interval of 95 % begins; it ends at that place from above.
///
/// A sample is as likely below the true median as above it, so the number below it is binomial, whatever the distribution:
/// the interval from place k to place n + 1 - k misses it with the probability that fewer than k of n are below it, and as
/// much again. This is the largest k for which that is at most 5 %; 1 where there is none, of fewer than six samples.
size_t intervalPlace(size_t samples);

/// Of at least one sample, in ascending order.
MedianInterval medianIntervalOf(std::span<const double> sorted);

} // namespace tile
