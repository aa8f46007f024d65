// What each sm_XX can do: THE table that passes, codegen, ops, the tuner, reports, archives and the
// virtual GPU take limits, features and rates from. A new target is a row of it, and a golden file
// of what is compiled for it.
#pragma once

#include "ir/target/Card.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tile::ir {

/// A GPU architecture, and a card that stands for it. Source: CUDA C++ Programming Guide, "Compute
/// Capabilities".
struct Target {
  const char *name; ///< what `.target` says: "sm_80", "sm_90a"
  int smVersion;    ///< 80, 86, 89, 90
  int ptxVersion; ///< lowest PTX version used for it, times ten: 80 is 8.0; 0: nothing is compiled for it
  int64_t maxSharedBytesPerBlock; ///< opt-in limit of dynamic shared memory of a block
  int64_t sharedBytesPerSm;       ///< shared memory of an SM available to blocks
  int registersPerSm;
  int maxThreadsPerSm;
  int maxThreadsPerBlock;
  int maxBlocksPerSm;
  bool hasCpAsync;  ///< cp.async: copies from global to shared memory that a thread waits for later
  bool hasFloat8;   ///< cvt and mma.sync of e4m3 and e5m2
  bool hasStmatrix; ///< stmatrix: fragments to shared memory
  bool hasVectorAtomics; ///< red of 2 or 4 floats side by side
  bool hasClusters;      ///< clusters of blocks that see each other's shared memory
  bool hasTma;           ///< bulk and tensor copies, which mbarriers count
  bool
      hasDependentLaunch; ///< griddepcontrol: a kernel may start before the launches ahead of it have ended
  bool hasWgmma;          ///< products of four warps from shared memory, and setmaxnreg
  Card card;              ///< the one that stands for it
};

/// A column of the table that says what a target has: `&Target::hasTma`.
using Feature = bool Target::*;

/// The target of that name ("sm_80") that code is compiled for, none if unknown.
std::optional<Target> findTarget(std::string_view name);

/// The same of all GPUs in the table, those as well that nothing is compiled for: the virtual GPU
/// runs others' PTX for them.
std::optional<Target> findGpu(std::string_view name);
/// The whole table, the oldest first.
std::span<const Target> allGpus();

/// Does a GPU of this name take PTX for the target, and has it the shared memory? What has no
/// letter runs on all that came later, what ends with "f" on those of the same family, and what
/// ends with "a" on no other. Of a GPU that the table knows nothing of, neither itself nor its
/// family, the memory is taken to suffice.
bool runsOn(const Target &target, std::string_view gpu);

/// The target that code for a GPU of this name is compiled for: its own if it is in the table, else
/// the newest that it runs. A GPU older than the table, or of a name that is no "sm_" and a number,
/// has the oldest, which it will refuse.
Target targetForGpu(std::string_view name);

/// The target that kernels are compiled for where none is named.
inline constexpr const char *kDefaultTarget = "sm_80";

/// The least target with a feature, for messages: "sm_89".
const char *firstTargetWith(Feature feature);

/// Names of all targets that code is compiled for, the oldest first.
std::vector<std::string> targetNames();
/// The same for messages: "sm_80, sm_86, ...".
std::string knownTargets();

inline constexpr int kWarpSize = 32;

/// Warps of a block: of a kernel that does not say, and at most.
inline constexpr int kDefaultWarps = 4;
inline constexpr int kMaxWarps = 32;

/// Teams that carry out a program together: as many as there are barriers of the block for, beside
/// those of turns.
inline constexpr int kMostTeams = 6;
/// Blocks of a cluster that every GPU with clusters has room for.
inline constexpr int kMostBlocksOfCluster = 8;

/// Programs of a launch that add up their tiles: beyond, reading the parts takes longer than making
/// them.
inline constexpr int kMostProgramsOfSum = 256;

/// Registers of 32 bits a thread may use, and the fewest it may be kept to, on every architecture
/// so far.
inline constexpr int kMaxRegistersPerThread = 255;
inline constexpr int kLeastRegistersPerThread = 16;

/// Barriers of a block, which `bar.sync` names by number, on every architecture so far.
inline constexpr int kBarriersPerBlock = 16;

/// Blocks that a kernel may ask to fit a multiprocessor together.
inline constexpr int kMaxOccupancy = 32;

} // namespace tile::ir
