// setmaxnreg: warps of a block hand registers to each other.
#include "runtime/vgpu/machine/WarpRegisters.h"

#include "runtime/vgpu/machine/Cluster.h"
#include "runtime/vgpu/machine/Lanes.h"
#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/OpForm.h"

namespace tile::vgpu {
namespace {

constexpr uint32_t kRegistersOfSm = 65536, kWarpsOfGroup = 4;

// The registers of a thread at the launch, as the assembler finds them: .maxnreg, or an equal share
// of the register file where .minnctapersm says that it is to be shared. 0: it cannot tell, and
// ignores setmaxnreg.
uint32_t launchedRegisters(const Warp &warp) {
  const Function &entry = *warp.cta->launch->program().entry;
  if (entry.maxRegisters)
    return entry.maxRegisters;
  const uint32_t(&threads)[3] = entry.requiredThreads[0] ? entry.requiredThreads : entry.maxThreads;
  uint64_t all = uint64_t{threads[0]} * threads[1] * threads[2] * entry.minBlocksPerSm;
  return all ? static_cast<uint32_t>(std::min<uint64_t>(255, kRegistersOfSm / all)) /
                   kRegisterStep * kRegisterStep
             : 0;
}

uint32_t presentRegisters(const Warp &warp) {
  return warp.maxRegisters ? warp.maxRegisters : launchedRegisters(warp);
}

void noteChange(Warp &warp, const Op &op) {
  warp.lastRegisterChange = &op;
  ++warp.registerChanges;
}

} // namespace

void setRegisters(Warp &warp, const Op &op) {
  if (!warp.converged(op, kFullMask))
    return;
  if (warp.mask != warp.live() && warp.cta->launch->checks().sync)
    warp.stop(op, FindingKind::Divergence, LaneMask{warp.mask},
              "only " + std::to_string(std::popcount(warp.mask)) + " of " +
                  std::to_string(std::popcount(warp.live())) + " lanes execute setmaxnreg");
  auto wanted = static_cast<uint32_t>(op.imm);
  uint32_t present = presentRegisters(warp);
  if (present == 0) {
    warp.cta->launch->note(op, "setmaxnreg changes nothing, here and to the assembler: the kernel "
                               "says neither .maxnreg nor "
                               ".minnctapersm with .maxntid or .reqntid");
    noteChange(warp, op);
    return;
  }
  auto lane = static_cast<unsigned>(std::countr_zero(warp.mask));
  bool isIncrease = formOf<RegisterChange>(op).isIncrease;
  if (isIncrease &&
      wanted < present) { // blocks of few threads begin with more than their consumers ask for
    warp.cta->launch->note(op, "setmaxnreg.inc to " + std::to_string(wanted) +
                                   " changes nothing: a thread has " + std::to_string(present));
    noteChange(warp, op);
    return;
  }
  if (!isIncrease && wanted > present)
    warp.stop(op, FindingKind::Barrier, lane,
              "setmaxnreg.dec to " + std::to_string(wanted) + " while a thread has " +
                  std::to_string(present));
  uint32_t &free = warp.cta->freeRegisters;
  if (isIncrease) {
    uint32_t more = (wanted - present) * kLanes;
    if (more > free) { // until others have given back enough
      warp.pc -= 1;
      warp.giveWay();
      return;
    }
    free -= more;
  } else {
    free += (present - wanted) * kLanes;
    ++*warp.cta->cluster->events, ++*warp.cta->cluster->effects;
  }
  warp.maxRegisters = wanted;
  noteChange(warp, op);
}

void checkRegisterChanges(Warp &warp) {
  uint32_t first = warp.index / kWarpsOfGroup * kWarpsOfGroup;
  std::vector<Warp> &warps = warp.cta->warps;
  for (uint32_t i = first; i < std::min<size_t>(first + kWarpsOfGroup, warps.size()); ++i) {
    Warp &other = warps[i];
    if (other.status != WarpStatus::Exited || other.registerChanges == warp.registerChanges)
      continue;
    Warp &more = other.registerChanges > warp.registerChanges ? other : warp;
    more.report(*more.lastRegisterChange, FindingKind::Divergence, 0,
                "setmaxnreg is for whole warpgroups: warp " + std::to_string(warp.index) +
                    " executed it " + std::to_string(warp.registerChanges) + " times, warp " +
                    std::to_string(other.index) + " " + std::to_string(other.registerChanges) +
                    " times");
    return;
  }
}

std::string registerWaitText(const Warp &warp, const Op &op) {
  if (op.real != setRegisters || !formOf<RegisterChange>(op).isIncrease)
    return {};
  uint32_t more = (static_cast<uint32_t>(op.imm) - presentRegisters(warp)) * kLanes;
  return " for " + std::to_string(more) + " registers, of which " +
         std::to_string(warp.cta->freeRegisters) + " are free";
}

} // namespace tile::vgpu
