// SpecializeWarps: a warp of its own fills the rings that loops ask it for, the others do the rest.
//
//   body    becomes    if warp >= W: { give registers back; if warp == W: { the fills } } else { take registers; the rest }
//
// The fills are a program of their own: they, the loops and branches around them, and the scalars that all of these follow
// from, once more. So are the others, without the fills and what only they need. Nothing but the stages' barriers orders the
// two: full ones that count bytes, and those at which each warp releases a stage. All meet where these are made; at other
// barriers those meet that compute. A group of warps changes its registers together, so that the block gets four
// warps more, of which three end at once.
#include "passes/Passes.h"

#include "ir/Annotations.h"
#include "ir/KnownTarget.h"
#include "ir/gpu/WarpRoles.h"
#include "ir/instructions/TensorCopy.h"
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

/// A thread that fills holds the places of so many boxes in the fewest registers that it can keep, but of more than a few of
/// them not always.
constexpr int64_t kMostBoxes = 12, kFewBoxes = 8;

/// The hardware's barrier at which both roles meet. 0 is that of the warps that compute; turns have those behind it.
constexpr uint32_t kMeeting = 15;

bool isFill(Operation *op) {
  auto elect = dyn_cast<gpu::ElectOp>(op);
  return elect && elect.getFills();
}

bool isMeeting(Operation *op) {
  auto barrier = dyn_cast<gpu::BarrierOp>(op);
  return barrier && barrier.getBeforeFills();
}

bool isForProducer(Operation *op) { return isFill(op) || isMeeting(op); }

// Instructions that the copies of a fill take.
int64_t boxesOf(Operation *fill) {
  int64_t boxes = 0;
  fill->walk([&](gpu::TensorCopyOp copy) {
    if (auto plan =
            gpu::planTensorCopy(copy, copy.getView(), copy.getShape(), copy.getSmem().getType()))
      boxes += static_cast<int64_t>(plan->boxes.size());
  });
  return boxes;
}

/// Calls `visit` with each operation, of loops and branches with those in their bodies.
void visitOperations(Block &block, llvm::function_ref<void(Operation *)> visit) {
  for (Operation &op : block.without_terminator())
    if (isa<scf::ForOp, scf::IfOp>(op))
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          visitOperations(inner, visit);
    else
      visit(&op);
}

/// Writes a slice of a program to where the builder stands.
class RoleWriter {
public:
  RoleWriter(OpBuilder &b, const RoleSlice &slice) : b_(b), slice_(slice) {}

  void write(Block &block) {
    for (Operation &op : block.without_terminator())
      if (slice_.contains(&op) && !isa<gpu::SmemAllocOp>(op)) // which the roles share
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
    SmallVector<Operation *> fills, rest;
    visitOperations(body_, [&](Operation *op) {
      if (isForProducer(op))
        fills.push_back(op);
      if (isFill(op))
        boxesOfFill_ = std::max(boxesOfFill_, boxesOf(op));
      isOfCluster_ |= isMeeting(op) && cast<gpu::BarrierOp>(op).getOfCluster();
      if (!isFill(op) && !wouldOpBeTriviallyDead(op))
        rest.push_back(op);
    });
    RoleSlice producer(fills, Role::Producer), consumers(rest, Role::Consumers);
    if (std::string why = whyNotApart(producer, kernel_, isForProducer); !why.empty())
      return kernel_.emitError("a warp cannot fill rings by itself: ") << why;
    SmallVector<Operation *> old = shareMemory();
    b_.setInsertionPoint(body_.getTerminator());
    split(producer, consumers);
    for (Operation *op : llvm::reverse(old))
      op->erase();
    gpu::setProducerWarps(kernel_, gpu::kProducerWarps);
    shareRegisters();
    return success();
  }

private:
  // Both roles have the same memory; the operations that make way for theirs.
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
    Value warp = gpu::WarpIdOp::create(b_, loc_, b_.getI32Type());
    Value count = arith::ConstantIntOp::create(b_, loc_, consumerWarps_, 32);
    Value isProducer = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::uge, warp, count);
    auto roles = scf::IfOp::create(b_, loc_, isProducer, /*withElseRegion=*/true);
    gpu::RegisterShares registers = gpu::registerShares(
        consumerWarps_,
        boxesOfFill_ > kMostBoxes ? gpu::ProducerRegisters::Many : gpu::ProducerRegisters::Few);
    bool mayHandOver = target_.hasWgmma && registers.differ(); // setmaxnreg came with wgmma
    b_.setInsertionPointToStart(roles.thenBlock());
    if (mayHandOver)
      giveBack_ = gpu::SetMaxRegistersOp::create(b_, loc_, registers.producers, /*more=*/false);
    Value isFirst = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::eq, warp, count);
    auto first = scf::IfOp::create(b_, loc_, isFirst, /*withElseRegion=*/false);
    writeProducer(producer, first.thenBlock());
    b_.setInsertionPointToStart(roles.elseBlock());
    if (mayHandOver)
      take_ = gpu::SetMaxRegistersOp::create(b_, loc_, registers.consumers, /*more=*/true);
    writeConsumers(consumers, roles.elseBlock());
  }

  // A warp that fills keeps more than the least also if it may need them and those that compute do not.
  void shareRegisters() {
    if (!giveBack_)
      return;
    gpu::RegisterShares shares = gpu::registerShares(consumerWarps_, gpu::ProducerRegisters::Many);
    KernelRegisters needed = estimateRegisters(kernel_, target_);
    bool mayNeedMore = boxesOfFill_ > kFewBoxes || needed.producer->needed > needed.producer->limit;
    if (!mayNeedMore || needed.compute.needed > shares.consumers)
      return;
    giveBack_.setCount(shares.producers);
    take_.setCount(shares.consumers);
  }

  void writeProducer(const RoleSlice &slice, Block *to) {
    b_.setInsertionPoint(to->getTerminator());
    RoleWriter(b_, slice).write(body_);
    to->walk([&](Operation *op) {
      if (auto elect = dyn_cast<gpu::ElectOp>(op))
        elect.setWarp(consumerWarps_);
      if (auto loop = dyn_cast<scf::ForOp>(op))
        gpu::removeSchedule(loop); // what is said of the loop is said of the one that computes
      meet(op);
    });
  }

  void writeConsumers(const RoleSlice &slice, Block *to) {
    b_.setInsertionPoint(to->getTerminator());
    RoleWriter(b_, slice).write(body_);
    leaveCluster();
    to->walk([&](Operation *op) { meet(op); });
  }

  // Other blocks still copy to this one's memory, and their warps arrive at its barriers. It stays as long as those that compute do:
  // warps that have ended are not waited for.
  void leaveCluster() {
    if (isOfCluster_)
      gpu::BarrierOp::create(b_, loc_, "no block of the cluster ends before the others")
          .setOfCluster(true);
  }

  void meet(Operation *op) {
    auto barrier = dyn_cast<gpu::BarrierOp>(op);
    if (!barrier || barrier.getOfCluster())
      return;
    bool meetsTeam = ir::teamsOf(kernel_) > 1 && !isMeeting(barrier) && !barrier.getOfBlock();
    if (meetsTeam) // which has a barrier of its own anyway
      return;
    barrier.setWarps(isMeeting(barrier) ? consumerWarps_ + 1 : consumerWarps_);
    barrier.setNumber(isMeeting(barrier) ? kMeeting : 0);
  }

  func::FuncOp kernel_;
  const ir::Target &target_;
  Block &body_;
  OpBuilder b_;
  Location loc_;
  int32_t consumerWarps_;
  int64_t boxesOfFill_ = 0;                ///< of the largest
  gpu::SetMaxRegistersOp giveBack_, take_; ///< null if nothing is gained by handing registers over
  bool isOfCluster_ = false;               ///< Do the blocks of a cluster fill each other's stages?
};

struct SpecializeWarps : passes::impl::SpecializeWarpsBase<SpecializeWarps> {
  using SpecializeWarpsBase::SpecializeWarpsBase;

  void runOnOperation() final {
    if (!hasProducer(getOperation()))
      return;
    FailureOr<ir::Target> found = ir::knownTarget(getOperation(), target);
    if (failed(found))
      return signalPassFailure();
    if (failed(WarpSpecializer(getOperation(), *found).specialize()))
      signalPassFailure();
  }
};

} // namespace

} // namespace tile::passes
