// Happens-before: what each warp knows of everybody's progress.
//
// The actors of a cluster are its warps (rank of the block * warps a block + warp) and, after them, whatever completes
// asynchronous work: memory barriers and the matrix units of warpgroups. A warp's own time starts at 1 and advances with
// every event others can learn of: a barrier, a fence, a release. Whoever hears of such an event joins the clocks.
// The lanes of a warp share its time. Where some of them tell others something, such as one lane that is elected to arrive
// at a memory barrier, only their own accesses and what all lanes did before they last met go with it.
// Between clusters knowledge travels through strong accesses to global memory only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace tile::vgpu {

/// The latest known time of each actor; 0: nothing is known. Of a warp some lanes may be known up to a later time.
class VectorClock {
public:
  /// Of all lanes.
  uint32_t at(unsigned actor) const { return actor < times_.size() ? times_[actor] : 0; }
  /// True if what `lane` of an actor did at `time` is known.
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
  /// Joins what `other` says of one actor.
  void joinActor(const VectorClock &other, unsigned actor);
  /// Of `actor` it knows only up to `time`, but of `lanes` up to the time that it knew.
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

/// ClockSet about one cluster.
struct Clocks {
  VectorClock known;
  VectorClock proxied; // generic writes up to these times are visible to the async proxy

  void join(const Clocks &other) {
    known.join(other.known);
    proxied.join(other.proxied);
  }
  void clear() {
    known.clear();
    proxied.clear();
  }
};

/// What a release makes known, by cluster. Shared, since many learn the same.
using ReleasedClocks = std::map<uint32_t, std::shared_ptr<const Clocks>>;
void join(ReleasedClocks &into, const ReleasedClocks &from);

/// What passes between the warps of a cluster at a barrier.
struct ClockSet {
  Clocks now;            // of their own cluster
  ReleasedClocks others; // of clusters heard of
  ReleasedClocks fenced; // what was known at the last fences: what relaxed writes publish

  void join(const ClockSet &other);
  void clear();
};

/// The clock of a warp. Times saturate: beyond the last one order is taken for granted.
struct WarpClock {
  static constexpr uint32_t kLastTime = (1u << 24) - 1;
  static constexpr uint32_t kGridsBefore = ~0u; // in the place of a cluster: of the launches before

  bool isTracked = true; // false: nobody asks, and nothing is handed on
  uint32_t cluster = 0;
  uint32_t actor = 0;
  uint32_t blockBegin = 0, blockWarps = 0; // the actors that are warps of its own block
  uint32_t blockTime = 0; // what each of them did up to this time is known since the last barrier
  uint32_t laneTime = 0;  // what each of its own lanes did up to this time is known to all of them
  VectorClock lanesAcquired;  // of its own actor: the same, with single lanes
  bool followsLanes = false;  // lanes may tell others something on their own
  uint32_t convergedTime = 0; // what its lanes did up to this time was before they met
  uint32_t touched = 0;       // lanes that have accessed memory since
  uint32_t lagging = 0;       // lanes that have waited for nothing since, while others have
  std::shared_ptr<const WarpClock> laggingClock; // what those know
  ClockSet has;
  ReleasedClocks seen; // what relaxed reads have seen: known after the next fence

  void reset(uint32_t ofCluster, uint32_t ofActor, bool isNeeded);
  /// Its block's warps, of which it knows nothing yet.
  void setBlock(uint32_t begin, uint32_t warps) { blockBegin = begin, blockWarps = warps; }
  uint32_t time() const { return has.now.known.at(actor); }
  /// What each warp of its block did up to this time is visible to the async proxy.
  uint32_t proxiedTime() const {
    uint32_t least = std::min(laneTime, has.now.proxied.at(actor));
    for (uint32_t warp = blockBegin; warp < blockBegin + blockWarps; ++warp)
      least = std::min(least, has.now.proxied.at(warp));
    return least;
  }
  /// What the warp does from here on is later than what others have learnt.
  void advance() {
    if (time() < kLastTime)
      has.now.known.raise(actor, time() + 1);
  }
  /// Lanes access memory.
  void touch(uint32_t lanes) { touched |= lanes; }
  /// Lanes come together, in whatever instruction that waits for them: what they did before, any of them may tell.
  void converge() {
    if (touched && followsLanes)
      advance();
    convergedTime = time() - 1;
    touched = lagging = 0;
  }
  /// What `lane` knows.
  const WarpClock &of(unsigned lane) const {
    return lane < 32 && lagging >> lane & 1 ? *laggingClock : *this;
  }
  /// bar.warp.sync: the lanes know what all of them did.
  void syncLanes();
  /// What `lanes` make known when they release.
  ReleasedClocks released(uint32_t lanes) const;
  /// Some lanes acquire it.
  void acquire(const ReleasedClocks &released, uint32_t lanes);
  /// Some lanes have waited for the launches before this one (griddepcontrol.wait): all that these did is known.
  void learnOfGrids(uint32_t lanes);
  bool knowsOfGrids() const { return has.others.contains(kGridsBefore); }
  /// fence.acq_rel or stronger, by `lanes`.
  void fence(uint32_t lanes);
  /// What relaxed reads have seen becomes known to some lanes. Barriers do so too: kernels that count blocks with a relaxed
  /// atomic and go on after a barrier rely on it.
  void acquireSeen(uint32_t lanes);
  /// Some lanes arrive at a barrier: hands over what they know. What the warp does from here on is later.
  void arrive(ClockSet &barrier, uint32_t lanes);
  /// The same without order of its own: hands over what was known at the last fence.
  void arriveRelaxed(ClockSet &barrier) const;
  /// Has waited for a barrier without order of its own: what came of it is known after the next fence.
  void waitRelaxed(const ClockSet &barrier);
  /// Some lanes have waited with it.
  void wait(const ClockSet &barrier, uint32_t lanes);
  /// fence.proxy.async: what the warp knows to be written, asynchronous operations see from here on.
  void fenceProxy();

private:
  // True if others than `lanes` did something since they met.
  bool leavesOthers(uint32_t lanes) const {
    return followsLanes && (touched & ~lanes) && time() < kLastTime;
  }
  // Before `lanes` learn something: the others stay laggingClock.
  void leaveBehind(uint32_t lanes);
  // What others have learnt of its own lanes.
  void acquireOwnLanes(const Clocks &released);
};

/// The words through which threads synchronise: what is known to whoever reads them.
class SyncVariables {
public:
  /// `block`: of cta-scoped accesses, else 0. Addresses are global, or of shared memory within its cluster.
  struct Key {
    uint64_t address;
    uint64_t block;
    bool operator==(const Key &) const = default;
  };
  /// A strong write replaces what its word carried; a read-modify-write adds to it.
  void write(Key key, const ReleasedClocks &released, bool adds);
  /// Null if nothing is carried.
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
