#include "ir/instructions/AsyncCopy.h"

#include "ir/LayoutAttr.h"
#include "ir/LayoutOp.h"
#include "ir/annotations/AccessAnnotations.h"
#include "ir/layout/Derived.h"
#include "ir/layout/SharedAccess.h"

using namespace mlir;

namespace tile::gpu {

namespace {

constexpr int64_t kFewestBytes = 4;

// The longest run, at most `most`, such that registers r to r + run - 1 are neighbours in every
// group for each multiple r of the run.
int32_t commonRun(ArrayRef<layout::VectorGroup> groups, int32_t most) {
  int32_t run = std::min<int32_t>(most, static_cast<int32_t>(groups.front().size()));
  auto isWhole = [&](const layout::VectorGroup &group) {
    for (size_t i = 0; i < group.size(); ++i)
      if (group[i] != group[i / run * run] + static_cast<int32_t>(i % run) ||
          group[i / run * run] % run)
        return false;
    return true;
  };
  while (run > 1 && !llvm::all_of(groups, isWhole))
    run /= 2;
  return run;
}

// The plan of a copy by vectors of at most `vector` elements.
std::optional<AsyncCopyPlan> planWith(AccessAttr known, int64_t vector, ArrayRef<int64_t> shape,
                                      SmemType memory, int64_t warps) {
  AsyncCopyPlan plan;
  plan.inView =
      layout::Layout::coalesced(layout::Shape(shape), known.getOrder().vec(), vector, warps);
  auto inMemory = layout::reshape(plan.inView, layout::Shape(memory.getShape()));
  if (!inMemory)
    return std::nullopt;
  plan.inMemory = *inMemory;
  int64_t bytes = bytesOf(memory.getElementType());
  int32_t inRow = plan.inView.consecutiveElements(known.getOrder()[0]);
  int32_t most = std::min<int32_t>(inRow, static_cast<int32_t>(vector));
  plan.elements = commonRun(
      layout::vectorGroups(plan.inMemory, sharedOf(memory), static_cast<int>(bytes)), most);
  return plan;
}

} // namespace

// Shared memory may keep fewer elements together than the view: then the threads are dealt out
// anew, so that neighbours among them still copy neighbours.
std::optional<AsyncCopyPlan> planAsyncCopy(Operation *access, ArrayRef<int64_t> shape,
                                           SmemType memory, int64_t warps) {
  AccessAttr known = accessOf(access);
  auto plan = planWith(known, known.getVector(), shape, memory, warps);
  if (plan && plan->elements < known.getVector())
    plan = planWith(known, plan->elements, shape, memory, warps);
  if (!plan || plan->elements * bytesOf(memory.getElementType()) < kFewestBytes)
    return std::nullopt;
  return plan;
}

} // namespace tile::gpu
