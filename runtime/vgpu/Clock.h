// Happens-before: what each warp knows of everybody's progress.
//
// The actors of a cluster are its warps (rank of the block * warps a block + warp) and, after them, whatever completes
// asynchronous work: memory barriers and the matrix units of warpgroups. A warp's own time starts at 1 and advances with
// every event others can learn of: a barrier, a fence, a release. Whoever hears of such an event joins the clocks.
// Between clusters knowledge travels through strong accesses to global memory only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace tile::vgpu {

/// The latest known time of each actor; 0: nothing is known.
class VectorClock {
public:
  uint32_t at(unsigned actor) const { return actor < times_.size() ? times_[actor] : 0; }
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
  }
  void clear() { times_.clear(); }

private:
  std::vector<uint32_t> times_;
};

/// Knowledge about one cluster.
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
using Publication = std::map<uint32_t, std::shared_ptr<const Clocks>>;
void join(Publication &into, const Publication &from);

/// What passes between the warps of a cluster at a barrier.
struct Knowledge {
  Clocks now;         // of their own cluster
  Publication others; // of clusters heard of
  Publication fenced; // what was known at the last fences: what relaxed writes publish

  void join(const Knowledge &other);
  void clear();
};

/// The clock of a warp. Times saturate: beyond the last one order is taken for granted.
struct WarpClock {
  static constexpr uint32_t kLastTime = (1u << 24) - 1;

  bool isKept = true; // false: nobody asks, and nothing is handed on
  uint32_t cluster = 0;
  uint32_t actor = 0;
  uint32_t blockBegin = 0, blockWarps = 0; // the actors that are warps of its own block
  uint32_t blockTime = 0; // what each of them did up to this time is known since the last barrier
  Knowledge has;
  Publication seen; // what relaxed reads have seen: known after the next fence

  void reset(uint32_t ofCluster, uint32_t ofActor, bool isNeeded);
  /// Its block's warps, of which it knows nothing yet.
  void setBlock(uint32_t begin, uint32_t warps) { blockBegin = begin, blockWarps = warps; }
  uint32_t time() const { return has.now.known.at(actor); }
  /// What the warp does from here on is later than what others have learnt.
  void advance() {
    if (time() < kLastTime)
      has.now.known.raise(actor, time() + 1);
  }
  Publication publication() const;
  void learn(const Publication &news);
  /// fence.acq_rel or stronger.
  void fence();
  /// What relaxed reads have seen becomes known. Barriers do so too: kernels that count blocks with a relaxed atomic and
  /// go on after a barrier rely on it.
  void settle();
  /// Arrives at a barrier: hands over what the warp knows. What it does from here on is later.
  void arrive(Knowledge &barrier);
  /// The same without order of its own: hands over what was known at the last fence.
  void arriveRelaxed(Knowledge &barrier) const;
  /// Has waited for a barrier without order of its own: what came of it is known after the next fence.
  void waitRelaxed(const Knowledge &barrier);
  /// The same with it.
  void wait(const Knowledge &barrier);
  /// fence.proxy.async: what the warp knows to be written, asynchronous operations see from here on.
  void fenceProxy();
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
  void write(Key key, const Publication &news, bool adds);
  /// Null if nothing is carried.
  const Publication *read(Key key) const;
  bool empty() const { return carried_.empty(); }
  void clear() { carried_.clear(); }

private:
  struct Hash {
    size_t operator()(const Key &key) const {
      return std::hash<uint64_t>()(key.address * 0x9E3779B97F4A7C15u ^ key.block);
    }
  };
  std::unordered_map<Key, Publication, Hash> carried_;
};

} // namespace tile::vgpu
