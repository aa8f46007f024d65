// Joining and publishing of clocks.
#include "runtime/vgpu/check/Clock.h"

namespace tile::vgpu {

bool VectorClock::coversInPart(unsigned actor, unsigned lane, uint32_t time) const {
  return lane < 32 && std::ranges::any_of(parts_, [&](const Part &part) {
           return part.actor == actor && part.lanes >> lane & 1 && part.time >= time;
         });
}

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

void join(Publication &into, const Publication &from) {
  for (const auto &[cluster, clocks] : from) {
    std::shared_ptr<const Clocks> &slot = into[cluster];
    if (!slot || slot == clocks) {
      slot = clocks;
      continue;
    }
    auto both = std::make_shared<Clocks>(*slot);
    both->join(*clocks);
    slot = std::move(both);
  }
}

void Knowledge::join(const Knowledge &other) {
  now.join(other.now);
  vgpu::join(others, other.others);
  vgpu::join(fenced, other.fenced);
}

void Knowledge::clear() {
  now.clear();
  others.clear();
  fenced.clear();
}

void WarpClock::reset(uint32_t ofCluster, uint32_t ofActor, bool isNeeded) {
  *this = {};
  isKept = isNeeded;
  cluster = ofCluster;
  actor = ofActor;
  has.now.known.raise(actor, 1);
}

Publication WarpClock::publication(uint32_t lanes) const {
  Publication news = has.others;
  auto own = std::make_shared<Clocks>(has.now);
  if (leavesOthers(lanes))
    own->known.limit(actor, metTime, lanes);
  news[cluster] = std::move(own);
  return news;
}

void WarpClock::hear(const Clocks &news) {
  lanesHeard.joinActor(news.known, actor);
  laneTime = lanesHeard.at(actor);
}

void WarpClock::syncLanes() {
  lanesHeard.raise(actor, time());
  laneTime = time();
  advance();
}

void WarpClock::part(uint32_t lanes) {
  uint32_t others = ~lanes;
  if (!followsLanes || !others)
    lagging = 0;
  else if (lagging) // whoever learns something is no longer behind, a little more generous than PTX
    lagging &= others;
  else {
    behind = nullptr;
    behind = std::make_shared<const WarpClock>(*this);
    lagging = others;
  }
}

void WarpClock::learn(const Publication &news, uint32_t lanes) {
  part(lanes);
  for (const auto &[from, clocks] : news)
    if (from == cluster) {
      hear(*clocks);
      has.now.join(*clocks);
    }
  join(has.others, news);
  has.others.erase(cluster);
}

void WarpClock::learnOfGrids(uint32_t lanes) {
  if (isKept)
    learn({{kGridsBefore, std::make_shared<Clocks>()}}, lanes);
}

void WarpClock::settle(uint32_t lanes) {
  if (!isKept || seen.empty())
    return;
  learn(seen, lanes);
  seen.clear();
}

void WarpClock::arrive(Knowledge &barrier, uint32_t lanes) {
  if (!isKept)
    return;
  settle(lanes);
  if (leavesOthers(lanes)) {
    Knowledge theirs = has;
    theirs.now.known.limit(actor, metTime, lanes);
    barrier.join(theirs);
  } else {
    barrier.join(has);
  }
  advance();
}

void WarpClock::arriveRelaxed(Knowledge &barrier) const {
  if (!isKept)
    return;
  for (const auto &[from, clocks] : has.fenced) {
    if (from == cluster)
      barrier.now.join(*clocks);
    else
      vgpu::join(barrier.others, {{from, clocks}});
  }
  vgpu::join(barrier.fenced, has.fenced);
}

void WarpClock::waitRelaxed(const Knowledge &barrier) {
  if (!isKept)
    return;
  vgpu::join(seen, barrier.others);
  vgpu::join(seen, {{cluster, std::make_shared<Clocks>(barrier.now)}});
}

void WarpClock::wait(const Knowledge &barrier, uint32_t lanes) {
  if (!isKept)
    return;
  part(lanes);
  hear(barrier.now);
  has.join(barrier);
  uint32_t least = laneTime;
  for (uint32_t warp = blockBegin; warp < blockBegin + blockWarps; ++warp)
    if (warp != actor)
      least = std::min(least, has.now.known.at(warp));
  blockTime = least;
}

void WarpClock::fence(uint32_t lanes) {
  if (!isKept)
    return;
  settle(lanes);
  has.fenced = publication(lanes);
  advance();
}

void WarpClock::fenceProxy() {
  if (!isKept)
    return;
  has.now.proxied.join(has.now.known);
  advance();
}

void SyncVariables::write(Key key, const Publication &news, bool adds) {
  if (!adds && news.empty()) {
    carried_.erase(key);
    return;
  }
  Publication &slot = carried_[key];
  if (!adds)
    slot.clear();
  join(slot, news);
}

const Publication *SyncVariables::read(Key key) const {
  auto found = carried_.find(key);
  return found == carried_.end() ? nullptr : &found->second;
}

} // namespace tile::vgpu
