// AllocateShared: applies the resource plan, or reports what needs the memory if it does not fit.
#include "passes/Passes.h"

#include "ir/KnownTarget.h"
#include "ir/UserError.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "passes/analysis/ControlFlow.h"
#include "passes/memory/ResourcePlan.h"

namespace tile::passes {
#define GEN_PASS_DEF_ALLOCATESHARED
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

struct AllocateShared : passes::impl::AllocateSharedBase<AllocateShared> {
  using AllocateSharedBase::AllocateSharedBase;

  void runOnOperation() final {
    FailureOr<ir::Target> found = ir::knownTarget(getOperation(), target);
    if (failed(found) || failed(verifyOneBlock(getOperation())))
      return signalPassFailure();
    ResourcePlan plan(getOperation());
    int64_t begin = llvm::alignTo(firstFreeByte(), plan.alignment()),
            end = begin + plan.sharedBytes();
    if (end > found->maxSharedBytesPerBlock)
      return reportOverflow(plan, end, *found);
    OpBuilder builder(&getContext());
    for (const SharedAllocation &allocation : plan.allocations())
      gpu::SmemAllocOp(allocation.op)
          .setOffsetAttr(builder.getI32IntegerAttr(begin + allocation.offset));
    gpu::setSharedBytes(getOperation(), end);
    if (plan.teamBytes())
      gpu::setTeamBytes(getOperation(), plan.teamBytes());
  }

  // Functions that may be called have memory of their own, one after the other, so that offsets are
  // constants for every caller. They stand before their callers, and passes visit functions in
  // order.
  int64_t firstFreeByte() {
    int64_t bytes = 0;
    for (Operation *before = getOperation()->getPrevNode(); before; before = before->getPrevNode())
      if (before->hasAttr(ir::kCallableAttr))
        bytes = std::max(bytes, gpu::sharedBytesOf(before).value_or(0));
    return bytes;
  }

  void reportOverflow(const ResourcePlan &plan, int64_t bytes, const ir::Target &gpu) {
    InFlightDiagnostic diagnostic =
        ir::userError(getOperation().emitError(), ErrorCode::ResourceExceeded)
        << "shared memory: the kernel needs " << bytes << " bytes a block, " << gpu.name
        << " allows " << gpu.maxSharedBytesPerBlock << "; use smaller tiles";
    if (!plan.allocations().empty())
      diagnostic.attachNote() << "most for " << largestOf(plan.allocations());
    signalPassFailure();
  }

  // "a tile of 128x256 f16 (65536 bytes, matmul.cpp:12), ... and 2 more"
  static std::string largestOf(ArrayRef<SharedAllocation> all) {
    constexpr size_t kListed = 3;
    SmallVector<SharedAllocation> sorted(all);
    llvm::stable_sort(sorted, [](auto &a, auto &b) { return a.bytes > b.bytes; });
    std::string text;
    llvm::raw_string_ostream os(text);
    for (size_t i = 0; i < std::min(kListed, sorted.size()); ++i) {
      auto type = cast<gpu::SmemType>(sorted[i].op->getResult(0).getType());
      os << (i ? ", " : "") << "a tile of ";
      llvm::interleave(type.getShape(), os, "x");
      os << ' ' << type.getElementType() << " (" << sorted[i].bytes << " bytes";
      if (auto line = sorted[i].op->getLoc()->findInstanceOf<FileLineColLoc>())
        os << ", " << line.getFilename().getValue() << ':' << line.getLine();
      os << ')';
    }
    if (sorted.size() > kListed)
      os << " and " << sorted.size() - kListed << " more";
    return text;
  }
};

} // namespace

} // namespace tile::passes
