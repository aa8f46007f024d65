// Joining and publishing of clocks.
#include "runtime/vgpu/Clock.h"

namespace tile::vgpu {

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

Publication WarpClock::publication() const {
  Publication news = has.others;
  news[cluster] = std::make_shared<Clocks>(has.now);
  return news;
}

void WarpClock::learn(const Publication &news) {
  for (const auto &[from, clocks] : news)
    if (from == cluster)
      has.now.join(*clocks);
  join(has.others, news);
  has.others.erase(cluster);
}

void WarpClock::settle() {
  if (!isKept)
    return;
  learn(seen);
  seen.clear();
}

void WarpClock::arrive(Knowledge &barrier) {
  if (!isKept)
    return;
  settle();
  barrier.join(has);
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

void WarpClock::wait(const Knowledge &barrier) {
  if (!isKept)
    return;
  has.join(barrier);
  // Of its own warp lanes are ordered up to the last event only.
  uint32_t least = time() - 1;
  for (uint32_t warp = blockBegin; warp < blockBegin + blockWarps; ++warp)
    if (warp != actor)
      least = std::min(least, has.now.known.at(warp));
  blockTime = least;
}

void WarpClock::fence() {
  if (!isKept)
    return;
  settle();
  has.fenced = publication();
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
