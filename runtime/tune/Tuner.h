// Finds the best settings for a problem: asks a search what to try, has it tried, keeps every result, and lets the fastest compete
// once more with what the kernel would take by itself.
#pragma once

#include "runtime/tune/Choose.h"
#include "runtime/tune/Search.h"
#include "runtime/tune/Trier.h"

#include <atomic>
#include <functional>

namespace tile::tune {

struct TuneOptions {
  SearchOptions search;
  std::vector<Config>
      seeds;           ///< tried first, behind the kernel's own: what tables say of the problem
  double seconds = 60; ///< no trial begins later
  int ahead = 1;       ///< trials that the trier is told of before they are due
  bool fresh = false;  ///< earlier results of this toolchain are not taken as they are
  const std::atomic<bool> *stop = nullptr; ///< set by others: no trial begins any more
  std::function<void(const Trial &)>
      progress; ///< called behind every trial; what was known before is none
};

struct TuneResult {
  TrialKey key;
  Candidates candidates;
  std::vector<Trial> trials; ///< in the order in which they ended; those from the store first
  std::optional<Trial> own;  ///< of the kernel's own settings
  std::optional<Trial> best; ///< what is to be taken; nothing if nothing worked
  std::optional<Trial>
      passedOver;           ///< it was faster than the kernel's own, which stay, but not clearly
  bool wasCutShort = false; ///< by the time or by `stop`
};

/// Settings must be faster than the kernel's own by this part, and by what the times may be off, to be taken.
constexpr double kLeastGain = 0.01;
/// The part by which a trial has to be faster than the kernel's own.
double gainNeeded(const Trial &trial, const Trial &own);

/// `store` may be null; what it keeps of the problem is not tried again, nor what made a process die or hang. Errors: those of
/// the store, of the kernel's rules, and InvalidArgument for a kernel of which nothing is tuned.
TuneResult tune(const TunedCall &call, Trier &trier, Store *store, const TuneOptions &options);

} // namespace tile::tune
