// The race checkers of shared and of global memory.
#pragma once

#include "runtime/vgpu/check/ChunkShadow.h"
#include "runtime/vgpu/check/Footprints.h"

namespace tile::vgpu {

/// The shadow of one block's shared memory. Offsets count from its start.
class SharedRaces {
public:
  void reset(uint32_t sharedBytes);
  /// Called before memory changes. `sameValue`: a write that changes nothing.
  void access(const Accessor &accessor, uint32_t offset, uint32_t bytes, bool sameValue);
  /// Checks one accessor's reads of whole words in several ranges.
  void readRanges(const Accessor &accessor, std::span<const ShadowRange> ranges);
  /// Checks weak writes that change whole chunks, by the lanes of `which` at their `offsets`.
  void writeChunks(Accessor accessor, const uint32_t (&offsets)[32], uint32_t which);
  /// Reads of whole chunks, by lanes that are not known, at those of `offsets` that `which` names.
  /// Remembers those that are ordered after everything, and returns the others, of which some may
  /// have been remembered in part.
  uint32_t readChunks(const Accessor &accessor, const uint32_t (&offsets)[32], uint32_t which);
  /// The lanes of `which` have waited for their cp.async of `bytes`, at most a chunk, to `offsets`:
  /// these count as written by them, now.
  void endCopies(const Accessor &accessor, const uint32_t (&offsets)[32], uint32_t which,
                 uint32_t bytes);
  /// The bytes of memory that the shadow takes.
  size_t heldBytes() const { return shadow_.heldBytes() + rules_.heldBytes(); }

private:
  RaceRules<ClusterCell> rules_;
  ChunkShadow<ClusterCell> shadow_;
};

/// The shadow of what a launch, or one of its clusters, touches of global memory.
class GlobalRaces {
public:
  virtual ~GlobalRaces() = default;
  /// Checks one instruction of the accessor's warp, in the lanes of `mask`; those of `same` write
  /// what is there already.
  void access(Accessor accessor, uint32_t mask, const uint64_t *address, uint32_t bytes,
              uint32_t same);
  /// Checks one range by an accessor of any kind.
  virtual void access(const Accessor &accessor, uint64_t address, uint64_t bytes,
                      bool sameValue) = 0;
  /// The bytes of memory that the shadow takes.
  virtual size_t heldBytes() const = 0;
  /// Ends the cluster whose shadow this is: its footprint goes to the launch's, and all else is
  /// forgotten.
  virtual void endCluster() = 0;
  /// The bytes touched since the start or since forgetTouched(), in the shadow of a whole launch.
  virtual TouchedBytes touched() const = 0;
  virtual void forgetTouched() = 0;

  /// Makes the shadow of a whole launch.
  static std::unique_ptr<GlobalRaces> ofLaunch();
  /// Makes a shadow that one cluster after the other uses.
  static std::unique_ptr<GlobalRaces> ofCluster(Footprints &footprints);

protected:
  /// Consecutive lanes that access consecutive elements.
  struct Run {
    unsigned lanes;
    uint32_t bytes; // of a lane
    uint32_t same;  // lanes, from the first one of the run on, that write what is there already
  };

private:
  /// `accessor` is the first lane, whose element is at `address`.
  virtual void accessRun(Accessor &accessor, const Run &run, uint64_t address) = 0;
};

} // namespace tile::vgpu
