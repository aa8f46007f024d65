#include "passes/memory/ResourcePlan.h"

#include "ir/annotations/FunctionAnnotations.h"
#include "ir/gpu/SharedAccesses.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tile::passes {

namespace {

// Numbers operations in program order; those in a region lie between the start and the end of their
// parent.
struct ProgramOrder {
  explicit ProgramOrder(func::FuncOp function) { number(function); }
  void number(Operation *op) {
    start[op] = next++;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &child : block)
          number(&child);
    end[op] = next++;
  }
  DenseMap<Operation *, int64_t> start, end;
  int64_t next = 0;
};

} // namespace

// A use in a loop that does not contain the allocation recurs: the whole loop counts.
static Operation *outermostBelow(Operation *user, Block *block) {
  while (user->getBlock() != block)
    user = user->getParentOp();
  return user;
}

// mbarriers that are never invalidated keep their memory to the end.
static bool areBarriersToTheEnd(ArrayRef<Operation *> users) {
  auto has = [&](auto is) { return llvm::any_of(users, is); };
  return has([](Operation *user) { return isa<gpu::MbarrierInitOp>(user); }) &&
         !has([](Operation *user) { return isa<gpu::MbarrierInvalOp>(user); });
}

ResourcePlan::ResourcePlan(func::FuncOp function) {
  ProgramOrder order(function);
  gpu::SharedAccesses accesses = gpu::sharedAccessesOf(function);
  function.walk([&](gpu::SmemAllocOp op) {
    SharedAllocation allocation{op, op.getTotalBytes()};
    allocation.firstUse = order.end[function];
    ArrayRef<Operation *> users = accesses[op];
    for (Operation *user : users) {
      Operation *whole = outermostBelow(user, op->getBlock());
      allocation.firstUse = std::min(allocation.firstUse, order.start[whole]);
      allocation.lastUse = std::max(allocation.lastUse, order.end[whole]);
    }
    if (areBarriersToTheEnd(users))
      allocation.lastUse = order.end[function];
    all_.push_back(allocation);
  });
  int64_t teams = ir::teamsOf(function);
  if (teams == 1) {
    total_ = place([](gpu::SmemAllocOp) { return true; }, 0);
    return;
  }
  teamBytes_ = llvm::alignTo(
      place([](gpu::SmemAllocOp op) { return op.getScope() == gpu::Scope::Team; }, 0), alignment());
  total_ = place([](gpu::SmemAllocOp op) { return op.getScope() == gpu::Scope::Block; },
                 teams * teamBytes_);
}

// Places the largest first, each at the lowest offset from `begin` on that no other living
// allocation covers. Returns the end of the last one.
int64_t ResourcePlan::place(llvm::function_ref<bool(gpu::SmemAllocOp)> isMeant, int64_t begin) {
  int64_t end = begin;
  SmallVector<SharedAllocation *> bySize;
  for (SharedAllocation &allocation : all_)
    if (isMeant(allocation.op))
      bySize.push_back(&allocation);
  llvm::sort(bySize, [](auto *a, auto *b) {
    return std::tuple(-a->bytes, a->firstUse) < std::tuple(-b->bytes, b->firstUse);
  });
  SmallVector<SharedAllocation *> placed;
  for (SharedAllocation *allocation : bySize) {
    llvm::sort(placed, [](auto *a, auto *b) { return a->offset < b->offset; });
    int64_t offset = begin;
    for (SharedAllocation *other : placed)
      if (other->isAliveWith(*allocation) && offset < other->offset + other->bytes &&
          other->offset < offset + allocation->bytes)
        offset = llvm::alignTo(other->offset + other->bytes, allocation->op.getAlignment());
    allocation->offset = offset;
    end = std::max(end, offset + allocation->bytes);
    placed.push_back(allocation);
  }
  return end;
}

} // namespace tile::passes
