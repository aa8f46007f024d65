// The watch over registers in flight: operations that touch them wait for the products, and are reported.
#include "runtime/vgpu/isa/tensor/Wgmma.h"
#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/MatrixFlight.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace tile::vgpu {
namespace {

// A move of a register; constants are values like others.
bool isMove(const Program &program, const Op &op) {
  return op.targets == 1 && op.sources == 1 && op.rows[1] < program.staticRowsBegin &&
         program.lines[op.instruction].traits & kCopiesRegister;
}

void reportFlight(Warp &warp, const Op &op, uint32_t row) {
  const Op *holder = warp.flight.holder(row);
  if (warp.cta->launch->checks().async && holder)
    warp.report(op, FindingKind::Async, LaneMask{warp.mask},
                "touches a register that " + warp.cta->launch->describe(*holder) +
                    " still works on: wgmma.wait_group must come first");
}

void runWatched(Warp &warp, const Op &op) {
  std::span<const uint32_t> rows(op.rows, size_t{op.targets} + op.sources);
  const Program &program = warp.cta->launch->program();
  bool moves = isMove(program, op);
  auto flying =
      std::ranges::find_if(rows, [&](uint32_t row) { return warp.flight.isInFlight(row); });
  if (flying != rows.end()) {
    finishMatrices(warp);
    if (!moves)
      reportFlight(warp, op, *flying);
  }
  program.watched[static_cast<size_t>(&op - program.code.data())](warp, op);
  if (moves)
    warp.flight.rename(rows[0], rows[1]);
  else
    for (uint32_t row : rows)
      warp.flight.touch(row);
}

} // namespace

void watchMatrixRegisters(Program &program) {
  std::unordered_set<uint32_t> watched;
  for (const Op &op : program.code)
    for (uint32_t row : matrixRegisters(op))
      watched.insert(row);
  // Copies of accumulators are watched as well, and copies of copies.
  for (bool grows = !watched.empty(); grows;) {
    grows = false;
    for (const Op &op : program.code)
      if (isMove(program, op) && watched.contains(op.rows[1]) != watched.contains(op.rows[0])) {
        watched.insert(op.rows[0]);
        watched.insert(op.rows[1]);
        grows = true;
      }
  }
  program.watched.resize(program.code.size());
  for (size_t i = 0; i < program.code.size(); ++i) {
    Op &op = program.code[i];
    if (!matrixRegisters(op).empty())
      continue;
    std::span<const uint32_t> rows(op.rows, size_t{op.targets} + op.sources);
    if (std::ranges::any_of(rows, [&](uint32_t row) { return watched.contains(row); }))
      program.watched[i] = std::exchange(op.run, runWatched);
  }
}

} // namespace tile::vgpu
