#include "runtime/tune/Candidates.h"

#include <algorithm>
#include <tuple>

namespace tile::tune {
namespace {

/// Combinations that are looked at; rules are functions of users, which take their time.
constexpr int64_t kMostCombinations = 200'000;

int differences(const Config &a, const Config &b) {
  int count = 0;
  for (const auto &[name, value] : a.values())
    count += b.get(name, value) != value;
  return count;
}

// The first that is left out by a limit stands for those of the same kind: numbers differ.
std::string kindOf(const std::string &lack) {
  std::string kind;
  for (char c : lack)
    if (c < '0' || c > '9')
      kind += c;
    else if (kind.empty() || kind.back() != '#')
      kind += '#';
  return kind;
}

} // namespace

std::optional<Estimate> estimateOf(const TuningSpace &space, const Config &config,
                                   const Problem &problem) {
  std::optional<DeviceModel> device = modelOf(problem.target(), problem.multiprocessors());
  if (!device || !space.work)
    return std::nullopt;
  return timeOf(space.work(config, problem), *device);
}

std::optional<double> rooflineOf(const TuningSpace &space, const Config &config,
                                 const Problem &problem) {
  std::optional<DeviceModel> device = modelOf(problem.target(), problem.multiprocessors());
  if (!device || !space.work)
    return std::nullopt;
  Work work = space.work(config, problem);
  return std::max(work.programs * work.multiplyAdds / device->multiplyAdds(work.factors),
                  work.distinctBytes / device->bytesOfMemory);
}

Candidates candidatesOf(const detail::KernelRecord &record, const TuningSpace &space,
                        const Problem &problem) {
  Candidates found;
  std::optional<DeviceModel> device = modelOf(problem.target(), problem.multiprocessors());
  found.isModelled = device && space.work;
  std::map<std::string, std::string> kinds; // of what devices lack, by the first of a kind
  auto leaveOut = [&](const std::string &why, const Config &config) {
    auto [known, isNew] = found.leftOut.try_emplace(why, Candidates::LeftOut{0, config});
    ++known->second.count;
  };
  int64_t looked = 0;
  forEachConfig(space, [&](const Config &config) {
    if (++looked > kMostCombinations) {
      found.isComplete = false;
      return false;
    }
    Candidate candidate{config};
    if (std::string why = refusalOf(space, config, problem); !why.empty()) {
      leaveOut(why, config);
      return true;
    }
    if (found.isModelled) {
      Work work = space.work(config, problem);
      if (std::string lack = lackOf(work, *device); !lack.empty()) {
        leaveOut(kinds.try_emplace(kindOf(lack), lack).first->second, config);
        return true;
      }
      candidate.seconds = timeOf(work, *device).seconds;
    }
    found.ordered.push_back(std::move(candidate));
    return true;
  });
  Config own = defaultOf(record, space, problem);
  std::ranges::sort(found.ordered, {}, [&](const Candidate &candidate) {
    return std::tuple(candidate.seconds, differences(candidate.config, own),
                      candidate.config.str());
  });
  return found;
}

} // namespace tile::tune
