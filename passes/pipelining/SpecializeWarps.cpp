// SpecializeWarps: a producer warp fills the rings of loops that ask for one, the consumer warps do
// the rest.
//
//   body    becomes    warp_specialize consumers { the rest } producer { the fills }
//
// The producer's region gets the fills, the loops and branches around them, and the scalars that
// these depend on; the consumers' region gets everything but the fills and what only they need.
// Both use the kernel's shared memory. Only mbarriers order the two roles: *full*, which counts
// bytes, and *empty*, at which each consumer warp releases a stage. The roles synchronize once per
// run, after those are initialized. `setmaxnreg` applies to a whole warpgroup, so the producer role
// has four warps, of which three end at once.
#include "passes/Passes.h"

#include "ir/KnownTarget.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/annotations/LoopAnnotations.h"
#include "ir/gpu/WarpRoles.h"
#include "ir/instructions/TensorCopy.h"
#include "passes/analysis/ControlFlow.h"
#include "passes/pipelining/analysis/RoleSlice.h"
#include "passes/pipelining/analysis/WarpRoles.h"
#include "passes/registers/RegisterEstimate.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tile::passes {
#define GEN_PASS_DEF_SPECIALIZEWARPS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

/// The producer needs an address per TMA box. Up to kFewBoxes always fit in the fewest registers
/// that it can keep, up to kMostBoxes usually; beyond that it keeps more (gpu::ProducerRegisters).
constexpr int64_t kMostBoxes = 12, kFewBoxes = 8;

/// Indices of the regions: consumers have the lower warp numbers.
constexpr unsigned kConsumers = 0, kProducer = 1;

bool isFill(Operation *op) {
  auto elect = dyn_cast<gpu::ElectOp>(op);
  return elect && elect.getScope() == gpu::Scope::Block;
}

bool isOfBothRoles(Operation *op) {
  auto barrier = dyn_cast<gpu::BarrierOp>(op);
  return barrier &&
         (barrier.getScope() == gpu::Scope::Block || barrier.getScope() == gpu::Scope::Cluster);
}

bool isForProducer(Operation *op) { return isFill(op) || isOfBothRoles(op); }

int64_t boxesOf(Operation *fill) {
  int64_t boxes = 0;
  fill->walk([&](gpu::TensorCopyOp copy) {
    if (auto plan =
            gpu::planTensorCopy(copy, copy.getView(), copy.getShape(), copy.getSmem().getType()))
      boxes += static_cast<int64_t>(plan->boxes.size());
  });
  return boxes;
}

void visitOperations(Block &block, llvm::function_ref<void(Operation *)> visit) {
  for (Operation &op : block.without_terminator())
    if (isa<scf::ForOp, scf::IfOp>(op))
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          visitOperations(inner, visit);
    else
      visit(&op);
}

class RoleWriter {
public:
  RoleWriter(OpBuilder &b, const RoleSlice &slice) : b_(b), slice_(slice) {}

  void write(Block &block) {
    for (Operation &op : block.without_terminator())
      if (slice_.contains(&op) && !isa<gpu::SmemAllocOp>(op)) // the roles share it
        write(&op);
  }

private:
  void write(Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      writeLoop(loop);
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      writeBranch(branch);
    else if (auto number = dyn_cast<ir::ByRoleOp>(op))
      values_.map(number.getResult(), values_.lookupOrDefault(slice_.takenFrom(number)));
    else
      b_.clone(*op, values_);
  }

  void writeLoop(scf::ForOp loop) {
    SmallVector<OpResult> carried = carriedOf(loop);
    SmallVector<Value> initial, yielded;
    for (OpResult result : carried)
      initial.push_back(values_.lookupOrDefault(loop.getTiedLoopInit(result)->get()));
    auto copy = scf::ForOp::create(b_, loop.getLoc(), values_.lookupOrDefault(loop.getLowerBound()),
                                   values_.lookupOrDefault(loop.getUpperBound()),
                                   values_.lookupOrDefault(loop.getStep()), initial, nullptr,
                                   loop.getUnsignedCmp());
    copy->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    if (carried.empty())
      copy.getBody()->getTerminator()->erase();
    values_.map(loop.getInductionVar(), copy.getInductionVar());
    for (auto [result, variable] : llvm::zip_equal(carried, copy.getRegionIterArgs()))
      values_.map(loop.getTiedLoopRegionIterArg(result), variable);
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToEnd(copy.getBody());
    write(*loop.getBody());
    for (OpResult result : carried)
      yielded.push_back(values_.lookupOrDefault(loop.getYieldedValues()[result.getResultNumber()]));
    scf::YieldOp::create(b_, loop.getLoc(), yielded);
    for (auto [result, value] : llvm::zip_equal(carried, copy.getResults()))
      values_.map(result, value);
  }

  void writeBranch(scf::IfOp branch) {
    SmallVector<OpResult> results = carriedOf(branch);
    SmallVector<Type> types;
    for (OpResult result : results)
      types.push_back(result.getType());
    auto copy = scf::IfOp::create(
        b_, branch.getLoc(), types, values_.lookupOrDefault(branch.getCondition()),
        /*addThenBlock=*/true, /*addElseBlock=*/!branch.getElseRegion().empty());
    if (results.empty() && branch.getNumResults() == 0)
      copy->setDiscardableAttrs(branch->getDiscardableAttrDictionary());
    for (auto [from, to] : llvm::zip_equal(branch.getRegions(), copy.getRegions()))
      if (!from->empty())
        writeArm(from->front(), to->front(), results);
    for (auto [result, value] : llvm::zip_equal(results, copy.getResults()))
      values_.map(result, value);
  }

  void writeArm(Block &from, Block &to, ArrayRef<OpResult> results) {
    if (to.mightHaveTerminator())
      to.getTerminator()->erase();
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToEnd(&to);
    write(from);
    SmallVector<Value> yielded;
    for (OpResult result : results)
      yielded.push_back(
          values_.lookupOrDefault(from.getTerminator()->getOperand(result.getResultNumber())));
    scf::YieldOp::create(b_, from.getTerminator()->getLoc(), yielded);
  }

  SmallVector<OpResult> carriedOf(Operation *op) const {
    return llvm::filter_to_vector(op->getResults(),
                                  [&](OpResult result) { return slice_.carries(result); });
  }

  OpBuilder &b_;
  const RoleSlice &slice_;
  IRMapping values_;
};

class WarpSpecializer {
public:
  WarpSpecializer(func::FuncOp kernel, const ir::Target &target)
      : kernel_(kernel), target_(target), body_(kernel.getBody().front()), b_(kernel),
        loc_(kernel.getLoc()),
        consumerWarps_(static_cast<int32_t>(ir::warpsOf(kernel) * ir::teamsOf(kernel))) {}

  LogicalResult specialize() {
    if (consumerWarps_ % gpu::kProducerWarps ||
        consumerWarps_ + gpu::kProducerWarps > gpu::kMostWarps)
      return kernel_.emitError("a producer needs consumers in whole warpgroups, at most ")
             << gpu::kMostWarps - gpu::kProducerWarps << " warps, got " << consumerWarps_;
    SmallVector<Operation *> fills, rest;
    visitOperations(body_, [&](Operation *op) {
      if (isForProducer(op))
        fills.push_back(op);
      if (isFill(op))
        boxesOfFill_ = std::max(boxesOfFill_, boxesOf(op));
      isOfCluster_ |=
          isOfBothRoles(op) && cast<gpu::BarrierOp>(op).getScope() == gpu::Scope::Cluster;
      if (!isFill(op) && !wouldOpBeTriviallyDead(op))
        rest.push_back(op);
    });
    RoleSlice producer(fills, gpu::RoleKind::Producer), consumers(rest, gpu::RoleKind::Consumers);
    if (Refusal why = whyNotApart(producer, kernel_, isForProducer))
      return kernel_.emitError("a warp cannot fill rings by itself: ") << *why;
    SmallVector<Operation *> old = shareMemory();
    b_.setInsertionPoint(body_.getTerminator());
    split(producer, consumers);
    for (Operation *op : llvm::reverse(old))
      op->erase();
    shareRegisters();
    return success();
  }

private:
  SmallVector<Operation *> shareMemory() {
    SmallVector<gpu::SmemAllocOp> memories;
    kernel_.walk([&](gpu::SmemAllocOp memory) { memories.push_back(memory); });
    for (gpu::SmemAllocOp memory : llvm::reverse(memories))
      memory->moveBefore(&body_, body_.begin());
    SmallVector<Operation *> old;
    for (Operation &op : body_.without_terminator())
      if (!isa<gpu::SmemAllocOp>(op))
        old.push_back(&op);
    return old;
  }

  void split(const RoleSlice &producer, const RoleSlice &consumers) {
    gpu::RegisterShares registers = gpu::registerShares(
        consumerWarps_,
        boxesOfFill_ > kMostBoxes ? gpu::ProducerRegisters::Many : gpu::ProducerRegisters::Few);
    bool handsOver = target_.hasWgmma && registers.differ(); // setmaxnreg came with wgmma
    auto role = [&](gpu::RoleKind kind, int32_t warps, int32_t active, int32_t most) {
      return gpu::RoleAttr::get(kernel_.getContext(), kind, warps, active, handsOver ? most : 0);
    };
    roles_ = gpu::WarpSpecializeOp::create(
        b_, loc_,
        {role(gpu::RoleKind::Consumers, consumerWarps_, consumerWarps_, registers.consumers),
         role(gpu::RoleKind::Producer, gpu::kProducerWarps, 1, registers.producers)});
    writeProducer(producer);
    writeConsumers(consumers);
  }

  // Gives the producer more than the fewest registers also if it may need them and the consumers
  // are estimated to fit in the rest.
  void shareRegisters() {
    if (!roles_.getRole(kProducer).getRegisters())
      return;
    gpu::RegisterShares shares = gpu::registerShares(consumerWarps_, gpu::ProducerRegisters::Many);
    KernelRegisters needed = estimateRegisters(kernel_, target_);
    bool mayNeedMore = boxesOfFill_ > kFewBoxes || needed.producer->needed > needed.producer->limit;
    if (!mayNeedMore || needed.compute.needed > shares.consumers)
      return;
    setRegisters(kProducer, shares.producers);
    setRegisters(kConsumers, shares.consumers);
  }

  void setRegisters(unsigned number, int32_t most) {
    gpu::RoleAttr role = roles_.getRole(number);
    roles_.setRole(number, gpu::RoleAttr::get(role.getContext(), role.getKind(), role.getWarps(),
                                              role.getActive(), most));
  }

  void writeProducer(const RoleSlice &slice) {
    Block &to = roles_.getBody(kProducer);
    b_.setInsertionPointToEnd(&to);
    RoleWriter(b_, slice).write(body_);
    to.walk([](scf::ForOp loop) { gpu::removeLoopPlan(loop); }); // the consumers' copy keeps it
  }

  // Other blocks still copy to this block's memory, and their warps arrive at its mbarriers, so it
  // must not end before them. The producer need not wait: threads that have ended are not waited
  // for.
  void writeConsumers(const RoleSlice &slice) {
    b_.setInsertionPointToEnd(&roles_.getBody(kConsumers));
    RoleWriter(b_, slice).write(body_);
    if (isOfCluster_)
      gpu::BarrierOp::create(b_, loc_, "no block of the cluster ends before the others",
                             gpu::Scope::ClusterConsumers);
  }

  func::FuncOp kernel_;
  const ir::Target &target_;
  Block &body_;
  OpBuilder b_;
  Location loc_;
  int32_t consumerWarps_;
  gpu::WarpSpecializeOp roles_;
  int64_t boxesOfFill_ = 0;  ///< of the largest fill
  bool isOfCluster_ = false; ///< Do blocks of the cluster fill each other's stages?
};

struct SpecializeWarps : passes::impl::SpecializeWarpsBase<SpecializeWarps> {
  using SpecializeWarpsBase::SpecializeWarpsBase;

  void runOnOperation() final {
    if (!hasProducer(getOperation()))
      return;
    FailureOr<ir::Target> found = ir::knownTarget(getOperation(), target);
    if (failed(found) || failed(verifyHasRoles(getOperation())) ||
        failed(WarpSpecializer(getOperation(), *found).specialize()))
      signalPassFailure();
  }

  // Only a kernel is launched with warps for both roles, and no value leaves a role.
  static LogicalResult verifyHasRoles(func::FuncOp kernel) {
    if (kernel.getNumResults())
      return kernel.emitError("has a loop with a producer warp, but returns values: roles are of "
                              "kernels, which return nothing");
    return verifyOneBlock(kernel);
  }
};

} // namespace

} // namespace tile::passes
