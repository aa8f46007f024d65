// One launch of a kernel: hands clusters of blocks to host threads, each of which runs its clusters warp by warp.
//
// Clusters are handed out in order, or in a random one. With several host threads results stay the same as with one:
// kernels whose blocks communicate through global memory run on a single thread. Under the race check the others first
// run as if each cluster were alone; where clusters have met or something is to be reported, memory is put back and all
// run again on a single thread. Findings are those of the first faulty cluster.
#pragma once

#include "runtime/vgpu/Cluster.h"
#include "runtime/vgpu/DistinctSectors.h"

#include <exception>
#include <map>
#include <optional>

namespace tile::vgpu {

/// Tensor maps in global memory that the kernel has changed, by address. Copies read maps through a proxy of their own.
struct ChangedMap {
  uint32_t changes = 0;
  const Warp *changer = nullptr; // last
  bool isReleased = false;       // by a fence of the changer since
};
using ChangedMaps = std::map<uint64_t, ChangedMap>;

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
  uint64_t maxBranches = 0; // backward branches per block until StepLimit
  device::DeviceProps props;
};

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
  /// Blocks in a cluster.
  uint32_t clusterSize() const { return clusterSize_; }
  /// The index in the grid of a block of a cluster.
  uint64_t blockIndex(uint64_t cluster, uint32_t rank) const;
  /// "(x,y,z)" of a block.
  std::string blockText(uint64_t index) const;
  SyncVariables &globalSync() { return globalSync_; }
  ChangedMaps &changedMaps() { return changedMaps_; }
  /// Those of the first faulty cluster, in the order of time, at most kMaxFindings.
  const std::vector<Finding> &findings() const { return findings_; }
  /// Null unless counting.
  DistinctSectors *distinctSectors() { return distinctSectors_.get(); }
  /// What was counted in all, and by Op::instruction (empty unless counting).
  const Counters &counters() const { return counters_; }
  const std::vector<Counters> &instructionCounters() const { return instructionCounters_; }
  const LaunchStatistics &statistics() const { return statistics_; }

  /// Completes a finding with the place in the PTX and the block.
  Finding place(const Warp &warp, const Op &op, FindingKind kind, unsigned lane,
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
  std::unique_ptr<Cluster> makeCluster();
  std::unique_ptr<Cta> makeCta();
  void begin(Cluster &cluster, uint64_t index);
  void begin(Cta &cta) const;
  void fillSpecials(Warp &warp) const;
  uint64_t specialValue(const Cta &cta, Special what, unsigned warp, unsigned lane) const;
  uint64_t clusterCount() const;
  std::string waitingBlocksText(uint64_t clusters) const;
  void retire(Cluster &cluster);
  void collectCounters(const std::vector<std::unique_ptr<Cluster>> &clusters);

  LaunchSetup setup_;
  uint32_t sharedBytes_ = 0, clusterSize_ = 1;
  uint32_t maxResident_ =
      1; // clusters that a host thread keeps in rotation: those may wait for each other
  std::unique_ptr<GlobalRaces> races_;     // of all clusters together
  std::unique_ptr<Footprints> footprints_; // while each runs as if it were alone
  SyncVariables globalSync_;
  ChangedMaps changedMaps_;
  uint64_t events_ = 0;         // of all clusters, where blocks talk to each other
  std::vector<uint32_t> order_; // in which clusters start; empty: by index
  std::atomic<uint64_t> next_ = 0;
  std::atomic<uint64_t> stopAt_ = ~uint64_t{0}; // clusters from here on are not started
  std::mutex mutex_;
  std::vector<Finding> findings_;
  LaunchStatistics statistics_;
  Counters counters_;
  std::vector<Counters> instructionCounters_;
  std::unique_ptr<DistinctSectors> distinctSectors_;
  std::exception_ptr failure_;
};

} // namespace tile::vgpu
