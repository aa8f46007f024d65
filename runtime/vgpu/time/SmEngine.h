// One multiprocessor by events. A warp runs ahead while it is the earliest; each unit is a time at
// which it is free again.
//
// Values come from the slice (Slice.cpp) by the interpreter's handlers, times from the calibration.
// Warps that wait are woken by what they wait for, so nothing spins.
#pragma once

#include "runtime/vgpu/machine/BarrierForm.h"
#include "runtime/vgpu/time/SmMemory.h"
#include "runtime/vgpu/time/SmReport.h"
#include "runtime/vgpu/time/Supply.h"

#include <map>
#include <queue>

namespace tile::vgpu {

struct EngineBlock;

/// What a warp of the engine has beside its lanes.
struct EngineWarp {
  EngineWarp(const TimedProgram &program, Warp &warp, EngineBlock &block)
      : lanes(program, warp), block(block), scheduler(warp.index % kSchedulers),
        ready(program.rowCount()) {}

  static constexpr unsigned kSchedulers = 4;

  TimedWarp lanes;
  EngineBlock &block;
  unsigned scheduler;
  std::vector<double> ready; ///< by row: when its value is there
  double next = 0;           ///< when it may issue again
  bool isBlocked = false, hasEnded = false, hasStored = false;
  double blockedSince = 0;
  uint32_t lastOp = 0;
  uint64_t branches = 0;           ///< that it took
  std::vector<double> wgmmaGroups; ///< the ends of those committed
  double wgmmaEnd = 0;             ///< of all issued
  struct BulkGroup {
    double read, done;
  };
  std::vector<BulkGroup> bulkGroups;
  double bulkRead = 0;            ///< when all stores so far have been read
  std::vector<double> copyGroups; ///< of cp.async
  double copiesEnd = 0;
};

/// An mbarrier, by arrivals, bytes and the parity of its phase.
struct EngineMbarrier {
  int64_t count = 0, pending = 0, bytes = 0;
  unsigned parity = 0;
  struct Waiter {
    EngineWarp *warp;
    uint32_t lanes;
    unsigned parity; ///< of the phase it waits for
  };
  std::vector<Waiter> waiters;
};

/// Threads that have come to a named barrier, and warps that wait there.
struct EngineBarrier {
  uint64_t arrived = 0;
  std::vector<EngineWarp *> waiters;
};

struct EngineBlock {
  std::unique_ptr<Cluster> room;
  Cta *cta = nullptr;
  std::vector<std::unique_ptr<EngineWarp>> warps;
  unsigned live = 0;
  uint64_t fetches = 0; ///< of work
  std::map<uint32_t, EngineMbarrier> mbarriers;
  std::array<EngineBarrier, kNumBarriers> barriers;
  std::vector<EngineBarrier> warpgroups;
};

/// The state and the conditions of a run.
struct SmConditions {
  double clockGhz = 1.755;
  bool isDirty = false; ///< L2 holds lines that were written before the kernel
};

class SmEngine {
public:
  SmEngine(TimedLaunch &launch, const Footprint &footprint, const Supply &supply,
           const SmConditions &conditions);

  /// Runs blocks; `all`: how many the multiprocessor gets, of which those that are not run are
  /// alike.
  SmReport run(std::vector<uint64_t> turns, uint64_t all);

private:
  enum class EventKind : uint8_t { Run, BytesArrive, RemoteArrival, BlockEnds };
  struct Event {
    double time;
    uint64_t order;
    EventKind kind;
    EngineWarp *warp = nullptr;
    EngineBlock *block = nullptr;
    uint32_t address = 0;
    int64_t bytes = 0;
    bool operator<(const Event &other) const {
      return std::pair(time, order) > std::pair(other.time, other.order);
    }
  };
  /// An instruction about to be issued.
  struct Issue {
    EngineWarp &warp;
    size_t split;
    uint32_t pc, lanes; ///< active ones
    const TimedOp &op;
    double time;
    double ready;        ///< of its results
    bool stays = false;  ///< the split is where it is to go on
    bool blocks = false; ///< the warp waits for somebody
  };

  // Blocks.
  void startBlock(double now);
  void endBlock(EngineBlock &block, double now);
  void handle(const Event &event);
  void push(double time, EventKind kind, EngineWarp *warp, EngineBlock *block = nullptr,
            uint32_t address = 0, int64_t bytes = 0);
  SmReport finish(uint64_t allBlocks);
  [[noreturn]] void reportDeadlock() const;
  /// Throws where a warp takes too many branches to come to an end.
  void countBranch(const Issue &issue) const;

  // One warp: SmEngineIssue.cpp
  void run(EngineWarp &warp, double now);
  std::optional<size_t> chooseSplit(EngineWarp &warp, double now);
  double earliest(const EngineWarp &warp, const TimedOp &op, double now) const;
  double readyOf(const EngineWarp &warp, const TimedOp &op) const;
  void noteStall(uint32_t pc, Stall reason, double cycles);
  void noteWait(const EngineWarp &warp, const TimedOp &op, uint32_t pc, double now, double until);
  bool issue(EngineWarp &warp, size_t split, double &now);
  void passFree(EngineWarp &warp, size_t split, double ready);
  double occupy(const EngineWarp &warp, const TimedOp &op, double time);
  void perform(Issue &issue);
  void end(EngineWarp &warp, double now);
  void exitLanes(Issue &issue);
  void block(EngineWarp &warp, double now);
  void wake(EngineWarp &warp, double now, double at, Stall reason);
  /// An operand of the first active lane.
  static uint64_t operand(const Issue &issue, unsigned row);

  // SmEngineMemory.cpp
  void loadGlobal(Issue &issue);
  void storeGlobal(Issue &issue);
  void accessShared(Issue &issue);
  void exchange(Issue &issue);
  void copyAsync(Issue &issue);
  void waitForCopies(Issue &issue);
  void fetchWork(Issue &issue);
  double throughMemoryPipe(const Issue &issue, double cycles);
  double besideWgmma(const Issue &issue, double cycles) const;
  std::vector<uint64_t> sectorsOf(const Issue &issue) const;
  double fetchSectors(double now, const std::vector<uint64_t> &sectors, bool passesL1);

  // SmEngineBulk.cpp
  void loadBox(Issue &issue);
  void loadRange(Issue &issue);
  void storeBulk(Issue &issue);
  void waitForBulk(Issue &issue);
  double startBulk(Issue &issue, double issueCycles);

  // SmEngineSync.cpp
  void syncBarrier(Issue &issue);
  void releaseBarrier(EngineBarrier &barrier, double now);
  void initMbarrier(Issue &issue);
  void arriveAtMbarrier(Issue &issue);
  void waitForMbarrier(Issue &issue);
  void complete(EngineBlock &block, uint32_t address, double now);
  double fenceCycles(const TimeForm &form) const;

  // SmEngineTensor.cpp
  void issueWgmma(Issue &issue);
  void fenceWgmma(Issue &issue);
  void waitForWgmma(Issue &issue);
  void multiply(Issue &issue);
  double tensorReady(const EngineWarp &warp, const TimedOp &op, double time, double now) const;

  TimedLaunch &launch_;
  const TimedProgram &program_;
  const Calibration &calibration_;
  const Footprint &footprint_;
  const Supply &supply_;
  SmConditions conditions_;
  SmMemory memory_;
  L1Sectors l1_;
  std::unordered_set<uint64_t> seen_; // sectors
  unsigned activeSms_;

  std::priority_queue<Event> events_;
  uint64_t order_ = 0;
  std::vector<uint64_t> turns_; // of the blocks of this multiprocessor
  size_t nextTurn_ = 0;
  std::vector<std::unique_ptr<EngineBlock>> blocks_;
  std::vector<std::unique_ptr<Cluster>> rooms_; // that are free
  std::vector<double> blockEnds_;
  double lastLaunch_ = -1e9, end_ = 0;
  size_t nextLoad_ = 0; // of the footprint

  struct Scheduler {
    double free = 0;
    std::array<double, kPipes> pipes{};
    double tensorFree = 0, wgmmaUntil = 0;
    std::deque<double> wgmmaStarts;
    const EngineWarp *owner = nullptr; // of the group of wgmma that is open
    double ownedSince = 0;
  };
  std::array<Scheduler, EngineWarp::kSchedulers> schedulers_;
  double memoryFree_ = 0, bulkFree_ = 0;
  double wgmmaShare_ = 0; // of the cycles of shared memory that the last wgmma takes
  SmReport report_;
};

} // namespace tile::vgpu
