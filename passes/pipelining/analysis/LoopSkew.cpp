#include "passes/pipelining/analysis/LoopSkew.h"

#include "ir/gpu/DotLayouts.h"
#include "passes/analysis/RunAhead.h"

using namespace mlir;

namespace tile::passes {

namespace {

using gpu::isDot;

bool isReadAtMost(Operation *op) {
  return isMemoryEffectFree(op) || hasSingleEffect<MemoryEffects::Read>(op);
}

bool isOnRing(Operation *op, Value ring) { return llvm::is_contained(op->getOperands(), ring); }

class SkewBuilder {
public:
  explicit SkewBuilder(scf::ForOp loop) : loop_(loop) {
    for (gpu::ProducerAcquireOp acquire : ringsOf(loop))
      rings_.push_back(acquire.getRing());
  }

  std::optional<LoopSkew> build(Refusal *why) {
    if (!findLateDots() || !collectLate() || !collectLagging() || !collectLeading() ||
        !areEffectsOfOnePart())
      return tile::refuse(why, std::move(refusal_));
    sort(skew_.leading), sort(skew_.lagging), sort(skew_.late);
    return std::move(skew_);
  }

private:
  bool findLateDots() {
    for (Operation &op : *loop_.getBody())
      if (isDot(&op) && followsFromLoads(&op))
        skew_.lastLeadingDot = &op;
      else if (isDot(&op))
        skew_.late.insert(&op);
    return (skew_.lastLeadingDot && !skew_.late.empty()) ||
           refuse("no product of its body that depends on loads alone comes before one that does "
                  "not");
  }

  bool followsFromLoads(Operation *op) {
    return llvm::all_of(takenBy(op), [&](Value value) {
      return isGiven(value) || (isOfBody(value) && isRepeatable(value.getDefiningOp()));
    });
  }

  bool isGiven(Value value) {
    return value == loop_.getInductionVar() || loop_.isDefinedOutsideOfLoop(value);
  }

  bool isOfBody(Value value) {
    return value.getDefiningOp() && value.getParentBlock() == loop_.getBody();
  }

  // Can each part compute it for itself, at any time until its fill is released? Scalars that the
  // loop carries can be had in both parts.
  bool isRepeatable(Operation *op) {
    auto [known, isNew] = repeatable_.insert({op, false});
    if (!isNew)
      return known->second;
    auto get = dyn_cast<gpu::ConsumerWaitOp>(op);
    bool isOfKind = get ? llvm::is_contained(rings_, get.getRing())
                        : !isDot(op) && !isa<gpu::DotWaitOp>(op) && !op->getNumRegions() &&
                              (isa<gpu::SmemLoadOp>(op) || isMemoryEffectFree(op));
    bool result = isOfKind && llvm::all_of(op->getOperands(), [&](Value value) {
                    return isGiven(value) ||
                           (isa<BlockArgument>(value) && !isa<RankedTensorType>(value.getType())) ||
                           (isOfBody(value) && isRepeatable(value.getDefiningOp()));
                  });
    return repeatable_[op] = result;
  }

  // Users of lagging dots in the same iteration lag, too.
  bool collectLate() {
    for (size_t i = 0; i < skew_.late.size(); ++i)
      for (Operation *user : skew_.late[i]->getUsers()) {
        Operation *op = loop_.getBody()->findAncestorOpInBlock(*user);
        if (op == loop_.getBody()->getTerminator())
          continue;
        if (!isDot(op) && !isa<gpu::DotWaitOp>(op) && !isReadAtMost(op))
          return refuse("what follows from its later product has effects");
        skew_.late.insert(op);
      }
    return true;
  }

  // The lagging part also fills and releases the rings that it reads, so that a fill is released
  // when this part is done.
  bool collectLagging() {
    for (Operation *op : skew_.late)
      lag(op);
    lagRings();
    return !refusal_;
  }

  void lagRings() {
    for (Operation &op : *loop_.getBody())
      if (Value ring = ringOfStep(&op); ring && isReadLate(ring))
        lag(&op);
  }

  Value ringOfStep(Operation *op) const {
    const auto *ring = llvm::find_if(rings_, [&](Value ring) {
      return fillsRing(op, ring) || (isa<gpu::ConsumerReleaseOp>(op) && isOnRing(op, ring));
    });
    return ring == rings_.end() ? Value() : *ring;
  }

  bool isReadLate(Value ring) const {
    return llvm::any_of(skew_.lagging, [&](Operation *op) {
      return isa<gpu::ConsumerWaitOp>(op) && isOnRing(op, ring);
    });
  }

  void lag(Operation *op) {
    if (!skew_.lagging.insert(op))
      return;
    for (Value value : takenBy(op))
      takeNow(value);
  }

  // A value that the lagging part needs is computed again if possible, else it crosses the back
  // edge.
  void takeNow(Value value) {
    if (isGiven(value))
      return;
    if (auto variable = dyn_cast<BlockArgument>(value)) {
      if (skew_.variables.insert(variable))
        takeYielded(variable);
      return;
    }
    Operation *op = value.getDefiningOp();
    if (skew_.late.contains(op) || skew_.lagging.contains(op))
      return;
    if (isRepeatable(op) || isFillOfBranch(op))
      return lag(op);
    if (isa<gpu::SmemType>(value.getType()))
      return lagRing(op);
    skew_.crossing.insert(value);
    lead(op);
  }

  bool isFillOfBranch(Operation *op) {
    return isa<scf::IfOp>(op) && llvm::all_of(op->getUsers(), [&](Operation *user) {
             auto put = dyn_cast<gpu::RingPutOp>(user);
             return put && llvm::is_contained(rings_, put.getRing());
           });
  }

  // An operand that is computed and put lies in a ring of its own: its steps move to the part that
  // reads it.
  void lagRing(Operation *get) {
    auto ring = dyn_cast<gpu::ConsumerWaitOp>(get);
    if (!ring)
      return (void)refuse("its later product reads shared memory that the iteration writes");
    for (Operation *user : ring.getRing().getUsers())
      if (user->getBlock() == loop_.getBody())
        lag(user);
      else if (loop_->isProperAncestor(user))
        refuse("its later product reads shared memory that is filled in a branch");
  }

  // The leading part gets all effects that the lagging part does not have, and all that results of
  // the loop need. The steps of rings come last: only then is it known which rings the lagging part
  // reads.
  bool collectLeading() {
    lead(skew_.lastLeadingDot);
    leadEffects([&](Operation *op) { return !ringOfStep(op); });
    for (OpResult result : loop_.getResults())
      if (!result.use_empty())
        takeYielded(loop_.getTiedLoopRegionIterArg(result));
    lagRings();
    leadEffects([](Operation *) { return true; });
    return !refusal_;
  }

  void leadEffects(llvm::function_ref<bool(Operation *)> isWanted) {
    for (Operation &op : loop_.getBody()->without_terminator())
      if (!skew_.lagging.contains(&op) && !isReadAtMost(&op) && !isDot(&op) &&
          !isa<gpu::DotWaitOp>(op) && isWanted(&op))
        lead(&op);
  }

  void lead(Operation *op) {
    if (!skew_.leading.insert(op))
      return;
    for (Value value : takenBy(op))
      if (auto variable = dyn_cast<BlockArgument>(value);
          variable && variable.getOwner() == loop_.getBody() && !isGiven(value))
        takeYielded(variable);
      else if (isOfBody(value))
        lead(value.getDefiningOp());
  }

  // The variable's value after the iteration must be there for the next one.
  void takeYielded(BlockArgument variable) {
    Value yielded = loop_.getTiedLoopYieldedValue(variable)->get();
    if (!yielded_.insert(variable).second)
      return;
    takeNow(yielded);
  }

  // An operation in both parts executes twice per iteration: it must be repeatable (consumer_wait
  // becomes ring_tiles in one of them).
  bool areEffectsOfOnePart() {
    for (Operation *op : skew_.leading)
      if (skew_.lagging.contains(op) && !isRepeatable(op))
        return refuse("its parts would carry out the same step twice");
    return true;
  }

  void sort(llvm::SetVector<Operation *> &ops) {
    SmallVector<Operation *> sorted = ops.takeVector();
    llvm::sort(sorted, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    ops = llvm::SetVector<Operation *>(sorted.begin(), sorted.end());
  }

  bool refuse(const char *sentence) {
    refusal_ = sentence;
    return false;
  }

  scf::ForOp loop_;
  SmallVector<Value> rings_; ///< that the iterations fill
  llvm::DenseMap<Operation *, bool> repeatable_;
  llvm::DenseSet<Value> yielded_;
  LoopSkew skew_;
  Refusal refusal_;
};

} // namespace

bool fillsRing(Operation *op, Value ring) {
  return op
      ->walk([&](Operation *inner) {
        bool fills =
            isa<gpu::ProducerAcquireOp, gpu::RingCopyOp, gpu::RingPutOp, gpu::ProducerCommitOp>(
                inner) &&
            isOnRing(inner, ring);
        return fills ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

std::optional<LoopSkew> skewOf(scf::ForOp loop, Refusal *why) {
  return SkewBuilder(loop).build(why);
}

} // namespace tile::passes
