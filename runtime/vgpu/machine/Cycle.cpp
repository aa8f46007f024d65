#include "runtime/vgpu/machine/Cycle.h"

#include "runtime/vgpu/machine/Cluster.h"
#include "runtime/vgpu/machine/Launch.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tile::vgpu {

// To hash a cluster takes as long as many of its rounds do. So it begins after this much work without an effect, a round or 64
// backward branches being one, and again when that has doubled: spinning warps come back to a state within a few rounds.
static constexpr uint64_t kWorkBefore = 1024, kBranchesOfWork = 64;
static constexpr uint32_t kRoundsCompared = 64;

namespace {

class StateHash {
public:
  template <class T> void add(const T &value) { addBytes(&value, sizeof value); }
  void addBytes(const void *data, size_t bytes) {
    value_ = XXH3_64bits_withSeed(data, bytes, value_);
  }
  uint64_t value() const { return value_; }

private:
  uint64_t value_ = 0;
};

void add(StateHash &hash, const Warp &warp) {
  hash.addBytes(warp.registers, warp.cta->launch->program().fileBytes);
  hash.add(warp.pc), hash.add(warp.mask), hash.add(warp.status), hash.add(warp.barrier);
  for (const Split &split : warp.splits)
    hash.add(split.pc), hash.add(split.mask), hash.add(split.waiting), hash.add(split.barrier);
}

void add(StateHash &hash, const Cta &cta) {
  hash.addBytes(cta.shared.data(), cta.shared.size());
  hash.addBytes(cta.local.data(), cta.local.size());
  for (const Barrier &barrier : cta.barriers)
    hash.add(barrier.arrived), hash.add(barrier.waiting), hash.add(barrier.arrivals);
  for (const auto &[address, barrier] : cta.mbarriers)
    hash.add(barrier.phase & 1), hash.add(barrier.pending), hash.add(barrier.outstanding);
  for (const Warp &warp : cta.warps)
    add(hash, warp);
}

uint64_t stateOf(const Cluster &cluster) {
  StateHash hash;
  hash.add(cluster.barrier.phase & 1), hash.add(cluster.barrier.arrived);
  for (const auto &cta : cluster.ctas)
    add(hash, *cta);
  return hash.value();
}

} // namespace

bool CycleWatch::repeats(const Cluster &cluster) const {
  return repeats_ && effects_ == *cluster.effects;
}

void CycleWatch::look(const Cluster &cluster) {
  if (effects_ != *cluster.effects) {
    *this = {};
    effects_ = *cluster.effects;
    branches_ = cluster.branches();
    next_ = kWorkBefore;
    return;
  }
  uint64_t branches = cluster.branches();
  work_ += 1 + (branches - branches_) / kBranchesOfWork;
  branches_ = branches;
  if (left_) {
    repeats_ |= stateOf(cluster) == anchor_;
    --left_;
  } else if (work_ >= next_) {
    anchor_ = stateOf(cluster);
    left_ = kRoundsCompared;
    next_ = 2 * work_;
  }
}

} // namespace tile::vgpu
