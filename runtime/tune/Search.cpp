#include "runtime/tune/Search.h"

#include <algorithm>

namespace tile::tune {

Search::Search(const TuningSpace &space, const Candidates &candidates, std::vector<Config> seeds,
               std::function<bool(const Config &)> mayTry, SearchOptions options)
    : space_(space), candidates_(candidates), seeds_(std::move(seeds)), mayTry_(std::move(mayTry)),
      options_(options) {
  // All of them, if there is time for that.
  if (static_cast<int64_t>(candidates.ordered.size()) <= options_.trials)
    options_.first = options_.trials;
}

// Settings are handed out once, whether or not anything is told of them.
bool Search::take(const Config &config) {
  return !known_.contains(config.str()) && mayTry_(config) && known_.insert(config.str()).second;
}

std::optional<Config> Search::next() {
  if (tried() >= options_.trials)
    return std::nullopt;
  while (nextSeed_ < seeds_.size())
    if (const Config &seed = seeds_[nextSeed_++]; take(seed))
      return seed;
  while (nextCandidate_ < candidates_.ordered.size() && tried() < options_.first)
    if (const Config &config = candidates_.ordered[nextCandidate_++].config; take(config))
      return config;
  if (std::optional<Config> neighbour = beside())
    return neighbour;
  // Nothing is better beside any of those told of: on with the model's order.
  while (nextCandidate_ < candidates_.ordered.size())
    if (const Config &config = candidates_.ordered[nextCandidate_++].config; take(config))
      return config;
  return std::nullopt;
}

std::optional<Config> Search::beside() {
  for (const Told &told : told_) {
    if (explored_.contains(told.config.str()))
      continue;
    for (const Config &neighbour : neighboursOf(space_, told.config))
      if (take(neighbour))
        return neighbour;
    explored_.insert(told.config.str());
  }
  return std::nullopt;
}

void Search::tell(const Config &config, std::optional<double> seconds) {
  if (!seconds)
    return;
  auto isFaster = [](double value, const Told &told) { return value < told.seconds; };
  told_.insert(std::upper_bound(told_.begin(), told_.end(), *seconds, isFaster),
               {*seconds, config});
}

} // namespace tile::tune
