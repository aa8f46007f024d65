// The numbers of the time model: what a multiprocessor, L2 and DRAM of one card do in how long. No
// other file of the model has any; docs/time.md says what each mechanism is.
//
// A calibration is a text file, a number a line: `name = value unit  # source`.
// bench/time/calibrate.py makes the one of the H100 from measured rows. It is part of the library;
// TILE_TIME_CALIBRATION names another file.
#pragma once

#include "runtime/vgpu/machine/cost/TimeForm.h"

#include <array>
#include <string>
#include <string_view>

namespace tile::vgpu {

/// Cycles of one scheduler: how long an instruction keeps its pipe, and until its result is there.
struct PipeCost {
  double occupancy = 1, latency = 0;
};

/// Units are part of the names in the file: cycles where they say none.
struct Calibration {
  struct {
    double smPortGbs, smPeakBytes; ///< of one SM: sustained; bytes a cycle of one copy alone
    double gpcGbs;                 ///< lines that are distinct inside their GPC, over the whole GPU
    double blend;                  ///< exponent by which both limits become one
    double sharing;    ///< 0: all lines count as distinct, to see what the mechanism is worth
    double capacityMb; ///< what is kept of lines read by all SMs
    double dirtyMb;    ///< lines left by a flush that writes: their write-back comes first
    double absorbedMb; ///< written at the end of a kernel and still in L2
  } l2;
  struct {
    double gbs;
    double burst;        ///< times its fair share that one SM may get
    double blend;        ///< exponent: time of the SM and time of the whole DRAM
    double queueLatency; ///< share of a load's latency that follows its turn in the queue
  } dram;
  struct {
    double l2Gbs, smBytes, burst;
    double partialSector;    ///< cost of a sector that is written in part
    double queue, dramQueue; ///< how far stores may be ahead of what takes them
    double exitNs;           ///< a block that stored holds its place for that long
  } store;
  struct {
    double read, done, wait;
  } bulkStore;
  struct {
    double dramNs, l2Ns, l1, l1Kb, queue;
  } load;
  double atomicNs;
  struct {
    double latency, leastShare; ///< of its cycles that wgmma leaves to others
  } shared;
  double shuffleLatency;
  struct {
    double dramNs, l2Ns;
    double coldShared;        ///< share of the difference where others load the same lines
    double coldLoads, window; ///< in steps of loads
    double occupancy, issue, start, storeIssue;
  } tma;
  double bulkDramNs;
  struct {
    double latency, cost;
  } multicast;
  struct {
    double wake, wakeNext, tryWait, arrive, arriveIssue, remote, releaseCluster, releaseIssue,
        acquireCluster;
  } mbarrier;
  struct {
    double base, warp, arriveIssue, cluster, syncwarp;
  } barrier;
  struct {
    double proxy, block, gpu;
  } fence;
  double asyncCopyWait, setmaxnreg;
  struct {
    double fence, start, tail, tailRegisters, wait, queue, greedy, perColumn;
    double least8, least16, least24, least32, leastRegisters16;
  } tensor;
  struct { ///< while the tensor core of the scheduler works
    double fmaIssue, alu, mufu, mufuIssue;
  } besideTensor;
  struct {
    double occupancy, occupancyK8, latency, queue;
  } mma;
  struct {
    double taken, notTaken;
  } branch;
  struct {
    double launchNs, handover, handoverShared;
  } block;
  double launchUs; ///< between two events around a kernel that does nothing
  struct {
    double maxGhz, minGhz, load, heat, heatUs;
  } clock;
  struct {
    double sms, smsOfClusters, smsOfGpc;
    double barriers; ///< named ones of a multiprocessor
  } device;

  std::array<PipeCost, kCosts> costs; ///< by Cost
  std::string name;                   ///< of the card: "h100-sxm"
  std::string version, data;          ///< of the file; what it was made from

  const PipeCost &operator[](Cost cost) const { return costs[static_cast<size_t>(cost)]; }
};

/// The pipe of instructions of a cost.
Pipe pipeOf(Cost cost);
/// "tensor", "alu", ...
const char *nameOf(Pipe pipe);

/// Reads a calibration. Throws Parse, naming `name` and the line, for a line that is none or a name
/// that is not known or comes twice, and where a number is missing.
Calibration parseCalibration(std::string_view text, const std::string &name);
/// Sets one number: "l2.capacity_mb". Throws InvalidArgument for a name that is not known.
void setNumber(Calibration &calibration, std::string_view name, double value);
/// That of the file which TILE_TIME_CALIBRATION names, else the library's.
const Calibration &defaultCalibration();

} // namespace tile::vgpu
