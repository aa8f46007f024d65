#include "runtime/vgpu/time/Placement.h"

#include "runtime/vgpu/time/BlockWork.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

namespace tile::vgpu {
namespace {

// Of blocks that are alike so many are run, in whole rounds; the others take as long. Lines that a
// flush has left and bytes that L2 absorbs matter at the start, so short launches are run to the
// end.
constexpr uint64_t kFewestRounds = 6;
constexpr double kMostBoxes = 3000, kMostLoads = 30'000;

class Placer {
public:
  explicit Placer(TimedLaunch &launch) : launch_(launch), work_(launch) {}

  Placement place() {
    bool isOneRound = launch_.blocks() <= launch_.places();
    std::vector<double> sample = sampleOfBlocks();
    bool isEven = std::ranges::max(sample) <= std::ranges::min(sample) * kEven;
    if (isEven)
      return placementOf(launch_, 0, sample.front());
    return isOneRound ? placeLoops(sample) : placeUnequal();
  }

private:
  static constexpr double kEven = 1.001;
  static constexpr uint64_t kSample = 16;

  // Steps by the golden ratio, since work repeats by powers of two: of heads, of blocks of a head.
  std::vector<double> sampleOfBlocks() {
    constexpr double kGoldenRatio = 0.6180339887498949;
    std::vector<double> sample;
    auto blocks = static_cast<double>(launch_.blocks());
    for (uint64_t i = 0; i < std::min(kSample, launch_.blocks()); ++i) {
      double place = static_cast<double>(i) * kGoldenRatio;
      sample.push_back(work_.of(static_cast<uint64_t>((place - std::floor(place)) * blocks)));
    }
    return sample;
  }

  // Blocks that loop over work: the first one stands for all.
  Placement placeLoops(const std::vector<double> &sample) {
    Placement placement = placementOf(launch_, 0, 1);
    double mean =
        std::accumulate(sample.begin(), sample.end(), 0.0) / static_cast<double>(sample.size());
    double last = work_.takesTurns() ? mean : std::ranges::max(sample);
    placement.factor = last / std::max(1.0, sample.front());
    return placement;
  }

  // Each block goes where a place is free first; the multiprocessor of average work stands for all.
  Placement placeUnequal() {
    unsigned places = launch_.places(), sms = launch_.multiprocessors();
    using Free = std::pair<double, unsigned>;
    std::priority_queue<Free, std::vector<Free>, std::greater<>> free;
    for (unsigned place = 0; place < places; ++place)
      free.push({0, place});
    std::vector<std::vector<uint64_t>> turns(sms);
    std::vector<double> sum(sms), last(sms);
    for (uint64_t turn = 0; turn < launch_.blocks(); ++turn) {
      auto [when, place] = free.top();
      free.pop();
      double end = when + work_.of(turn);
      free.push({end, place});
      turns[place % sms].push_back(turn);
      sum[place % sms] += end - when;
      last[place % sms] = std::max(last[place % sms], end);
    }
    double mean = std::accumulate(sum.begin(), sum.end(), 0.0) / sms;
    auto nearest =
        std::ranges::min_element(sum, {}, [&](double work) { return std::abs(work - mean); }) -
        sum.begin();
    auto chosen = static_cast<size_t>(nearest);
    return {turns[chosen], turns[chosen].size(),
            std::ranges::max(last) / std::max(1.0, last[chosen])};
  }

  TimedLaunch &launch_;
  BlockWork work_;
};

} // namespace

Placement placementOf(const TimedLaunch &launch, unsigned multiprocessor, double loadsOfBlock) {
  Placement placement;
  unsigned sms = launch.multiprocessors();
  double budget = launch.program().usesTensorLoads ? kMostBoxes : kMostLoads;
  uint64_t together = launch.occupancy().blocks;
  auto rounds = static_cast<uint64_t>(budget / loadsOfBlock / static_cast<double>(together));
  uint64_t most = std::max(kFewestRounds, rounds) * together;
  for (uint64_t turn = multiprocessor; turn < launch.blocks(); turn += sms, ++placement.blocks)
    if (placement.blocks < most)
      placement.turns.push_back(turn);
  return placement;
}

Placement placeBlocks(TimedLaunch &launch) { return Placer(launch).place(); }

} // namespace tile::vgpu
