// What was decided about a kernel and what it costs by a model, read off dialect tilegpu. Without MLIR, so that tools
// print it as they like.
#pragma once

#include "codegen/compiled/CompiledKernel.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tile::codegen {

/// A line of the user's source; line 0 if it is not known.
struct SourceLine {
  std::string file;
  int line = 0;
  auto operator<=>(const SourceLine &) const = default;
};

/// What the warp-wide accesses of one copy touch in global memory, if all elements are in bounds and each row of the
/// tile begins at a 32-byte sector.
struct GlobalTraffic {
  int64_t accesses = 0;  ///< warp-wide instructions of a block; of TMA, boxes
  int64_t usedBytes = 0; ///< distinct bytes each of them needs, summed
  int64_t sectors =
      0; ///< sectors of 32 bytes each of them touches, summed; the most of them if not all is known
  int64_t leastSectors = 0; ///< the same if all that may be neighbours is
  bool isKnown() const { return sectors == leastSectors; }
  double efficiency() const;     ///< what is used of `sectors`
  double mostEfficiency() const; ///< of `leastSectors`
};

/// An access of global memory by a whole tile.
struct CopyReport {
  SourceLine where;
  std::string kind;        ///< "load", "store", "atomic add", "atomic compare and swap"
  std::string tile, dtype; ///< "128x32", "f16"
  std::string variant;
  int64_t blocks = 1;               ///< of a cluster, each of which loads a share for all
  std::vector<std::string> refused; ///< why better variants were not taken
  int64_t vectorElements = 1, vectorBytes = 0;
  std::vector<std::string>
      checks; ///< per dimension of a view: "none", "whole tile", "each element"; else "mask", "none"
  GlobalTraffic traffic;
};

/// A matrix product.
struct ProductReport {
  SourceLine where;
  int64_t batch = 1, m = 0, n = 0, k = 0;
  std::string operands, accumulator; ///< dtypes
  std::string variant;
  std::vector<std::string> refused;
  int64_t warpRows = 0, warpColumns = 0; ///< how the warps share the result; 0 if not said
  /// Neighbours along K that a lane loads straight into registers; 0 if it does not.
  int64_t kWidth = 0;
};

/// A loop whose loads run ahead, or were asked to.
struct LoopReport {
  SourceLine where;
  int64_t stagesAsked = 0;   ///< 0: the kernel does not say
  int64_t stages = 1;        ///< fills of its shared memory in use at once
  std::string reason;        ///< why it has so many
  bool skewed = false;       ///< dots that depend on loads alone run an iteration ahead of the rest
  std::string whyNotSkewed;  ///< if the kernel asks for it in vain
  bool hasProducer = false;  ///< a producer warp loads
  std::string whyNoProducer; ///< if the kernel asks for one in vain
  int64_t barriers = 0;      ///< per iteration, those of inner loops left out
  std::optional<int64_t>
      groupsInFlight{}; ///< of copies, while an iteration waits for its own; nothing if it waits for none
  bool waitsForTma = false; ///< an iteration waits for what TMA copies
  bool isOrdered =
      false; ///< warpgroups issue their dots in a fixed order, or teams alternate tiles
  int64_t dotsInFlight = 0; ///< by wgmma, at a wait of an iteration
};

/// A tile that moves to another layout.
struct LayoutChange {
  SourceLine where;
  std::string tile, dtype;
  std::string plan;    ///< "register permutation", "shuffles", "shared memory", "no instructions"
  std::string purpose; ///< "change of layout", "partial results of a reduction"
  int64_t shuffles = 0, sharedBytes = 0;
  std::string from{}, to{}; ///< layouts
};

/// One transfer of a whole tile to or from shared memory.
struct SharedTransfer {
  SourceLine where;
  std::string kind; ///< "load" and "store", from and to registers; "copy" from global memory
  std::string tile, dtype;
  std::string instruction{}; ///< "ldmatrix.x4", "16-byte store", "16-byte cp.async"
  int64_t instructions = 0, idealWavefronts = 0, actualWavefronts = 0;
  int64_t conflicts() const { return actualWavefronts - idealWavefronts; }
};

struct BarrierReport {
  SourceLine where;
  std::string reason;
};

/// Bytes of shared memory with a life of their own.
struct AllocationReport {
  SourceLine where, firstUse, lastUse;
  int64_t bytes = 0, offset = 0; ///< of all stages
  int64_t stages = 1;            ///< tiles it has room for
  int64_t teams = 1;             ///< that have one each; this is the first one's
  std::string tile, dtype, purpose;
  std::vector<std::string> filledBy, readBy; ///< by what; empty of exchanges between registers
  int64_t begin = 0, end = 0; ///< the live range in program order, both ends included
};

/// What a thread needs of registers, by an estimate.
struct RegisterReport {
  std::string who; ///< "a thread", "a thread that computes", "a thread that fills rings"
  int64_t needed = 0, expected = 0, limit = 0; ///< see RegisterEstimate
  SourceLine where;                            ///< where most are in use
  std::string operation; ///< that is carried out there; empty if there is none
};

/// What one execution of a region does, inner loops and branches left out: the kernel itself, an iteration of a loop, an arm of
/// a branch.
struct WorkScope {
  enum class Kind : uint8_t { Program, Loop, Branch };
  SourceLine where;
  Kind kind = Kind::Program;
  int parent = -1;                     ///< index of the scope around it; -1 for the kernel
  std::optional<int64_t> iterations;   ///< of this loop, where constant; 1 for the kernel
  std::map<std::string, double> flops; ///< by unit, see Roofline.h
  int64_t bytesRead = 0, bytesWritten = 0;
  std::optional<double> executions; ///< in what KernelReport::launch is of, where that is known
  double totalFlops() const;
  int64_t totalBytes() const { return bytesRead + bytesWritten; }
};

/// What a whole launch does, or of a kernel whose arguments are not known one program, if that is the same whatever they are.
struct LaunchWork {
  std::string unknown;     ///< why the rest is not known; empty if it is
  bool isOfLaunch = false; ///< else of one program
  bool isEstimate = false; ///< some programs were followed and stand for all
  double programs = 0;
  std::map<std::string, double> flops; ///< by unit
  /// By instructions and copies, elements outside their tensors left out; and the same with each byte counted once.
  double bytesRead = 0, bytesWritten = 0, distinctRead = 0, distinctWritten = 0;
  std::vector<std::string>
      atMost; ///< what was not known, so that there may be fewer bytes: "where it lies at a.cpp:3"
  double distinctBytes() const { return distinctRead + distinctWritten; }
};

/// For each line of a stage's text the source line it stands for.
struct StageLines {
  Stage stage = Stage::Tile;
  std::vector<SourceLine> lines;
};

/// All lists are in program order. What fills stages of shared memory before a loop is left out: the loop's own fills, as
/// many as it has iterations, stand for it.
struct KernelReport {
  SourceLine where;
  int64_t warps = 0, sharedBytes = 0;
  int64_t teams = 1;         ///< of so many warps each
  int64_t producerWarps = 0; ///< that only load, beside the others
  int64_t cluster = 1;       ///< blocks that carry out a program
  std::vector<CopyReport> copies;
  std::vector<ProductReport> products;
  std::vector<LoopReport> loops;
  std::vector<LayoutChange> layoutChanges;
  std::vector<SharedTransfer> sharedTransfers;
  std::vector<BarrierReport> barriers;
  std::vector<AllocationReport> allocations;
  std::vector<RegisterReport> registers; ///< one a role
  int64_t reportedRegisters = 0;         ///< what an assembler is expected to report of them
  std::vector<WorkScope> work;           ///< the kernel first
  LaunchWork launch;
  std::vector<StageLines> stageLines; ///< of the stages in MLIR
};

} // namespace tile::codegen
