// One launch of a kernel: hands blocks to host threads, each of which runs its blocks warp by warp.
//
// Blocks are handed out in order. With several host threads results stay the same as with one, because blocks of a
// kernel that uses global atomics run on a single thread, and findings are those of the first faulty block.
#pragma once

#include "runtime/vgpu/Warp.h"

#include <exception>

namespace tile::vgpu {

struct LaunchSetup {
  std::shared_ptr<const Program> program;
  GlobalMemory *memory = nullptr;
  device::LaunchConfig config;
  std::vector<uint8_t> params;
  Checks checks;
  bool counting = false;
  unsigned threads = 1;
  uint64_t seed = 0;
  uint64_t maxBranches = 0; // backward branches per block until StepLimit
  uint32_t smCount = 1;
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
  std::vector<uint8_t> &params() { return setup_.params; }
  uint32_t sharedBytes() const { return sharedBytes_; }
  /// Those of the first faulty block, in the order of time, at most kMaxFindings.
  const std::vector<Finding> &findings() const { return findings_; }
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
  void worker();
  std::unique_ptr<Cta> makeCta() const;
  void begin(Cta &cta, uint64_t index) const;
  void fillSpecials(Warp &warp) const;
  uint64_t specialValue(const Cta &cta, Special what, unsigned warp, unsigned lane) const;
  /// True when the block is done; false when it has used its turn.
  bool advance(Cta &cta, uint64_t &turns);
  void reportDeadlock(Cta &cta) const;
  void retire(Cta &cta);
  void collectCounters(const std::vector<std::unique_ptr<Cta>> &ctas);

  LaunchSetup setup_;
  uint32_t sharedBytes_ = 0;
  std::atomic<uint64_t> nextCta_ = 0;
  std::atomic<uint64_t> stopAt_ = ~uint64_t{0}; // blocks from here on are not started
  std::mutex mutex_;
  std::vector<Finding> findings_;
  LaunchStatistics statistics_;
  Counters counters_;
  std::vector<Counters> instructionCounters_;
  std::exception_ptr failure_;
};

} // namespace tile::vgpu
