#include "passes/staging/LoopLoads.h"

#include "ir/LayoutAttr.h"
#include "ir/annotations/AccessAnnotations.h"
#include "ir/annotations/VariantAnnotations.h"
#include "ir/gpu/DotLayouts.h"
#include "ir/layout/Derived.h"
#include "passes/analysis/RunAhead.h"
#include "passes/staging/LoopOperands.h"

using namespace mlir;

namespace tile::passes {

namespace {

Value fillNumber(OpBuilder &b, scf::ForOp loop) {
  Location loc = loop.getLoc();
  Value number = loop.getInductionVar();
  if (!matchPattern(loop.getLowerBound(), m_Zero()))
    number = arith::SubIOp::create(b, loc, number, loop.getLowerBound());
  if (!matchPattern(loop.getStep(), m_One()))
    number = arith::DivUIOp::create(b, loc, number, loop.getStep());
  if (number.getType().isInteger(64))
    number = arith::TruncIOp::create(b, loc, b.getI32Type(), number);
  return number;
}

class LoopRing {
public:
  explicit LoopRing(scf::ForOp loop) : loop_(loop), b_(loop.getContext()) {}

  FailureOr<OperandsOfLoops> promote() {
    FailureOr<LoopOperands> parts = partsOf(loop_);
    if (failed(parts))
      return failure();
    parts_ = std::move(*parts);
    if (!parts_.empty()) {
      b_.setInsertionPoint(loop_.getBody(), placeOfFills());
      fill();
      read();
    }
    return std::move(staged_);
  }

private:
  // Moves what the loads' operands depend on to the top of the body. Returns the operation before
  // which the ring is filled.
  Block::iterator placeOfFills() {
    llvm::SetVector<Operation *> needed;
    for (auto &[load, part] : parts_)
      needed.insert_range(aheadSlice(load->getOperands(), loop_)->ops);
    SmallVector<Operation *> ops(needed.begin(), needed.end());
    llvm::sort(ops, [](Operation *a, Operation *c) { return a->isBeforeInBlock(c); });
    for (Operation *op : llvm::reverse(ops))
      op->moveBefore(loop_.getBody(), loop_.getBody()->begin());
    return ops.empty() ? loop_.getBody()->begin() : std::next(ops.back()->getIterator());
  }

  void fill() {
    SmallVector<gpu::SmemType> tiles;
    for (auto &[load, part] : parts_)
      tiles.push_back(part.memory);
    func::FuncOp function = loop_->getParentOfType<func::FuncOp>();
    OpBuilder top = OpBuilder::atBlockBegin(&function.getBody().front());
    Location loc = loop_.getLoc();
    ring_ = gpu::RingAllocOp::create(top, loc, gpu::RingType::get(b_.getContext(), 1, tiles));
    number_ = fillNumber(b_, loop_);
    gpu::ProducerAcquireOp::create(b_, loc, ring_, number_);
    SmallVector<Value> loaded;
    for (auto &[load, part] : parts_)
      loaded.push_back(part.isAsync() ? Value() : loadInRegisters(load, part));
    for (auto [i, entry] : llvm::enumerate(parts_)) {
      auto &[load, part] = entry;
      if (part.isAsync())
        copy(load, i);
      else
        gpu::RingPutOp::create(b_, load.getLoc(), loaded[i], ring_, number_, i);
    }
    gpu::ProducerCommitOp::create(b_, loc, ring_, number_);
  }

  void copy(ir::ViewLoadOp load, size_t part) {
    auto copy = gpu::RingCopyOp::create(b_, load.getLoc(), load.getView(), load.getOffsets(), ring_,
                                        number_, Value(), static_cast<int32_t>(part),
                                        ir::shapeOf(load.getResult().getType()));
    copy->setDiscardableAttrs(load->getDiscardableAttrDictionary());
  }

  Value loadInRegisters(ir::ViewLoadOp load, const LoopOperand &part) {
    IRMapping nothing;
    auto moved = cast<ir::ViewLoadOp>(b_.clone(*load, nothing));
    if (gpu::loadVariantOf(moved) == gpu::LoadVariant::CpAsync) {
      gpu::addRefusal(
          moved,
          "cp_async refused: a thread's neighbours in the view are no neighbours in shared memory");
      gpu::setVariant(moved, gpu::accessOf(moved).getVector() > 1 ? gpu::LoadVariant::Vector
                                                                  : gpu::LoadVariant::Scalar);
    }
    return inShape(moved.getResult(), part.shape, part.loaded);
  }

  Value inShape(Value tile, ArrayRef<int64_t> shape, const layout::Layout &layout) {
    if (ir::shapeOf(tile.getType()) == shape)
      return tile;
    auto type = RankedTensorType::get(shape, ir::elementTypeOf(tile.getType()),
                                      gpu::attributeOf(b_.getContext(), layout));
    return ir::ReshapeOp::create(b_, tile.getLoc(), type, tile);
  }

  void read() {
    auto get = gpu::ConsumerWaitOp::create(b_, loop_.getLoc(), ring_, number_);
    for (auto [i, entry] : llvm::enumerate(parts_)) {
      auto &[load, part] = entry;
      Value memory = get.getTiles()[i];
      for (LoopPartUse use : part.uses)
        readAsOperand(use, memory);
      for (gpu::ConvertLayoutOp change : part.changes)
        readInLayout(change, memory);
      readAsTile(load, part, memory);
    }
    b_.setInsertionPoint(loop_.getBody()->getTerminator());
    gpu::ConsumerReleaseOp::create(b_, loop_.getLoc(), ring_, number_);
  }

  void readAsOperand(LoopPartUse use, Value memory) {
    auto [operand, isTransposed] = use;
    auto dot = cast<ir::DotOp>(operand->getOwner());
    if (gpu::readsSharedMemory(*operand)) {
      staged_[{dot, operand->getOperandNumber()}] = {memory, isTransposed};
      return;
    }
    b_.setInsertionPoint(dot);
    Value before = operand->get();
    operand->set(
        isTransposed
            ? loadTransposed(before.getType(), memory, dot.getLoc())
            : gpu::SmemLoadOp::create(b_, dot.getLoc(), before.getType(), memory).getResult());
    eraseUnused(before);
  }

  // Threads read the tile as it is in memory; the transpose only renames their registers.
  Value loadTransposed(Type type, Value memory, Location loc) {
    auto smem = cast<gpu::SmemType>(memory.getType());
    layout::Layout asInMemory = layout::permute(gpu::layoutOf(type), {1, 0});
    auto read = RankedTensorType::get(smem.getShape(), smem.getElementType(),
                                      gpu::attributeOf(b_.getContext(), asInMemory));
    Value tile = gpu::SmemLoadOp::create(b_, loc, read, memory);
    return ir::PermuteOp::create(b_, loc, type, tile, b_.getDenseI32ArrayAttr({1, 0}));
  }

  void readInLayout(gpu::ConvertLayoutOp change, Value memory) {
    b_.setInsertionPoint(change);
    Value tile = gpu::SmemLoadOp::create(b_, change.getLoc(), change.getResult().getType(), memory);
    change.getResult().replaceAllUsesWith(tile);
    eraseUnused(change);
  }

  // Users other than dots see the tile as it was loaded. They may include dots by multiply-add,
  // which are replaced later.
  void readAsTile(ir::ViewLoadOp load, const LoopOperand &part, Value memory) {
    if (!load.use_empty()) {
      b_.setInsertionPoint(load);
      auto type = RankedTensorType::get(part.memory.getShape(), part.memory.getElementType(),
                                        gpu::attributeOf(b_.getContext(), part.loaded));
      Value tile = gpu::SmemLoadOp::create(b_, load.getLoc(), type, memory);
      if (tile.getType() != load.getResult().getType())
        tile = ir::ReshapeOp::create(b_, load.getLoc(), load.getResult().getType(), tile);
      load.getResult().replaceAllUsesWith(tile);
    }
    load.erase();
  }

  static void eraseUnused(Value value) {
    Operation *op = value.getDefiningOp();
    while (op && op->use_empty() && isa<gpu::ConvertLayoutOp, ir::ReshapeOp>(op)) {
      Operation *source = op->getOperand(0).getDefiningOp();
      op->erase();
      op = source;
    }
  }

  scf::ForOp loop_;
  OpBuilder b_;
  LoopOperands parts_;
  Value ring_, number_;
  OperandsOfLoops staged_;
};

} // namespace

FailureOr<OperandsOfLoops> promoteLoads(scf::ForOp loop) { return LoopRing(loop).promote(); }

} // namespace tile::passes
