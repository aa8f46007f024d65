// Reading calibrations: the table of names, and what follows from the numbers.
#include "runtime/vgpu/time/Calibration.h"

#include "base/Environment.h"
#include "base/ReadFile.h"
#include "runtime/vgpu/time/H100.h"

#include <tile/Error.h>

#include <charconv>
#include <set>

namespace tile::vgpu {
namespace {

struct NumberRow {
  std::string_view name;
  double &(*in)(Calibration &);
};

constexpr NumberRow kNumbers[] = {
    {"l2.sm_port_gbs", [](Calibration &c) -> double & { return c.l2.smPortGbs; }},
    {"l2.sm_peak_bytes", [](Calibration &c) -> double & { return c.l2.smPeakBytes; }},
    {"l2.gpc_gbs", [](Calibration &c) -> double & { return c.l2.gpcGbs; }},
    {"l2.blend", [](Calibration &c) -> double & { return c.l2.blend; }},
    {"l2.sharing", [](Calibration &c) -> double & { return c.l2.sharing; }},
    {"device.barriers", [](Calibration &c) -> double & { return c.device.barriers; }},
    {"l2.capacity_mb", [](Calibration &c) -> double & { return c.l2.capacityMb; }},
    {"l2.dirty_mb", [](Calibration &c) -> double & { return c.l2.dirtyMb; }},
    {"l2.absorbed_mb", [](Calibration &c) -> double & { return c.l2.absorbedMb; }},
    {"dram.gbs", [](Calibration &c) -> double & { return c.dram.gbs; }},
    {"dram.burst", [](Calibration &c) -> double & { return c.dram.burst; }},
    {"dram.blend", [](Calibration &c) -> double & { return c.dram.blend; }},
    {"dram.queue_latency", [](Calibration &c) -> double & { return c.dram.queueLatency; }},
    {"store.l2_gbs", [](Calibration &c) -> double & { return c.store.l2Gbs; }},
    {"store.sm_bytes", [](Calibration &c) -> double & { return c.store.smBytes; }},
    {"store.burst", [](Calibration &c) -> double & { return c.store.burst; }},
    {"store.partial_sector", [](Calibration &c) -> double & { return c.store.partialSector; }},
    {"store.queue", [](Calibration &c) -> double & { return c.store.queue; }},
    {"store.dram_queue", [](Calibration &c) -> double & { return c.store.dramQueue; }},
    {"store.exit_ns", [](Calibration &c) -> double & { return c.store.exitNs; }},
    {"bulk_store.read", [](Calibration &c) -> double & { return c.bulkStore.read; }},
    {"bulk_store.done", [](Calibration &c) -> double & { return c.bulkStore.done; }},
    {"bulk_store.wait", [](Calibration &c) -> double & { return c.bulkStore.wait; }},
    {"load.dram_ns", [](Calibration &c) -> double & { return c.load.dramNs; }},
    {"load.l2_ns", [](Calibration &c) -> double & { return c.load.l2Ns; }},
    {"load.l1", [](Calibration &c) -> double & { return c.load.l1; }},
    {"load.l1_kb", [](Calibration &c) -> double & { return c.load.l1Kb; }},
    {"load.queue", [](Calibration &c) -> double & { return c.load.queue; }},
    {"atomic.ns", [](Calibration &c) -> double & { return c.atomicNs; }},
    {"shared.latency", [](Calibration &c) -> double & { return c.shared.latency; }},
    {"shared.least_share", [](Calibration &c) -> double & { return c.shared.leastShare; }},
    {"shuffle.latency", [](Calibration &c) -> double & { return c.shuffleLatency; }},
    {"tma.dram_ns", [](Calibration &c) -> double & { return c.tma.dramNs; }},
    {"tma.l2_ns", [](Calibration &c) -> double & { return c.tma.l2Ns; }},
    {"tma.cold_shared", [](Calibration &c) -> double & { return c.tma.coldShared; }},
    {"tma.cold_loads", [](Calibration &c) -> double & { return c.tma.coldLoads; }},
    {"tma.window", [](Calibration &c) -> double & { return c.tma.window; }},
    {"tma.occupancy", [](Calibration &c) -> double & { return c.tma.occupancy; }},
    {"tma.issue", [](Calibration &c) -> double & { return c.tma.issue; }},
    {"tma.start", [](Calibration &c) -> double & { return c.tma.start; }},
    {"tma.store_issue", [](Calibration &c) -> double & { return c.tma.storeIssue; }},
    {"bulk.dram_ns", [](Calibration &c) -> double & { return c.bulkDramNs; }},
    {"multicast.latency", [](Calibration &c) -> double & { return c.multicast.latency; }},
    {"multicast.cost", [](Calibration &c) -> double & { return c.multicast.cost; }},
    {"mbarrier.wake", [](Calibration &c) -> double & { return c.mbarrier.wake; }},
    {"mbarrier.wake_next", [](Calibration &c) -> double & { return c.mbarrier.wakeNext; }},
    {"mbarrier.try", [](Calibration &c) -> double & { return c.mbarrier.tryWait; }},
    {"mbarrier.arrive", [](Calibration &c) -> double & { return c.mbarrier.arrive; }},
    {"mbarrier.arrive_issue", [](Calibration &c) -> double & { return c.mbarrier.arriveIssue; }},
    {"mbarrier.remote", [](Calibration &c) -> double & { return c.mbarrier.remote; }},
    {"mbarrier.release_cluster",
     [](Calibration &c) -> double & { return c.mbarrier.releaseCluster; }},
    {"mbarrier.release_issue", [](Calibration &c) -> double & { return c.mbarrier.releaseIssue; }},
    {"mbarrier.acquire_cluster",
     [](Calibration &c) -> double & { return c.mbarrier.acquireCluster; }},
    {"barrier.base", [](Calibration &c) -> double & { return c.barrier.base; }},
    {"barrier.warp", [](Calibration &c) -> double & { return c.barrier.warp; }},
    {"barrier.arrive_issue", [](Calibration &c) -> double & { return c.barrier.arriveIssue; }},
    {"barrier.cluster", [](Calibration &c) -> double & { return c.barrier.cluster; }},
    {"barrier.syncwarp", [](Calibration &c) -> double & { return c.barrier.syncwarp; }},
    {"fence.proxy", [](Calibration &c) -> double & { return c.fence.proxy; }},
    {"fence.block", [](Calibration &c) -> double & { return c.fence.block; }},
    {"fence.gpu", [](Calibration &c) -> double & { return c.fence.gpu; }},
    {"async_copy.wait", [](Calibration &c) -> double & { return c.asyncCopyWait; }},
    {"setmaxnreg.cycles", [](Calibration &c) -> double & { return c.setmaxnreg; }},
    {"tensor.fence", [](Calibration &c) -> double & { return c.tensor.fence; }},
    {"tensor.start", [](Calibration &c) -> double & { return c.tensor.start; }},
    {"tensor.tail", [](Calibration &c) -> double & { return c.tensor.tail; }},
    {"tensor.tail_registers", [](Calibration &c) -> double & { return c.tensor.tailRegisters; }},
    {"tensor.wait", [](Calibration &c) -> double & { return c.tensor.wait; }},
    {"tensor.queue", [](Calibration &c) -> double & { return c.tensor.queue; }},
    {"tensor.greedy", [](Calibration &c) -> double & { return c.tensor.greedy; }},
    {"tensor.per_column", [](Calibration &c) -> double & { return c.tensor.perColumn; }},
    {"tensor.least_n8", [](Calibration &c) -> double & { return c.tensor.least8; }},
    {"tensor.least_n16", [](Calibration &c) -> double & { return c.tensor.least16; }},
    {"tensor.least_n24", [](Calibration &c) -> double & { return c.tensor.least24; }},
    {"tensor.least_n32", [](Calibration &c) -> double & { return c.tensor.least32; }},
    {"tensor.least_registers_n16",
     [](Calibration &c) -> double & { return c.tensor.leastRegisters16; }},
    {"beside_tensor.fma_issue", [](Calibration &c) -> double & { return c.besideTensor.fmaIssue; }},
    {"beside_tensor.alu", [](Calibration &c) -> double & { return c.besideTensor.alu; }},
    {"beside_tensor.mufu", [](Calibration &c) -> double & { return c.besideTensor.mufu; }},
    {"beside_tensor.mufu_issue",
     [](Calibration &c) -> double & { return c.besideTensor.mufuIssue; }},
    {"mma.occupancy", [](Calibration &c) -> double & { return c.mma.occupancy; }},
    {"mma.occupancy_k8", [](Calibration &c) -> double & { return c.mma.occupancyK8; }},
    {"mma.latency", [](Calibration &c) -> double & { return c.mma.latency; }},
    {"mma.queue", [](Calibration &c) -> double & { return c.mma.queue; }},
    {"branch.taken", [](Calibration &c) -> double & { return c.branch.taken; }},
    {"branch.not_taken", [](Calibration &c) -> double & { return c.branch.notTaken; }},
    {"block.launch_ns", [](Calibration &c) -> double & { return c.block.launchNs; }},
    {"block.handover", [](Calibration &c) -> double & { return c.block.handover; }},
    {"block.handover_shared", [](Calibration &c) -> double & { return c.block.handoverShared; }},
    {"launch.us", [](Calibration &c) -> double & { return c.launchUs; }},
    {"clock.max_ghz", [](Calibration &c) -> double & { return c.clock.maxGhz; }},
    {"clock.min_ghz", [](Calibration &c) -> double & { return c.clock.minGhz; }},
    {"clock.load", [](Calibration &c) -> double & { return c.clock.load; }},
    {"clock.heat", [](Calibration &c) -> double & { return c.clock.heat; }},
    {"clock.heat_us", [](Calibration &c) -> double & { return c.clock.heatUs; }},
    {"device.sms", [](Calibration &c) -> double & { return c.device.sms; }},
    {"device.sms_of_clusters", [](Calibration &c) -> double & { return c.device.smsOfClusters; }},
    {"device.sms_of_gpc", [](Calibration &c) -> double & { return c.device.smsOfGpc; }},
};

// The costs of instructions: the names of both numbers, and the pipe. Several share their numbers;
// `times`: as often as those of the name.
struct CostRow {
  Cost cost;
  Pipe pipe;
  std::string_view occupancy, latency;
  double times = 1;
};

constexpr CostRow kCostRows[] = {
    {Cost::Fma, Pipe::Fma, "fma", "fma"},
    {Cost::Double, Pipe::Fma, "fma", "fma", 2},
    {Cost::Alu, Pipe::Alu, "alu", "alu"},
    {Cost::AluWide, Pipe::Alu, "alu_wide", "alu_wide"},
    {Cost::Predicate, Pipe::Alu, "predicate", "predicate"},
    {Cost::Compare, Pipe::Alu, "setp", "setp"},
    {Cost::CompareWide, Pipe::Alu, "alu_wide", "setp"},
    {Cost::BitField, Pipe::Alu, "bit_insert", "bit_insert"},
    {Cost::Convert, Pipe::Alu, "convert", "convert"},
    {Cost::Pack, Pipe::Alu, "f32_pack", "f32_pack"},
    {Cost::SpecialRegister, Pipe::Alu, "alu", "special_register"},
    {Cost::Product, Pipe::Imad, "imad", "imad"},
    {Cost::ProductLong, Pipe::Imad, "imad_64", "imad_64"},
    {Cost::ProductWide, Pipe::Imad, "imad_wide", "imad_wide"},
    {Cost::Division, Pipe::Alu, "divide", "divide"},
    {Cost::DivisionLong, Pipe::Alu, "divide", "divide", 2},
    {Cost::DivisionByConstant, Pipe::Alu, "divide_constant", "divide_constant"},
    {Cost::DivisionByConstantLong, Pipe::Alu, "divide_constant", "divide_constant"},
    {Cost::Function, Pipe::Mufu, "mufu", "mufu"},
    {Cost::Logarithm, Pipe::Mufu, "logarithm", "logarithm"},
    {Cost::RoundedRoot, Pipe::Mufu, "reciprocal_exact", "reciprocal_exact"},
    {Cost::FloatQuotient, Pipe::Mufu, "float_divide", "float_divide"},
    {Cost::Shuffle, Pipe::Memory, "", ""}, // its latency is the engine's
    {Cost::Vote, Pipe::Alu, "alu", "vote"},
    {Cost::Elect, Pipe::Alu, "alu", "elect"},
    {Cost::MapRank, Pipe::Alu, "alu", "mapa"},
    {Cost::Branch, Pipe::Branch, "", ""},
    {Cost::Exit, Pipe::Branch, "", ""},
    {Cost::Issue, Pipe::Sync, "", ""},
};

std::string_view trimmed(std::string_view text) {
  size_t begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos)
    return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// Sets what has this name; false if nothing has.
bool assign(Calibration &calibration, std::string_view name, double value) {
  bool isKnown = false;
  for (const NumberRow &row : kNumbers)
    if (row.name == name) {
      row.in(calibration) = value;
      isKnown = true;
    }
  size_t dot = name.rfind('.');
  if (dot == name.npos)
    return isKnown;
  std::string_view stem = name.substr(0, dot), field = name.substr(dot + 1);
  for (const CostRow &row : kCostRows) {
    PipeCost &cost = calibration.costs[static_cast<size_t>(row.cost)];
    if (field == "occupancy" && row.occupancy == stem) {
      cost.occupancy = value * row.times;
      isKnown = true;
    }
    if (field == "latency" && row.latency == stem) {
      cost.latency = value * row.times;
      isKnown = true;
    }
  }
  return isKnown;
}

std::set<std::string> allNames() {
  std::set<std::string> names;
  for (const NumberRow &row : kNumbers)
    names.insert(std::string(row.name));
  for (const CostRow &row : kCostRows) {
    if (!row.occupancy.empty())
      names.insert(std::string(row.occupancy) + ".occupancy");
    if (!row.latency.empty())
      names.insert(std::string(row.latency) + ".latency");
  }
  return names;
}

// Reads line by line; what has been set so far is in `missing` no more.
class Reader {
public:
  Reader(std::string_view text, const std::string &name) : text_(text), missing_(allNames()) {
    calibration_.name = name;
  }

  Calibration read() {
    while (!text_.empty()) {
      size_t end = std::min(text_.find('\n'), text_.size());
      ++line_;
      readLine(text_.substr(0, end));
      text_.remove_prefix(std::min(end + 1, text_.size()));
    }
    if (!missing_.empty())
      refuse("the calibration has no '" + *missing_.begin() + "'");
    return std::move(calibration_);
  }

private:
  void readLine(std::string_view line) {
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty())
      return;
    size_t equals = line.find('=');
    if (equals == line.npos)
      refuse("expected 'name = value unit', found '" + std::string(line) + "'");
    std::string name(trimmed(line.substr(0, equals)));
    std::string_view value = trimmed(line.substr(equals + 1));
    if (name == "version" || name == "data") {
      (name == "data" ? calibration_.data : calibration_.version) = value;
      return;
    }
    double number = 0;
    auto [next, fault] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (fault != std::errc())
      refuse("'" + std::string(value) + "' is no number");
    if (!assign(calibration_, name, number))
      refuse("the time model has no number '" + name + "'");
    if (!missing_.erase(name))
      refuse("'" + name + "' is set twice");
  }

  [[noreturn]] void refuse(const std::string &why) const {
    throw Error(Fault::User, ErrorCode::Parse, why, {calibration_.name.c_str(), line_});
  }

  std::string_view text_;
  Calibration calibration_{};
  std::set<std::string> missing_;
  int line_ = 0;
};

Calibration readDefault() {
  std::string path = base::environmentText("TILE_TIME_CALIBRATION");
  if (path.empty())
    return parseCalibration(kH100Calibration, "h100-sxm");
  return parseCalibration(base::readFile(path), path);
}

} // namespace

Pipe pipeOf(Cost cost) {
  for (const CostRow &row : kCostRows)
    if (row.cost == cost)
      return row.pipe;
  return Pipe::None;
}

const char *nameOf(Pipe pipe) {
  static constexpr const char *names[] = {"none",   "fma",    "alu",  "imad",      "mufu",
                                          "memory", "tensor", "sync", "bulk copy", "branch"};
  static_assert(std::size(names) == kPipes);
  return names[static_cast<size_t>(pipe)];
}

Calibration parseCalibration(std::string_view text, const std::string &name) {
  return Reader(text, name).read();
}

void setNumber(Calibration &calibration, std::string_view name, double value) {
  if (!assign(calibration, name, value))
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "the time model has no number '" + std::string(name) + "'");
}

const Calibration &defaultCalibration() {
  static const Calibration calibration = readDefault();
  return calibration;
}

} // namespace tile::vgpu
