#include "passes/pipelining/analysis/RingSweeps.h"

#include "ir/UserError.h"
#include "ir/gpu/TileGpuDialect.h"

using namespace mlir;

namespace tile::passes {

namespace {

/// Operations that one check may follow: some seconds.
constexpr int64_t kMostSteps = 20'000'000;

bool acquiresFills(scf::ForOp loop) {
  return llvm::any_of(*loop.getBody(),
                      [](Operation &op) { return isa<gpu::ProducerAcquireOp>(op); });
}

// The operations that the longest simulation of a sweep follows in a block; more than kMostSteps
// are not told apart.
int64_t stepsOf(Block &block, const RingSweep &sweep) {
  int64_t steps = 0;
  for (Operation &op : block) {
    ++steps;
    auto loop = dyn_cast<scf::ForOp>(op);
    int64_t times = !loop ? 1 : touchesRings(loop) ? sweep.iterationsOf(loop, sweep.most) : 0;
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        if (times && steps <= kMostSteps)
          steps += times * stepsOf(inner, sweep);
  }
  return std::min(steps, kMostSteps + 1);
}

bool areFew(func::FuncOp function, ArrayRef<RingSweep> sweeps) {
  int64_t steps = 0;
  for (const RingSweep &sweep : sweeps)
    steps += (sweep.most + 1) * stepsOf(function.getBody().front(), sweep);
  return steps <= kMostSteps;
}

} // namespace

bool touchesRings(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        bool touches = llvm::any_of(inner->getOperandTypes(),
                                    [](Type type) { return isa<gpu::RingType>(type); });
        return touches ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

int64_t RingSweep::iterationsOf(scf::ForOp loop, int64_t iterations) const {
  bool isVaried = acquiresFills(loop) && (!varied || varied == loop);
  return isVaried ? iterations : std::min<int64_t>(iterations, 2);
}

FailureOr<SmallVector<RingSweep>> sweepsOf(func::FuncOp function) {
  int32_t stages = 0;
  function.walk([&](gpu::RingAllocOp ring) {
    stages = std::max(stages, ring.getRing().getType().getStages());
  });
  if (!stages)
    return SmallVector<RingSweep>();
  int64_t most = 2 * stages + 1;
  SmallVector<RingSweep> together = {{most, scf::ForOp()}}, apart;
  if (areFew(function, together))
    return together;
  function.walk([&](scf::ForOp loop) {
    if (acquiresFills(loop))
      apart.push_back({most, loop});
  });
  if (!apart.empty() && areFew(function, apart))
    return apart;
  return ir::userError(function.emitError(), ErrorCode::ResourceExceeded)
         << "rings of " << stages
         << " stages in loops that are nested so deep cannot be verified; ask for fewer stages";
}

} // namespace tile::passes
