// Tells a cluster that goes round in circles from one that gets on.
//
// A warp that spins by itself is known by its own state (LoopWatch). Others spin together: a thread looks, by an atomic or a load,
// and tells what it has seen to the other warps by shared memory and a barrier, which are events. Then the state of the whole
// cluster comes back.
#pragma once

#include <cstdint>

namespace tile::vgpu {

struct Cluster;

/// The state of a cluster is compared as long as nothing outside of it changes, and nothing that the comparison leaves out.
class CycleWatch {
public:
  /// After a round, in which each warp that is ready has had a turn, or a random stretch of one.
  void look(const Cluster &cluster);
  /// Nothing but a change from outside will make the cluster do something else.
  bool repeats(const Cluster &cluster) const;
  /// The next round is compared: all ready warps must have a turn in it.
  bool needsWholeRound() const { return left_ > 0; }

private:
  uint64_t effects_ = ~uint64_t{0}; // of the cluster when watching began
  uint64_t branches_ = 0;           // of its warps by the last round
  uint64_t work_ = 0;               // since watching began
  uint64_t next_ = 0;               // the work at which the state is taken next
  uint64_t anchor_ = 0;             // a hash of the state when it was taken last
  uint32_t left_ = 0;               // rounds in which it is compared
  bool repeats_ = false;
};

} // namespace tile::vgpu
