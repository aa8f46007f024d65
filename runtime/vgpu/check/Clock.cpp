// Clocks: join, release, acquire.
#include "runtime/vgpu/check/Clock.h"

namespace tile::vgpu {

// Parts are few, mostly none: a search costs less than an entry for each lane in every clock would.
bool VectorClock::coversInPart(unsigned actor, unsigned lane, uint32_t time) const {
  return lane < 32 && std::ranges::any_of(parts_, [&](const Part &part) {
           return part.actor == actor && part.lanes >> lane & 1 && part.time >= time;
         });
}

// Only parts that say more than the entry of their actor are kept, so that clocks stay short.
void VectorClock::joinPart(const Part &part) {
  if (at(part.actor) >= part.time)
    return;
  auto isSame = [&](const Part &own) { return own.actor == part.actor && own.lanes == part.lanes; };
  if (auto own = std::ranges::find_if(parts_, isSame); own != parts_.end())
    own->time = std::max(own->time, part.time);
  else
    parts_.push_back(part);
}

void VectorClock::joinParts(const VectorClock &other) {
  // The entries are joined by now: parts that they cover say nothing any more.
  std::erase_if(parts_, [&](const Part &part) { return at(part.actor) >= part.time; });
  for (const Part &part : other.parts_)
    joinPart(part);
}

void VectorClock::joinActor(const VectorClock &other, unsigned actor) {
  raise(actor, other.at(actor));
  for (const Part &part : other.parts_)
    if (part.actor == actor)
      joinPart(part);
}

void VectorClock::limit(unsigned actor, uint32_t time, uint32_t lanes) {
  Part part = {actor, lanes, at(actor)};
  times_[actor] = std::min(times_[actor], time);
  joinPart(part);
}

void join(ReleasedClocks &into, const ReleasedClocks &from) {
  for (const auto &[cluster, clocks] : from) {
    std::shared_ptr<const Clocks> &slot = into[cluster];
    if (!slot || slot == clocks) {
      slot = clocks; // shared: nothing is copied where only one side knows the cluster
      continue;
    }
    auto both = std::make_shared<Clocks>(*slot);
    both->join(*clocks);
    slot = std::move(both);
  }
}

void ClockSet::join(const ClockSet &other) {
  own.join(other.own);
  vgpu::join(others, other.others);
  vgpu::join(fenced, other.fenced);
}

void ClockSet::clear() {
  own.clear();
  others.clear();
  fenced.clear();
}

void WarpClock::reset(uint32_t ofCluster, uint32_t ofActor, bool isNeeded) {
  *this = {};
  isTracked = isNeeded;
  cluster = ofCluster;
  actor = ofActor;
  current.own.ordered.raise(actor, 1);
}

ReleasedClocks WarpClock::released(uint32_t lanes) const {
  ReleasedClocks clocks = current.others;
  auto own = std::make_shared<Clocks>(current.own);
  // An elected lane must not release what the other lanes are doing meanwhile.
  if (leavesOthers(lanes))
    own->ordered.limit(actor, convergedTime, lanes);
  clocks[cluster] = std::move(own);
  return clocks;
}

void WarpClock::acquireOwnLanes(const Clocks &released) {
  lanesAcquired.joinActor(released.ordered, actor);
  laneTime = lanesAcquired.at(actor);
}

void WarpClock::syncLanes() {
  // The time advances afterwards, so that accesses from here on are not covered as well.
  lanesAcquired.raise(actor, time());
  laneTime = time();
  advance();
}

void WarpClock::leaveBehind(uint32_t lanes) {
  uint32_t others = ~lanes;
  // One clock is kept for all lagging lanes, the oldest.
  if (!followsLanes || !others)
    lagging = 0;
  else if (lagging) // lanes that acquire anything no longer lag, which is weaker than PTX
    lagging &= others;
  else {
    laggingClock = nullptr; // before the copy, which would keep it alive for ever
    laggingClock = std::make_shared<const WarpClock>(*this);
    lagging = others;
  }
}

void WarpClock::acquire(const ReleasedClocks &released, uint32_t lanes) {
  leaveBehind(lanes);
  // The own cluster has its clocks apart from the others, where the quick tests find them.
  for (const auto &[from, clocks] : released)
    if (from == cluster) {
      acquireOwnLanes(*clocks);
      current.own.join(*clocks);
    }
  join(current.others, released);
  current.others.erase(cluster);
}

void WarpClock::acquireGrids(uint32_t lanes) {
  if (isTracked)
    acquire({{kGridsBefore, std::make_shared<Clocks>()}}, lanes);
}

void WarpClock::acquireSeen(uint32_t lanes) {
  if (!isTracked || seen.empty())
    return;
  acquire(seen, lanes);
  seen.clear();
}

void WarpClock::arrive(ClockSet &barrier, uint32_t lanes) {
  if (!isTracked)
    return;
  if (barriersAcquire)
    acquireSeen(lanes);
  // Only what these lanes may release goes along.
  if (leavesOthers(lanes)) {
    ClockSet theirs = current;
    theirs.own.ordered.limit(actor, convergedTime, lanes);
    barrier.join(theirs);
  } else {
    barrier.join(current);
  }
  advance();
}

// The clocks at the fence are by cluster, with the own one among the others; a barrier has its own
// cluster's apart.
void WarpClock::arriveRelaxed(ClockSet &barrier) const {
  if (!isTracked)
    return;
  for (const auto &[from, clocks] : current.fenced) {
    if (from == cluster)
      barrier.own.join(*clocks);
    else
      vgpu::join(barrier.others, {{from, clocks}});
  }
  vgpu::join(barrier.fenced, current.fenced);
}

void WarpClock::waitRelaxed(const ClockSet &barrier) {
  if (!isTracked)
    return;
  vgpu::join(seen, barrier.others);
  vgpu::join(seen, {{cluster, std::make_shared<Clocks>(barrier.own)}});
}

void WarpClock::wait(const ClockSet &barrier, uint32_t lanes) {
  if (!isTracked)
    return;
  leaveBehind(lanes);
  acquireOwnLanes(barrier.own);
  current.join(barrier);
  // Caches the least time of the block's warps, so that most accesses are known to be ordered by
  // one comparison.
  uint32_t least = laneTime;
  for (uint32_t warp = blockBegin; warp < blockBegin + blockWarps; ++warp)
    if (warp != actor)
      least = std::min(least, current.own.ordered.at(warp));
  blockTime = least;
}

void WarpClock::fence(uint32_t lanes) {
  if (!isTracked)
    return;
  acquireSeen(lanes);
  current.fenced = released(lanes);
  advance();
}

void WarpClock::fenceProxy() {
  if (!isTracked)
    return;
  current.own.proxied.join(current.own.ordered);
  advance();
}

void SyncVariables::write(Key key, const ReleasedClocks &released, bool adds) {
  // A relaxed write without a fence before it ends the release sequence of its word.
  if (!adds && released.empty()) {
    carried_.erase(key);
    return;
  }
  ReleasedClocks &slot = carried_[key];
  if (!adds)
    slot.clear();
  join(slot, released);
}

const ReleasedClocks *SyncVariables::read(Key key) const {
  auto found = carried_.find(key);
  return found == carried_.end() ? nullptr : &found->second;
}

} // namespace tile::vgpu
