#include "passes/pipelining/PartsWriter.h"

#include "passes/analysis/RunAhead.h"
#include "passes/pipelining/analysis/RingReaders.h"

using namespace mlir;

namespace tile::passes {

void PartsWriter::lead(Operation *op) {
  if (!led_.insert(op).second)
    return;
  for (Operation *reader : readersBefore(op))
    if (skew_.leading.contains(reader))
      lead(reader);
  for (Value value : takenBy(op))
    if (auto variable = dyn_cast<BlockArgument>(value))
      bringVariable(variable);
    else if (Operation *source = value.getDefiningOp(); skew_.leading.contains(source))
      lead(source);
  clone(op, next);
}

void PartsWriter::lag(Operation *op) {
  if (!lagged_.insert(op).second)
    return;
  lagStepsBefore(op);
  for (Operation *reader : readersBefore(op))
    if (skew_.lagging.contains(reader))
      lag(reader);
  for (Value value : takenBy(op))
    if (Operation *source = value.getDefiningOp(); source && skew_.lagging.contains(source))
      lag(source);
  auto get = dyn_cast<gpu::ConsumerWaitOp>(op);
  if (!get || !skew_.leading.contains(op))
    return clone(op, now);
  auto tiles = gpu::RingTilesOp::create(b_, get.getLoc(), get.getTiles().getTypes(), get.getRing(),
                                        now.lookupOrDefault(get.getFill()));
  now.map(get.getTiles(), tiles.getTiles());
}

Value PartsWriter::yieldedOf(BlockArgument variable) {
  Value yielded = loop_.getTiedLoopYieldedValue(variable)->get();
  if (Operation *source = yielded.getDefiningOp(); skew_.lagging.contains(source))
    lag(source);
  return now.lookupOrDefault(yielded);
}

// An operand that the body computes has a ring of its own (not in `rings_`), whose steps keep their
// order.
void PartsWriter::lagStepsBefore(Operation *op) {
  for (Value ring : op->getOperands())
    if (isa<gpu::RingType>(ring.getType()) && !llvm::is_contained(rings_, ring))
      for (Operation *step : skew_.lagging)
        if (llvm::is_contained(step->getOperands(), ring) && step->isBeforeInBlock(op))
          lag(step);
}

// A release comes after all that reads its fill: loads, dots and the waits for them.
SmallVector<Operation *> PartsWriter::readersBefore(Operation *op) const {
  SmallVector<Operation *> readers;
  auto release = dyn_cast<gpu::ConsumerReleaseOp>(op);
  if (!release || !llvm::is_contained(rings_, release.getRing()))
    return readers;
  for (Operation *user : release.getRing().getUsers())
    if (isa<gpu::ConsumerWaitOp>(user) && user->getBlock() == op->getBlock())
      llvm::append_range(readers, readersOf(cast<gpu::ConsumerWaitOp>(user), user->getResults()));
  return readers;
}

void PartsWriter::bringVariable(BlockArgument variable) {
  if (variable.getOwner() == loop_.getBody() && !next.contains(variable))
    next.map(variable, yieldedOf(variable));
}

// A wait leaves those dots in flight that were issued after its own.
void PartsWriter::clone(Operation *op, IRMapping &at) {
  Operation *copy = b_.clone(*op, at);
  if (isa<gpu::DotAsyncOp>(copy))
    begun_.push_back(copy);
  auto wait = dyn_cast<gpu::DotWaitOp>(copy);
  if (!wait)
    return;
  const auto *own = llvm::find(begun_, wait.getSums().getDefiningOp());
  if (own != begun_.end())
    wait.setPending(static_cast<uint32_t>(begun_.end() - own - 1));
}

} // namespace tile::passes
