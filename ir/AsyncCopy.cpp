#include "ir/AsyncCopy.h"

#include "ir/Annotations.h"
#include "ir/LayoutAttr.h"
#include "ir/LayoutOp.h"
#include "ir/layout/Derived.h"
#include "ir/layout/SharedAccess.h"

using namespace mlir;

namespace tile::gpu {

namespace {

constexpr int64_t kFewestBytes = 4;

// The longest run, at most `most`, such that registers r to r + run - 1 are neighbours in every group for each multiple
// r of the run.
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

} // namespace

std::optional<AsyncCopyPlan> planAsyncCopy(Operation *access, ArrayRef<int64_t> shape,
                                           SmemType memory, int64_t warps) {
  auto tile = RankedTensorType::get(shape, memory.getElementType());
  AsyncCopyPlan plan;
  plan.inView = layoutOf(shape, coalescedLayout(access, tile, warps));
  auto inMemory = layout::reshape(plan.inView, layout::Shape(memory.getShape()));
  if (!inMemory)
    return std::nullopt;
  plan.inMemory = *inMemory;
  AccessAttr known = accessOf(access);
  int64_t bytes = bytesOf(memory.getElementType());
  int32_t inRow = plan.inView.consecutiveElements(known.getOrder()[0]);
  int32_t most = std::min<int32_t>(inRow, known.getVector());
  plan.elements = commonRun(
      layout::vectorGroups(plan.inMemory, sharedOf(memory), static_cast<int>(bytes)), most);
  if (plan.elements * bytes < kFewestBytes)
    return std::nullopt;
  return plan;
}

} // namespace tile::gpu
