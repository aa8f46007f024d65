// The blocks that run together: one, unless the launch asks for clusters. A cluster is what a host
// thread works on.
#pragma once

#include "runtime/vgpu/check/Races.h"
#include "runtime/vgpu/machine/Cycle.h"
#include "runtime/vgpu/machine/Schedule.h"
#include "runtime/vgpu/machine/Warp.h"
#include "runtime/vgpu/machine/async/AsyncQueue.h"

namespace tile::vgpu {

/// The result of a cluster's turn.
enum class TurnEnd : uint8_t {
  Done,  // all blocks have ended
  Turn,  // it has run long enough; others may
  Stuck, // nothing in it can change anything: only another cluster could
};

/// barrier.cluster: arrival and wait are separate, and every thread of the cluster takes part in
/// each phase.
struct ClusterBarrier {
  uint64_t phase = 0;   // completed phases
  uint32_t arrived = 0; // threads
  ClockSet arriving, completed;
};

/// The state of one cluster. The next one starts with `{}`.
struct ClusterState {
  uint32_t index = 0;
  uint32_t actors = 0; // of its clocks: warps, then whatever completes asynchronous work
  ClusterBarrier barrier;
  uint32_t quietRounds = 0; // in which no event came
  CycleWatch cycle;
};

struct Cluster : ClusterState {
  Cluster() = default;
  Cluster(const Cluster &) = delete;
  Cluster &operator=(const Cluster &) = delete;

  Launch *launch = nullptr;
  std::vector<std::unique_ptr<Cta>> ctas;
  SyncVariables sync;                          // of shared memory
  std::unique_ptr<GlobalRaces> ownGlobalRaces; // where it runs as if it were alone
  GlobalRaces *globalRaces = nullptr; // its own or the launch's; null without the race check
  Choices choices;
  AsyncQueue async;
  /// Counts whatever a waiting warp might be waiting for: writes, arrivals, completions, exits. Of
  /// the whole launch where blocks talk to each other.
  uint64_t *events = nullptr;
  uint64_t ownEvents = 0;
  /// Of the events, those that reach beyond registers, shared memory and its barriers, or are not
  /// over with the instruction.
  uint64_t *effects = nullptr;
  uint64_t ownEffects = 0;

  /// Runs warps until all have exited, or `mayPause` and it has run for a while.
  TurnEnd advance(bool mayPause);
  /// A new actor of the clocks. Stops the block when there are too many.
  unsigned addActor(Warp &warp, const Op &op);
  /// The number of backward branches of its warps, up to the last refill of each one's budget.
  uint64_t branches() const;
  /// Reports a deadlock in the first warp that waits: what each warp waits for, then `more`.
  void reportDeadlock(const std::string &more = {});

private:
  bool runRound(bool &allExited);
  bool runRandomly(bool &allExited);
  void runWarp(Warp &warp, uint32_t steps);
  void watch(Warp &warp);
  /// Gives warps turns, unless the cluster only goes round. False if nothing will change.
  bool runTurn(bool &allExited);
  void checkExit(Warp &warp);
  void checkInFlight(const Cta &cta);
  void drain();
};

} // namespace tile::vgpu
