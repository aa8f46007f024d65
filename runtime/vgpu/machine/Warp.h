// The state of a running kernel: Launch > Cluster > Cta > Warp. All of it is plain data, so a warp
// can stop at any instruction and go on later.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/vgpu/check/Checks.h"
#include "runtime/vgpu/check/Clock.h"
#include "runtime/vgpu/check/Races.h"
#include "runtime/vgpu/machine/Counters.h"
#include "runtime/vgpu/machine/MatrixFlight.h"
#include "runtime/vgpu/machine/Memory.h"
#include "runtime/vgpu/machine/Program.h"
#include "runtime/vgpu/machine/ShadowRegisters.h"
#include "runtime/vgpu/machine/async/AsyncCopy.h"
#include "runtime/vgpu/machine/async/BulkGroups.h"
#include "runtime/vgpu/machine/async/Mbarrier.h"
#include "runtime/vgpu/machine/async/TensorMap.h"

#include <array>
#include <atomic>
#include <map>
#include <mutex>

namespace tile::vgpu {

constexpr uint32_t kFullMask = 0xffffffffu;
constexpr uint32_t kNoLimit = 0xffffffffu;
constexpr unsigned kLanes = 32;

struct Cta;
struct Cluster;
class Launch;

/// The state that a lane saved when it called a function it is already in.
struct Activation {
  uint32_t returnTo = 0, call = 0; // an operation; of Program::recursiveCalls
  std::vector<uint64_t> rows, undefined;
  std::vector<uint8_t> local, isValid;
  std::vector<std::vector<Activation>> nested; // those of functions that it was in
};

/// Lanes of a warp; at least one.
struct LaneMask {
  uint32_t bits;
};

/// Thrown to abandon a block after a fault it cannot survive. Never leaves Launch.
struct StopCta {};

/// Lanes that have diverged from the rest, at `pc`. If `waiting`, they wait there for other lanes.
struct Split {
  uint32_t pc, mask;
  bool waiting;
  int8_t barrier = -1; // at which they have arrived on their own; they wait behind it
  uint32_t awaited =
      0; // lanes that the operation needs, which were not about to exit when it was reached
};

enum class WarpStatus : uint8_t { Ready, AtBarrier, AtClusterBarrier, AtMatrix, Exited };

/// The memory barrier whose phase a warp's last test found incomplete.
struct MbarrierWait {
  Cta *owner = nullptr; // null: none
  uint32_t address = 0;
  uint64_t phase = 0; // waited for
};

/// Tells a warp that waits in a loop from one that gets on: its state is compared as long as
/// nothing else changes.
struct LoopWatch {
  uint64_t events = ~uint64_t{0}; // of the cluster when watching began
  uint64_t anchor = 0;            // a hash of the warp's state then, or later
  uint32_t rounds = 0;
  bool repeats = false; // it has been in the same state twice: it waits for an event
};

/// A load that found bytes which nothing has written.
struct UnwrittenLoad {
  const Op *op = nullptr; // null: none has
  Space space = Space::Global;
  uint64_t address = 0;
};

/// The parts of a warp that are made once and used for one block after the other. Containers keep
/// their memory: beginBlock() empties them.
struct WarpBuffers {
  uint8_t *registers = nullptr;
  ShadowRegisters shadow; // empty without the init check
  uint32_t present = 0;   // lanes the block has in this warp
  uint32_t index = 0;
  Cta *cta = nullptr;
  std::vector<Split> splits; // lanes elsewhere
  AsyncCopies copies;
  BulkGroups bulk;
  MatrixFlight flight; // of kernels with wgmma
  /// The change of a tensor map that it acquired last, and when.
  struct AcquiredMap {
    uint32_t change = 0, time = 0;
  };
  std::map<uint64_t, AcquiredMap> acquiredMaps; // by address
  WarpClock clock;
  std::vector<std::vector<Activation>> activations; // [recursion * kLanes + lane]
  std::vector<uint32_t> keptBytes;                  // of a lane's activations, nested ones too
  std::vector<const Op *> timedOut; // waits that have timed out and not succeeded since
};

/// The progress of a warp in its block. A new block starts with `{}`, so that nothing of the last
/// one can be left.
struct WarpState {
  uint32_t mask = 0;         // active lanes
  uint32_t pc = 0;           // of the next operation
  uint32_t limit = kNoLimit; // reaching this pc calls reschedule(): another split waits there
  uint32_t exited = 0;
  int32_t budget = 0;   // backward branches until the warp gives way
  bool waits = false;   // the current split waits for other lanes at `pc`
  uint32_t awaited = 0; // as of the current split
  WarpStatus status = WarpStatus::Ready;
  uint8_t barrier = 0;          // AtBarrier: which
  bool isArrived = false;       // at the cluster's barrier, and has not waited since
  uint64_t clusterPhase = 0;    // AtClusterBarrier: waits for its end
  uint32_t maxRegisters = 0;    // of a thread, by setmaxnreg; 0: as launched
  uint32_t registerChanges = 0; // by setmaxnreg
  const Op *lastRegisterChange = nullptr;
  UnwrittenLoad unwritten; // the last one
  LoopWatch loop;
  MbarrierWait mbarrierWait;
  uint64_t instructions = 0; // of PTX, executed
  uint64_t branches = 0;     // backward ones, up to the last refill of its budget
  uint64_t clockReads = 0;   // readings of %clock: its only source of time
  uint32_t exitedAtWait = 0; // lanes that had exited when all others waited last
  bool givesWay = false;
  bool rotated = false; // the next split is splits.front(), whatever its pc
};

/// A warp runs the lanes of one split at a time. Lanes with the lowest program counter go first;
/// since code is laid out so that loops precede their exits, diverged lanes meet again at the first
/// common block.
struct Warp : WarpBuffers, WarpState {
  template <class T> T *row(uint32_t offset) { return reinterpret_cast<T *>(registers + offset); }
  uint32_t &predicate(uint32_t offset) { return *row<uint32_t>(offset); }
  /// Lanes that have not exited.
  uint32_t live() const { return present & ~exited; }

  /// Starts at the first operation, with nothing left of the block before.
  void beginBlock(const Program &program);
  /// Runs until the warp blocks, exits or has used its budget.
  void run();
  /// Runs likewise for at most `steps` operations.
  void runSteps(uint32_t steps);
  /// Chooses the next split. False: stop running.
  bool reschedule();
  void jump(uint32_t target);
  /// A full budget; what has been used of the last one is counted.
  void refillBudget();
  /// For operations that need `lanes` together: true if they are, else parks the current split at
  /// this operation.
  bool converged(const Op &op, uint32_t lanes);
  /// Ends the turn after the current operation: what it waits for is up to others.
  void giveWay();
  /// The current operation is a barrier at which these lanes have arrived without the others: they
  /// wait behind it.
  void waitApart(uint32_t lanes, uint8_t which);
  /// Blocks at the current operation's end.
  void block(WarpStatus why, uint8_t which);

  /// Records a finding of `op` in a lane, or in several. The same kind in the same line again
  /// counts there.
  void report(const Op &op, FindingKind kind, unsigned lane, const std::string &message);
  void report(const Op &op, FindingKind kind, LaneMask lanes, const std::string &message);
  /// Records a finding that repeats() has not found.
  void report(Finding finding);
  /// True if the block has this finding already, which is then counted: a loop need not build the
  /// same message each time.
  bool repeats(const Op &op, FindingKind kind, LaneMask lanes);
  [[noreturn]] void stop(const Op &op, FindingKind kind, unsigned lane, const std::string &message);
  [[noreturn]] void stop(const Op &op, FindingKind kind, LaneMask lanes,
                         const std::string &message);

private:
  template <bool Counting> void interpret();
  void runCounted(const Op &op);
  bool chooseSplit();
  bool wakeOrReport();
  uint32_t elsewhere(uint32_t lanes) const;
  void reportMissed(const Op &op, uint32_t lanes);
};

/// A named barrier of a block.
struct Barrier {
  uint32_t expected = 0; // threads; 0: no phase is open
  uint32_t arrived = 0;
  uint32_t waiting = 0;  // bitmap of warps
  uint32_t arrivals = 0; // bitmap of warps that arrived, waiting or not
  bool wholeCta = false; // expects all threads that have not exited
  uint32_t popcount = 0; // of bar.red
  bool all = true, any = false;
  ClockSet knowledge; // of all that have arrived
};

/// Four warps that do wgmma together.
struct Warpgroup {
  struct Issue {
    const Op *op = nullptr;
    uint32_t time = 0; // the number of its group, from 1
    uint64_t descriptorA = 0, descriptorB = 0;
    bool accumulates = false, isComputed = false;
    std::vector<uint32_t> metadata; // of a sparse A: [warp][lane]
  };
  const Op *op = nullptr;   // the wgmma at which some wait for the others
  uint32_t arrived = 0;     // of the four
  uint32_t commits[4] = {}; // groups committed by each warp
  uint32_t waited[4] = {};  // and waited for
  unsigned actor =
      0; // its reads of shared memory are ordered by this actor, at the number of their group
  std::vector<Issue> issues;
};

/// The state of one block. The next one starts with `{}`.
struct CtaState {
  uint32_t id[3] = {0, 0, 0};
  uint64_t index = 0; // in the grid, x first
  Barrier barriers[16];
  Mbarriers mbarriers;
  bool hasExited = false;     // its shared memory is gone
  uint32_t freeRegisters = 0; // what setmaxnreg.dec has given back, over all threads
  Counters counters;          // of the block as a whole
  RecentBlocks recent;
  std::vector<Finding> findings;
};

/// One thread block. Reused for the next block by the host thread that owns it.
struct Cta : CtaState {
  Launch *launch = nullptr;
  Cluster *cluster = nullptr;
  uint32_t rank = 0; // in the cluster
  uint32_t threads = 0;
  std::vector<Warp> warps;
  std::vector<uint8_t> shared; // byte 0 is address kSharedBase
  std::vector<uint64_t> sharedValidWords;
  ValidBits sharedValid;
  std::vector<uint8_t> local; // [warp][lane][localBytes]
  std::vector<uint64_t> localValidWords;
  ValidBits localValid;
  std::vector<Warpgroup> warpgroups;
  std::unique_ptr<SharedRaces> races; // only with the race check
  std::vector<Counters>
      instructionCounters; // by Op::instruction, over all blocks of this Cta; empty unless counting
  RecentMaps recentMaps;   // by their bytes, so that they hold for any block
  std::vector<uint8_t> registerBytes;
  ShadowRegisterFile shadowRegisters;

  Counters &countersOf(const Op &op) { return instructionCounters[op.instruction]; }
  /// Its first shared address.
  uint32_t sharedBegin() const { return sharedWindowOf(rank) + kSharedBase; }
  /// Its shared memory; addresses are those of the first window.
  HostBytes sharedBytes() { return {shared.data(), kSharedBase, shared.size()}; }
  uint8_t *sharedHost(uint32_t address, uint64_t bytes) { return sharedBytes().at(address, bytes); }
};

} // namespace tile::vgpu
