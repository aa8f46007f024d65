#include "runtime/tune/Simulation.h"

#include <algorithm>
#include <map>

namespace tile::tune {

Replay replay(const detail::KernelRecord &record, const Problem &problem,
              const std::vector<Trial> &recording) {
  const TuningSpace &space = spaceOf(record);
  std::map<std::string, double> times;
  Replay result;
  for (const Trial &trial : recording) {
    Config recorded = numbered(space, trial.config);
    if (trial.status != Status::Timed || !refusalOf(space, recorded, problem).empty())
      continue;
    Config config = inOrder(space, recorded);
    times[config.str()] = trial.milliseconds;
    if (result.bestMilliseconds == 0 || trial.milliseconds < result.bestMilliseconds)
      result.best = config, result.bestMilliseconds = trial.milliseconds;
  }
  if (times.empty())
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "the recording has no settings that kernel '" + record.name +
                    "' may have for this problem");
  result.recorded = static_cast<int64_t>(times.size());
  auto regretOf = [&](double milliseconds) { return milliseconds / result.bestMilliseconds - 1; };
  auto isRecorded = [&](const Config &config) { return times.contains(config.str()); };

  Candidates candidates = candidatesOf(record, space, problem);
  std::erase_if(candidates.ordered,
                [&](const Candidate &candidate) { return !isRecorded(candidate.config); });
  if (candidates.ordered.empty()) // what was recorded lacks something by the model
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "none of the recorded settings can run by the model");
  result.modelRegret = regretOf(times[candidates.ordered.front().config.str()]);
  Config own = defaultOf(record, space, problem);
  if (isRecorded(own))
    result.ownRegret = regretOf(times[own.str()]);

  Search search(space, candidates, {own}, isRecorded, {.trials = result.recorded, .first = 4});
  double best = 0;
  while (std::optional<Config> config = search.next()) {
    double milliseconds = times[config->str()];
    best = best == 0 ? milliseconds : std::min(best, milliseconds);
    search.tell(*config, milliseconds / 1e3);
    result.regretAfter.push_back(regretOf(best));
  }
  return result;
}

} // namespace tile::tune
