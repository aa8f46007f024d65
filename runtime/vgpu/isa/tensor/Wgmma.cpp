// wgmma.mma_async, fence, commit_group, wait_group: who takes part, what is checked, when products are computed.
#include "runtime/vgpu/isa/tensor/Wgmma.h"

#include "runtime/vgpu/isa/tensor/MatrixCheck.h"
#include "runtime/vgpu/isa/tensor/WgmmaForm.h"
#include "runtime/vgpu/machine/Cluster.h"
#include "runtime/vgpu/machine/Launch.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

Warpgroup &groupOf(Warp &warp) { return warp.cta->warpgroups[warp.index / kWarpsOfGroup]; }

void requireUniform(Warp &warp, const Op &op, uint32_t row) {
  const uint64_t *lanes = warp.row<uint64_t>(row);
  uint64_t differences = 0;
  for (unsigned lane = 1; lane < kLanes; ++lane)
    differences |= lanes[lane] ^ lanes[0];
  for (unsigned lane = 1; differences && lane < kLanes; ++lane)
    if (lanes[lane] != lanes[0])
      warp.stop(op, FindingKind::Async, lane,
                "the lanes of the warp have different matrix descriptors");
}

// An element of D is initialised if A's row, B's column and, where it is added to, D's own are.
void trackInit(Warp &warp, const Op &op, const WgmmaForm &form, unsigned position,
               const std::vector<bool> &badRows, const std::vector<bool> &badColumns,
               bool accumulates) {
  bool anyBad = !badColumns.empty() || !badRows.empty();
  auto isBad = [](const std::vector<bool> &rows, unsigned index) {
    return !rows.empty() && rows[index];
  };
  uint32_t badHalves[2] = {0, 0}; // lanes whose row of A is bad, by half
  uint32_t unknown =
      form.isSparse ? metadataLanes(form.sparsity()) & ~warp.shadow.whole(rowOfMetadata(op)) : 0;
  for (unsigned half = 0; half < 2; ++half)
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      unsigned g = lane / 4;
      bool bad = isBad(badRows, position * kRowsOfWarp + g + 8 * half);
      for (unsigned r = half; form.aInRegisters && r < kRegistersOfA; r += 2)
        bad |= (warp.shadow.whole(rowsOfA(op)[r]) >> (4 * g) & 15) != 15;
      bad |= (unknown >> (4 * g) & 15) != 0;
      badHalves[half] |= uint32_t{bad} << lane;
      anyBad |= bad;
    }
  unsigned perRegister = form.sum == SumType::F16 ? 2 : 1;
  for (unsigned r = 0; r < op.targets; ++r) {
    uint32_t good = accumulates ? warp.shadow.whole(op.rows[r]) : kFullMask;
    for (unsigned j = 0; anyBad && j < perRegister; ++j) {
      unsigned v = r * perRegister + j, block = v / 4, i = v % 4;
      good &= ~badHalves[i / 2];
      for (unsigned lane = 0; lane < kLanes; ++lane)
        if (isBad(badColumns, block * kBlockColumns + 2 * (lane % 4) + i % 2))
          good &= ~(1u << lane);
    }
    warp.shadow.set(op.rows[r], good, kFullMask);
  }
}

// The four warps are at the same wgmma.
void issueForAll(Warp &last, const Op &op, Warpgroup &group) {
  Cta &cta = *last.cta;
  Cluster &cluster = *cta.cluster;
  auto form = formOf<WgmmaForm>(op);
  if (group.actor == 0)
    group.actor = cluster.addActor(last, op);
  Warpgroup::Issue issue;
  issue.op = &op;
  issue.time = group.commits[last.index % kWarpsOfGroup] + 1;
  issue.descriptorB = last.row<uint64_t>(rowOfB(op))[0];
  issue.descriptorA = form.aInRegisters ? 0 : last.row<uint64_t>(rowsOfA(op)[0])[0];
  issue.accumulates = last.predicate(rowOfScale(op)) & 1;
  if (form.isSparse)
    readSparsity(cta, group, op, issue);
  std::vector<bool> badRows, badColumns;
  if (!form.aInRegisters)
    badRows = checkMatrix(last, op, wgmmaMatrix(last, op, issue.descriptorA, form.extentOfA()),
                          form.extentOfA(), group.actor, issue.time);
  badColumns = checkMatrix(last, op, wgmmaMatrix(last, op, issue.descriptorB, form.extentOfB()),
                           form.extentOfB(), group.actor, issue.time);
  std::vector<uint32_t> rows;
  if (last.flight.watches())
    rows = matrixRegisters(op);
  for (unsigned position = 0; position < kWarpsOfGroup; ++position) {
    Warp &warp = memberOf(cta, group, position);
    if (warp.shadow)
      trackInit(warp, op, form, position, badRows, badColumns, issue.accumulates);
    if (warp.flight.watches())
      warp.flight.issue(op, issue.time, rows);
    warp.status = WarpStatus::Ready;
  }
  group.issues.push_back(issue);
  // Neighbours in the program are computed together: the warps do nothing in between.
  bool isLast = (&op + 1)->real != runWgmma;
  Schedule schedule = cta.launch->setup().schedule;
  if ((schedule == Schedule::Eager && isLast) ||
      (schedule == Schedule::Random && cluster.choices.oneIn(2)))
    computeUpTo(cta, group, issue.time);
  group.op = nullptr;
  group.arrived = 0;
  ++*cluster.events, ++*cluster.effects;
}

// The registers of a wgmma must have been fenced since they were touched; this reports the first that was not.
void checkRegisters(Warp &warp, const Op &op) {
  if (!warp.cta->launch->checks().async)
    return;
  for (uint32_t row : matrixRegisters(op))
    if (warp.flight.isTouched(row)) {
      warp.report(op, FindingKind::Async, 0,
                  "a register of this wgmma has been touched since the last wgmma.fence: "
                  "wgmma.fence must stand between them");
      warp.flight.fence();
      return;
    }
}

void checkPartner(Warp &warp, const Op &op, Warpgroup &group) {
  Cta &cta = *warp.cta;
  if ((warp.index / kWarpsOfGroup + 1) * kWarpsOfGroup > cta.warps.size())
    warp.stop(op, FindingKind::Divergence, 0, "wgmma needs a warpgroup of four whole warps");
  if (group.op && group.op != &op)
    warp.stop(op, FindingKind::Divergence, 0,
              "the warps of a warpgroup are at different instructions: another is at " +
                  cta.launch->describe(*group.op));
  for (unsigned position = 0; position < kWarpsOfGroup; ++position)
    if (group.arrived >> position & 1 &&
        group.commits[position] != group.commits[warp.index % kWarpsOfGroup])
      warp.stop(op, FindingKind::Divergence, 0,
                "the warps of a warpgroup have committed different numbers of groups");
  const Warp *other = nullptr;
  for (unsigned position = 0; position < kWarpsOfGroup; ++position)
    if (group.arrived >> position & 1)
      other = &memberOf(cta, group, position);
  auto differs = [&](uint32_t row) {
    return const_cast<Warp *>(other)->row<uint64_t>(row)[0] != warp.row<uint64_t>(row)[0];
  };
  auto form = formOf<WgmmaForm>(op);
  if (other && (differs(rowOfB(op)) || (!form.aInRegisters && differs(rowsOfA(op)[0]))))
    warp.stop(op, FindingKind::Async, 0,
              "the warps of a warpgroup have different matrix descriptors");
}

bool isWhole(Warp &warp, const Op &op) {
  if (!warp.converged(op, kFullMask))
    return false;
  if (warp.mask != kFullMask)
    warp.stop(op, FindingKind::Divergence, LaneMask{warp.mask},
              "wgmma needs all 32 lanes of the warp");
  return true;
}

} // namespace

void runWgmma(Warp &warp, const Op &op) {
  if (!isWhole(warp, op))
    return;
  Warpgroup &group = groupOf(warp);
  checkPartner(warp, op, group);
  checkRegisters(warp, op);
  requireUniform(warp, op, rowOfB(op));
  if (!formOf<WgmmaForm>(op).aInRegisters)
    requireUniform(warp, op, rowsOfA(op)[0]);
  group.op = &op;
  group.arrived |= 1u << warp.index % kWarpsOfGroup;
  if (group.arrived == (1u << kWarpsOfGroup) - 1)
    issueForAll(warp, op, group);
  else
    warp.block(WarpStatus::AtMatrix, 0);
}

void runWgmmaFence(Warp &warp, const Op &op) {
  if (isWhole(warp, op) && warp.flight.watches())
    warp.flight.fence();
}

void runWgmmaCommit(Warp &warp, const Op &op) {
  if (isWhole(warp, op))
    ++groupOf(warp).commits[warp.index % kWarpsOfGroup];
}

void runWgmmaWait(Warp &warp, const Op &op) {
  if (!isWhole(warp, op))
    return;
  Warpgroup &group = groupOf(warp);
  uint32_t committed = group.commits[warp.index % kWarpsOfGroup];
  auto keep = static_cast<uint32_t>(op.imm);
  uint32_t done = committed > keep ? committed - keep : 0;
  computeUpTo(*warp.cta, group, done);
  warp.flight.land(done);
  if (group.actor)
    warp.clock.current.own.ordered.raise(group.actor, done);
  // Issues that all four warps have waited for are not needed any more.
  group.waited[warp.index % kWarpsOfGroup] =
      std::max(group.waited[warp.index % kWarpsOfGroup], done);
  uint32_t all = *std::ranges::min_element(group.waited);
  std::erase_if(group.issues, [&](const Warpgroup::Issue &issue) {
    return issue.isComputed && issue.time <= all;
  });
}

Warp &memberOf(Cta &cta, const Warpgroup &group, unsigned position) {
  return cta.warps[static_cast<size_t>(&group - cta.warpgroups.data()) * kWarpsOfGroup + position];
}

SharedMatrix wgmmaMatrix(Warp &warp, const Op &op, uint64_t descriptor,
                         const MatrixExtent &extent) {
  std::string fault;
  std::optional<SharedMatrix> matrix = decodeSharedMatrix(descriptor, extent, fault);
  if (!matrix)
    warp.stop(op, FindingKind::Async, 0, fault);
  return *matrix;
}

std::vector<uint32_t> matrixRegisters(const Op &op) {
  if (op.real != runWgmma)
    return {};
  std::vector<uint32_t> rows(op.rows, op.rows + op.targets);
  if (formOf<WgmmaForm>(op).aInRegisters)
    rows.insert(rows.end(), rowsOfA(op), rowsOfA(op) + kRegistersOfA);
  return rows;
}

void finishMatrices(Warp &warp) { computeUpTo(*warp.cta, groupOf(warp), ~0u); }

} // namespace tile::vgpu
