// What each sm_XX can do: the table that passes and codegen take hardware limits and features from. The virtual GPU, which knows
// nothing of the compiler, has its own (runtime/vgpu/machine/Targets.cpp); a test compares the two.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tile::ir {

/// A compilation target. Source: CUDA C++ Programming Guide, "Compute Capabilities".
struct Target {
  const char *name;               ///< what `.target` says: "sm_80", "sm_90a"
  int smVersion;                  ///< 80, 86, 89, 90
  int ptxVersion;                 ///< lowest PTX version used for it, times ten: 80 is 8.0
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
  bool hasWgmma;         ///< products of four warps from shared memory, and setmaxnreg
};

/// A column of the table that says what a target has: `&Target::hasTma`.
using Feature = bool Target::*;

/// The target of that name ("sm_80"), none if unknown.
std::optional<Target> findTarget(std::string_view name);

/// The target that code for a GPU of this name is compiled for: its own if it is in the table, else the newest that is not
/// newer and whose code later GPUs accept (no name that ends with a letter). A GPU older than the table, or of a name
/// that is no "sm_" and a number, has the oldest, which it will refuse.
Target targetForGpu(std::string_view name);

/// The least target with a feature, for messages: "sm_89".
const char *firstTargetWith(Feature feature);

/// Names of all known targets, for messages: "sm_80, sm_86, ...".
std::string knownTargets();

inline constexpr int kWarpSize = 32;

/// Warps of a block: of a kernel that does not say, and at most.
inline constexpr int kDefaultWarps = 4;
inline constexpr int kMaxWarps = 32;

/// Teams that carry out a program together: as many as there are barriers of the block for, beside those of turns.
inline constexpr int kMostTeams = 6;
/// Blocks of a cluster that every GPU with clusters has room for.
inline constexpr int kMostBlocksOfCluster = 8;

/// Programs of a launch that add up their tiles: beyond, reading the parts takes longer than making them.
inline constexpr int kMostProgramsOfSum = 256;

/// Registers of 32 bits a thread may use, and the fewest it may be kept to, on every architecture so far.
inline constexpr int kMaxRegistersPerThread = 255;
inline constexpr int kLeastRegistersPerThread = 16;

/// Barriers of a block, which `bar.sync` names by number, on every architecture so far.
inline constexpr int kBarriersPerBlock = 16;

/// Blocks that a kernel may ask to fit a multiprocessor together.
inline constexpr int kMaxOccupancy = 32;

} // namespace tile::ir
