// What tuning has found, as a page: how times fell from trial to trial, which settings went with which times, what failed, and how far
// the best is from what the device could do at all.
#pragma once

#include "runtime/tune/Tuner.h"

#include <string>
#include <vector>

namespace tile::tilec {

class TuneHtml {
public:
  /// Adds a problem to the page.
  void add(const tune::TunedCall &call, const tune::TuneResult &result);
  /// The page: one file, with nothing to be loaded.
  std::string page() const;

private:
  std::string sections_;
};

} // namespace tile::tilec
