#include "runtime/tune/Merge.h"

#include <algorithm>
#include <tuple>

namespace tile::tune {
namespace {

/// What was wrong once is not to be taken, whoever else was luckier; what did not work for want of time or memory may work elsewhere.
int rankOf(Status status) {
  switch (status) {
  case Status::Wrong:
  case Status::Crashed:
    return 0;
  case Status::Timed:
  case Status::Modelled:
    return 1;
  default:
    return 2;
  }
}

/// The smaller of two is the better known. Two that are equal in all of it are the same line of a table.
auto orderOf(const Trial &trial) {
  return std::tuple(rankOf(trial.status), trial.status, -trial.samples, !trial.doubt.empty(),
                    trial.spread, trial.milliseconds, -trial.time, toJson(trial));
}

} // namespace

Trial merged(const Trial &a, const Trial &b) {
  Trial first = a, second = b; // compared by what was measured alone
  first.isChosen = second.isChosen = a.isChosen || b.isChosen;
  return orderOf(first) <= orderOf(second) ? first : second;
}

size_t bestKnown(std::span<const Trial *const> chosen) {
  auto fastest = std::ranges::min(chosen, {}, [](const Trial *trial) {
    return std::tuple(trial->milliseconds, trial->config.str());
  });
  double end = fastest->milliseconds * (1 + fastest->spread);
  size_t best = chosen.size();
  for (size_t i = 0; i < chosen.size(); ++i) {
    const Trial &trial = *chosen[i];
    if (trial.milliseconds * (1 - trial.spread) > end)
      continue;
    auto order = [](const Trial &t) {
      return std::tuple(-t.samples, t.milliseconds, t.config.str());
    };
    if (best == chosen.size() || order(trial) < order(*chosen[best]))
      best = i;
  }
  return best;
}

} // namespace tile::tune
