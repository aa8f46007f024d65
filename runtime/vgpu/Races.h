// The race checkers of shared and of global memory.
#pragma once

#include "runtime/vgpu/ChunkShadow.h"
#include "runtime/vgpu/Footprints.h"

namespace tile::vgpu {

/// The shadow of one block's shared memory. Offsets count from its start.
class SharedRaces {
public:
  void reset(uint32_t sharedBytes);
  /// Called before memory changes. `sameValue`: a write that changes nothing.
  void access(const Accessor &accessor, uint32_t offset, uint32_t bytes, bool sameValue);
  /// True if a read of whole chunks by lanes that are not known is ordered after everything; then it is remembered. Else
  /// some of it may have been.
  bool isOrderedRead(const Accessor &accessor, uint32_t offset, uint32_t bytes) {
    return shadow_.isOrderedRead(accessor, offset, bytes);
  }
  /// A lane has waited for its cp.async to these bytes, at most a chunk: they count as written by it, now.
  void endCopy(const Accessor &accessor, uint32_t offset, uint32_t bytes);
  /// The memory this takes.
  size_t heldBytes() const { return shadow_.heldBytes() + rules_.heldBytes(); }

private:
  RaceCells<ClusterCell> rules_;
  ChunkShadow<ClusterCell> shadow_;
};

/// The shadow of what a launch, or one of its clusters, touches of global memory.
class GlobalRaces {
public:
  virtual ~GlobalRaces() = default;
  /// The lanes of one instruction of a warp; `same`: lanes that write what is there already.
  void access(Warp &warp, const Op &op, AccessKind kind, uint32_t mask, const uint64_t *address,
              uint32_t bytes, uint32_t same);
  /// One range by an accessor of any kind.
  virtual void access(const Accessor &accessor, uint64_t address, uint64_t bytes,
                      bool sameValue) = 0;
  /// The memory this takes.
  virtual size_t heldBytes() const = 0;
  /// The cluster whose shadow it is has ended: nothing is remembered, except by the launch's footprints.
  virtual void endCluster() = 0;

  /// Of a whole launch.
  static std::unique_ptr<GlobalRaces> ofLaunch();
  /// Of one cluster after the other.
  static std::unique_ptr<GlobalRaces> ofCluster(Footprints &footprints);

private:
  /// Consecutive lanes that read consecutive elements; `accessor` is the first.
  virtual void readRun(Accessor &accessor, unsigned lanes, uint64_t address, uint32_t bytes) = 0;
};

} // namespace tile::vgpu
