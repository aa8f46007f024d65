// One launch of a kernel: hands clusters of blocks to host threads, each of which runs its clusters
// warp by warp.
//
// Clusters are handed out in order, or in a random one. With several host threads results stay the
// same as with one: kernels whose blocks communicate through global memory run on a single thread.
// Under the race check the others first run as if each cluster were alone; where one has touched
// what another wrote, or something is to be reported, memory is put back and all run again on a
// single thread. Findings are those of the first faulty cluster.
#pragma once

#include "runtime/vgpu/machine/Cluster.h"
#include "runtime/vgpu/machine/DependentLaunch.h"
#include "runtime/vgpu/machine/LongRun.h"
#include "runtime/vgpu/machine/PageBackup.h"
#include "runtime/vgpu/machine/access/DistinctSectors.h"

#include <exception>
#include <map>
#include <optional>

namespace tile::vgpu {

/// A tensor map in global memory that the kernel has changed. Copies read maps through a proxy of
/// their own, so they need not see the change before a fence.
struct ChangedMap {
  uint32_t changes = 0;
  const Warp *changer = nullptr; // last
  bool isReleased = false;       // by a fence of the changer since
};
using ChangedMaps = std::map<uint64_t, ChangedMap>;

/// The line of an instruction, by Op::instruction.
CodeLocation locationOf(const Program &program, uint32_t instruction);

struct LaunchSetup {
  std::shared_ptr<const Program> program;
  GlobalMemory *memory = nullptr;
  device::LaunchConfig config;
  std::vector<uint8_t> params;
  Checks checks;
  bool counting = false;
  unsigned threads = 1;
  uint64_t seed = 0;
  Schedule schedule = Schedule::Eager;
  uint64_t maxBranches = 0;  // backward branches of a warp until StepLimit
  int64_t noticeSeconds = 0; // until LongRun speaks; 0: never
  device::DeviceProps props;
  std::unique_ptr<GridsInFlight> before; // which it need not wait for; null: all have ended
};

/// The access of a lane of a warp by an operation, in the context of its launch.
Accessor accessorOf(Warp &warp, const Op &op, unsigned lane, AccessKind kind);

class Launch {
public:
  explicit Launch(LaunchSetup setup);
  /// Runs all blocks. Findings of all kinds are in findings() afterwards.
  void run();

  const LaunchSetup &setup() const { return setup_; }
  const Program &program() const { return *setup_.program; }
  const Checks &checks() const { return setup_.checks; }
  GlobalMemory &memory() { return *setup_.memory; }
  const GlobalMemory &memory() const { return *setup_.memory; }
  std::vector<uint8_t> &params() { return setup_.params; }
  uint32_t sharedBytes() const { return sharedBytes_; }
  /// The number of blocks in a cluster.
  uint32_t clusterSize() const { return raceContext_.clusterSize; }
  const Grid &grid() const { return inFlight_->grids.back(); }
  /// "(x,y,z)" of the block of that index in the grid.
  std::string blockText(uint64_t index) const { return textOf(grid().coordinatesOf(index)); }
  /// The grid of a cluster as the race shadow counts them, which may be one of a launch before.
  const Grid &gridOf(uint32_t cluster) const;
  const RaceContext &raceContext() const { return raceContext_; }
  /// griddepcontrol.launch_dependents, by a thread that has waited for the launches before
  /// (griddepcontrol.wait) or has not.
  void startDependents(bool afterGridsBefore);
  /// griddepcontrol.wait, by any thread: the launch ends after those before it.
  void noteWait() { hasWaited_ = true; }
  /// After the launch: what one that depends on it need not wait for; null if it waits for all.
  std::unique_ptr<GridsInFlight> leaveInFlight();
  SyncVariables &globalSync() { return inFlight_->sync; }
  ChangedMaps &changedMaps() { return changedMaps_; }
  /// Those of the first faulty cluster, in the order of time, at most kMaxFindings.
  const std::vector<Finding> &findings() const { return outcome_.findings; }
  /// Null unless counting.
  DistinctSectors *distinctSectors() { return distinctSectors_.get(); }
  /// The counters of the launch, and by Op::instruction (empty unless counting).
  const Counters &counters() const { return outcome_.counters; }
  const std::vector<Counters> &instructionCounters() const { return instructionCounters_; }
  const LaunchStatistics &statistics() const { return outcome_.statistics; }
  /// The bytes of global memory that it has touched, if the race check ran.
  TouchedBytes takeTouched() { return std::move(touched_); }
  /// Keeps a note on the operation's line, which has one at most.
  void note(const Op &op, const std::string &message);
  LongRun &longRun() { return longRun_; }
  /// By Op::instruction.
  const std::map<uint32_t, Note> &notes() const { return outcome_.notes; }

  /// Room for a cluster of blocks; it runs none yet.
  std::unique_ptr<Cluster> makeCluster();
  /// Puts the cluster of that index into its room, before its first operation.
  void begin(Cluster &cluster, uint64_t index);

  /// A finding at an operation: with its line of PTX and of the source, its block, warp and lane.
  Finding findingAt(const Warp &warp, const Op &op, FindingKind kind, unsigned lane,
                    std::string message) const;
  /// The instruction of an operation and its place: "bar.sync in line 12 (a.cpp:5)".
  std::string describe(const Op &op) const;

  static constexpr size_t kMaxFindings = 20;

private:
  /// True if that was the launch; false if it must start again, on one thread.
  bool runApart();
  void runOn(uint64_t threads);
  void startAgain();
  void worker();
  /// The next cluster that may start, or nothing.
  std::optional<uint64_t> takeCluster();
  std::unique_ptr<Cta> makeCta(uint32_t rank);
  void begin(Cta &cta) const;
  void fillSpecials(Warp &warp) const;
  uint64_t specialValue(const Cta &cta, Special what, unsigned warp, unsigned lane) const;
  uint64_t clusterCount() const;
  std::string waitingBlocksText(uint64_t clusters) const;
  void retire(Cluster &cluster);
  void collectCounters(const std::vector<std::unique_ptr<Cluster>> &clusters);

  LaunchSetup setup_;
  uint32_t sharedBytes_ = 0;
  RaceContext raceContext_;
  uint32_t maxResident_ =
      1; // clusters that a host thread keeps in rotation: those may wait for each other
  std::unique_ptr<GridsInFlight> inFlight_; // with the shadow of all clusters together
  enum class Dependents { NotStarted, Started, StartedEarly };
  std::atomic<Dependents> dependents_ = Dependents::NotStarted;
  std::atomic<bool> hasWaited_ = false;
  // While each cluster runs as if it were alone:
  std::unique_ptr<Footprints> footprints_;
  std::unique_ptr<PageBackup> backup_;
  TouchedBytes touched_;
  ChangedMaps changedMaps_;
  uint64_t events_ = 0;         // of all clusters, where blocks talk to each other
  uint64_t effects_ = 0;        // of these, see Cluster::effects
  bool hasFault_ = false;       // something other than a deadlock is to be reported
  std::vector<uint32_t> order_; // in which clusters start; empty: by index
  std::atomic<uint64_t> next_ = 0;
  std::atomic<uint64_t> stopAt_ = ~uint64_t{0}; // clusters from here on are not started
  std::mutex mutex_;
  /// The results of a run. A launch that starts again starts with `{}`.
  struct Outcome {
    std::vector<Finding> findings;
    std::map<uint32_t, Note> notes;
    LaunchStatistics statistics;
    Counters counters;
  };
  Outcome outcome_;
  std::vector<Counters> instructionCounters_; // by Op::instruction; empty unless counting
  std::unique_ptr<DistinctSectors> distinctSectors_;
  std::exception_ptr failure_;
  LongRun longRun_{setup_.noticeSeconds};
};

} // namespace tile::vgpu
