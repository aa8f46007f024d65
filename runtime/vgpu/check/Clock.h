// Happens-before: the vector clocks of warps, and what synchronisation does to them.
//
// The words, most of them those of FastTrack and ThreadSanitizer:
//   actor     makes accesses: a warp (rank of the block * warps a block + warp), or what completes
//             asynchronous work, such as an mbarrier. Each cluster counts its own, warps first.
//   time      an actor's own counter, from 1. It advances at each release, arrival and fence.
//   epoch     actor and time of an access.
//   clock     vector clock: for each actor the time up to which its accesses happened before what
//             the owner does next. It covers an epoch whose time is not later.
//   release   hands a copy of the own clock to a word, a barrier or a fence.
//   acquire   joins a released clock into the own one. Join: the later time of each actor.
//   part      an entry of a clock for some lanes of a warp, up to a later time than all lanes.
//   converge  lanes execute one instruction that waits for them: any may release what all did.
//   lagging   lanes that have not acquired what others of their warp have; they keep the old clock.
//   proxied   clock of the generic writes that fence.proxy.async has shown to asynchronous copies.
//   strong    atomic, volatile, relaxed, acquire or release: words so accessed synchronise.
// Clusters have clocks of their own; one learns of another by strong accesses to global memory
// only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace tile::vgpu {

/// For each actor the time up to which its accesses are ordered; 0: none is. Parts say more of
/// single lanes.
class VectorClock {
public:
  /// The time up to which all lanes of the actor are covered.
  uint32_t at(unsigned actor) const { return actor < times_.size() ? times_[actor] : 0; }
  /// True if what `lane` of an actor did at `time` is ordered before.
  bool covers(unsigned actor, unsigned lane, uint32_t time) const {
    return at(actor) >= time || (!parts_.empty() && coversInPart(actor, lane, time));
  }
  void raise(unsigned actor, uint32_t time) {
    if (actor >= times_.size())
      times_.resize(actor + 1);
    times_[actor] = std::max(times_[actor], time);
  }
  void join(const VectorClock &other) {
    if (times_.size() < other.times_.size())
      times_.resize(other.times_.size());
    for (size_t i = 0; i < other.times_.size(); ++i)
      times_[i] = std::max(times_[i], other.times_[i]);
    if (!other.parts_.empty())
      joinParts(other);
  }
  /// Joins the entry and the parts that `other` has for one actor.
  void joinActor(const VectorClock &other, unsigned actor);
  /// Cuts the entry of `actor` back to `time`, and keeps the present one as a part for `lanes`.
  void limit(unsigned actor, uint32_t time, uint32_t lanes);
  void clear() {
    times_.clear();
    parts_.clear();
  }

private:
  struct Part {
    unsigned actor;
    uint32_t lanes, time;
  };
  bool coversInPart(unsigned actor, unsigned lane, uint32_t time) const;
  void joinPart(const Part &part);
  void joinParts(const VectorClock &other);

  std::vector<uint32_t> times_;
  std::vector<Part> parts_; // beyond `times_`
};

/// The clocks of the actors of one cluster.
struct Clocks {
  VectorClock ordered;
  VectorClock proxied; // generic writes up to these times are visible to asynchronous operations

  void join(const Clocks &other) {
    ordered.join(other.ordered);
    proxied.join(other.proxied);
  }
  void clear() {
    ordered.clear();
    proxied.clear();
  }
};

/// The clocks that a release hands on, by cluster. They are shared and never changed, since many
/// acquire the same.
using ReleasedClocks = std::map<uint32_t, std::shared_ptr<const Clocks>>;
void join(ReleasedClocks &into, const ReleasedClocks &from);

/// All clocks of one owner: a warp, or a barrier at which warps meet.
struct ClockSet {
  Clocks own;            // of the owner's cluster
  ReleasedClocks others; // of clusters it has acquired from
  ReleasedClocks fenced; // the clocks at the last fences, which relaxed writes release

  void join(const ClockSet &other);
  void clear();
};

/// The clock of a warp. Times saturate: beyond the last one, accesses count as ordered.
struct WarpClock {
  static constexpr uint32_t kLastTime = (1u << 24) - 1;
  static constexpr uint32_t kGridsBefore =
      ~0u; // stands for a cluster: the launches before this one

  bool isTracked = true; // false: no check needs the clocks, so nothing is joined
  uint32_t cluster = 0;
  uint32_t actor = 0;
  uint32_t blockBegin = 0, blockWarps = 0; // the actors that are warps of its own block
  uint32_t blockTime = 0;      // covers all warps of the block, by the last barrier: a quick test
  uint32_t laneTime = 0;       // covers all of its own lanes, for each of them: a quick test
  VectorClock lanesAcquired;   // the same with parts; has an entry for its own actor alone
  bool barriersAcquire = true; // what relaxed reads have seen, as fences do
  bool followsLanes = false;   // single lanes may release, so `touched` and `lagging` count
  uint32_t convergedTime = 0;  // all lanes' accesses up to it were before they converged
  uint32_t touched = 0;        // lanes that have accessed memory since
  uint32_t lagging = 0;        // lanes that have waited for nothing since, while others have
  std::shared_ptr<const WarpClock> laggingClock; // the clock that those lanes have
  ClockSet current;
  ReleasedClocks seen; // released by writes that relaxed reads saw: acquired at a fence

  void reset(uint32_t ofCluster, uint32_t ofActor, bool isNeeded);
  /// Sets which actors are the warps of its block. None of their accesses is ordered yet.
  void setBlock(uint32_t begin, uint32_t warps) { blockBegin = begin, blockWarps = warps; }
  uint32_t time() const { return current.own.ordered.at(actor); }
  /// The time up to which generic writes of all warps of its block are visible to asynchronous
  /// operations.
  uint32_t proxiedTime() const {
    uint32_t least = std::min(laneTime, current.own.proxied.at(actor));
    for (uint32_t warp = blockBegin; warp < blockBegin + blockWarps; ++warp)
      least = std::min(least, current.own.proxied.at(warp));
    return least;
  }
  /// Ends an epoch: what the warp does from here on is later than what others have acquired.
  void advance() {
    if (time() < kLastTime)
      current.own.ordered.raise(actor, time() + 1);
  }
  /// Notes that lanes access memory. Until they converge, only they can release these accesses.
  void touch(uint32_t lanes) { touched |= lanes; }
  /// Lanes execute one instruction that waits for them: from here on any of them may release what
  /// all did before.
  void converge() {
    if (touched && followsLanes)
      advance();
    convergedTime = time() - 1;
    touched = lagging = 0;
  }
  /// The clock of `lane`, which lags behind if it has not acquired what others have.
  const WarpClock &of(unsigned lane) const {
    return lane < 32 && lagging >> lane & 1 ? *laggingClock : *this;
  }
  /// bar.warp.sync: orders all lanes' accesses before what each of them does next.
  void syncLanes();
  /// The clocks that `lanes` hand on when they release: without what other lanes did since all
  /// converged.
  ReleasedClocks released(uint32_t lanes) const;
  /// Some lanes acquire these clocks.
  void acquire(const ReleasedClocks &released, uint32_t lanes);
  /// Some lanes have waited for the launches before this one (griddepcontrol.wait): all of their
  /// accesses are ordered.
  void acquireGrids(uint32_t lanes);
  bool hasAcquiredGrids() const { return current.others.contains(kGridsBefore); }
  /// fence.acq_rel or stronger, by `lanes`: acquires what relaxed reads have seen; relaxed writes
  /// release the clock of now.
  void fence(uint32_t lanes);
  /// Some lanes acquire what relaxed reads have seen. Barriers do so too, unless the strict check
  /// says no: kernels that count blocks with a relaxed atomic and go on after a barrier rely on it.
  void acquireSeen(uint32_t lanes);
  /// Some lanes arrive at a barrier: it joins the clocks they release.
  void arrive(ClockSet &barrier, uint32_t lanes);
  /// An arrival with relaxed semantics, which releases only the clocks of the last fence.
  void arriveRelaxed(ClockSet &barrier) const;
  /// A wait with relaxed semantics: what the barrier released is acquired at the next fence.
  void waitRelaxed(const ClockSet &barrier);
  /// Some lanes have waited for a barrier: they acquire its clocks.
  void wait(const ClockSet &barrier, uint32_t lanes);
  /// fence.proxy.async: writes that are ordered before it become visible to asynchronous
  /// operations.
  void fenceProxy();

private:
  // True if lanes other than these have accessed memory since all converged: a release must leave
  // those accesses out.
  bool leavesOthers(uint32_t lanes) const {
    return followsLanes && (touched & ~lanes) && time() < kLastTime;
  }
  // Keeps the clock for the lanes other than these, which are about to acquire something.
  void leaveBehind(uint32_t lanes);
  // Joins what others have acquired of this warp: it orders its lanes among themselves.
  void acquireOwnLanes(const Clocks &released);
};

/// The words through which threads synchronise, with the clocks that their last writes released.
class SyncVariables {
public:
  /// `block` is 0 but for accesses of cta scope, which only that block acquires. An address is
  /// global, or shared in the cluster.
  struct Key {
    uint64_t address;
    uint64_t block;
    bool operator==(const Key &) const = default;
  };
  /// A strong write replaces what its word has released; a read-modify-write joins it, as it
  /// continues the release sequence.
  void write(Key key, const ReleasedClocks &released, bool adds);
  /// The clocks to acquire; null if the word has released none.
  const ReleasedClocks *read(Key key) const;
  bool empty() const { return carried_.empty(); }
  void clear() { carried_.clear(); }

private:
  struct Hash {
    size_t operator()(const Key &key) const {
      return std::hash<uint64_t>()(key.address * 0x9E3779B97F4A7C15u ^ key.block);
    }
  };
  std::unordered_map<Key, ReleasedClocks, Hash> carried_;
};

} // namespace tile::vgpu
