// Which settings to try next. With few of them all are tried; of many some seeds, as the kernel's own choice, and
// the most promising by the model, then what lies beside the best so far: one setting at a time moved by one place, until
// nothing beside it is better; then the same from the best that is not yet explored.
//
// The search knows no clock and no device: it is asked for settings and told their times, by the tuner, or from a recording.
#pragma once

#include "runtime/tune/Candidates.h"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tile::tune {

struct SearchOptions {
  int64_t trials = 32; ///< at most
  int64_t first = 16;  ///< by the model, before neighbours are tried
};

class Search {
public:
  /// `seeds` are tried first, in their order, as far as they may be. `mayTry` says why settings may not, or nothing.
  Search(const TuningSpace &space, const Candidates &candidates, std::vector<Config> seeds,
         std::function<bool(const Config &)> mayTry, SearchOptions options);

  /// The next to try; nothing when the search is over. Several may be asked for before any is told of.
  std::optional<Config> next();
  /// The time of settings that were tried; nothing of those that did not work.
  void tell(const Config &config, std::optional<double> seconds);

  /// How many were handed out.
  int64_t tried() const { return static_cast<int64_t>(known_.size()); }

private:
  bool take(const Config &config);
  std::optional<Config> beside();

  const TuningSpace &space_;
  const Candidates &candidates_;
  std::vector<Config> seeds_;
  std::function<bool(const Config &)> mayTry_;
  SearchOptions options_;
  size_t nextSeed_ = 0, nextCandidate_ = 0;
  std::set<std::string> known_;    ///< handed out
  std::set<std::string> explored_; ///< whose neighbours were all handed out
  struct Told {
    double seconds;
    Config config;
  };
  std::vector<Told> told_; ///< the fastest first
};

} // namespace tile::tune
