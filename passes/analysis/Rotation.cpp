#include "passes/analysis/Rotation.h"

#include "ir/DotLayouts.h"
#include "passes/analysis/RunAhead.h"

using namespace mlir;

namespace tile::passes {

namespace {

using gpu::isProduct;

class RotationBuilder {
public:
  explicit RotationBuilder(scf::ForOp loop) : loop_(loop), ring_(ringOf(loop)) {}

  std::optional<Rotation> build() {
    for (Operation &op : *loop_.getBody())
      if (isProduct(&op))
        collectHead(&op);
    for (Operation &op : *loop_.getBody()) // sorts them
      if (collected_.contains(&op))
        rotation_.head.insert(&op);
    for (Operation *op : rotation_.head)
      if (deliversProduct(op))
        rotation_.results.push_back(op->getResult(0));
    if (rotation_.results.empty() || !restMultiplies())
      return std::nullopt;
    for (Operation *op : llvm::reverse(rotation_.head.getArrayRef()))
      if (!isProduct(op) && !deliversProduct(op) && isNeededByRest(op))
        needed_.insert(op);
    for (Operation *op : rotation_.head)
      if (needed_.contains(op))
        rotation_.shared.insert(op);
    return std::move(rotation_);
  }

private:
  // Adds a product and what it follows from, if that is no more than loads.
  void collectHead(Operation *product) {
    llvm::SmallPtrSet<Operation *, 16> slice;
    SmallVector<Operation *> open = {product};
    while (!open.empty()) {
      Operation *op = open.pop_back_val();
      if (!slice.insert(op).second)
        continue;
      for (Value operand : op->getOperands()) {
        Operation *source = operand.getDefiningOp();
        bool isOutside = source ? !loop_->isProperAncestor(source)
                                : operand.getParentBlock() != loop_.getBody() ||
                                      operand == loop_.getInductionVar();
        if (isOutside)
          continue;
        if (!source || !mayRunAhead(source))
          return;
        open.push_back(source);
      }
    }
    collected_.insert_range(slice);
    if (isa<gpu::DotAsyncOp>(product))
      collected_.insert_range(product->getUsers()); // waits
  }

  // A product that is under way is not carried round the loop: its registers would have to move, for which it would be
  // waited for anyway.
  static bool deliversProduct(Operation *op) {
    return isa<gpu::DotWaitOp>(op) || (isProduct(op) && !isa<gpu::DotAsyncOp>(op));
  }

  bool mayRunAhead(Operation *op) {
    if (auto get = dyn_cast<gpu::RingGetOp>(op))
      return ring_ && get.getRing() == ring_.getRing();
    return !isProduct(op) && !op->getNumRegions() &&
           (isa<gpu::SmemLoadOp>(op) || isMemoryEffectFree(op));
  }

  bool restMultiplies() {
    return llvm::any_of(*loop_.getBody(), [&](Operation &op) {
      return isProduct(&op) && !rotation_.head.contains(&op);
    });
  }

  bool isNeededByRest(Operation *op) {
    return llvm::any_of(op->getUsers(), [&](Operation *user) {
      Operation *inBody = loop_.getBody()->findAncestorOpInBlock(*user);
      return !rotation_.head.contains(inBody) || needed_.contains(inBody);
    });
  }

  scf::ForOp loop_;
  gpu::RingAcquireOp ring_;
  llvm::SmallPtrSet<Operation *, 16> collected_, needed_;
  Rotation rotation_;
};

} // namespace

std::optional<Rotation> rotationOf(scf::ForOp loop, std::string *why) {
  std::optional<Rotation> rotation = RotationBuilder(loop).build();
  if (!rotation && why)
    *why = "no product of its body that depends on loads alone comes before one that does not";
  return rotation;
}

} // namespace tile::passes
