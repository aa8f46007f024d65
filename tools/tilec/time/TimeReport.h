// What `tilec time` prints: a prediction, and the rates of the work that the compiler counts.
#pragma once

#include <tile/Prediction.h>

#include <optional>
#include <string>
#include <vector>

namespace tile::tilec {

/// Of one launch: arithmetic, and bytes that it must move, each counted once.
struct KnownWork {
  double flops = 0, bytes = 0;
};

struct TimedLaunches {
  Prediction prediction;
  std::vector<std::optional<KnownWork>> work; ///< by launch
};

std::string asText(const TimedLaunches &timed);
std::string asJson(const TimedLaunches &timed);

} // namespace tile::tilec
