// StoreSubtiles: stores a dot's tile in subtiles, and computes the elementwise operations before
// the store per subtile, too: threads then hold the accumulator and one subtile of what is stored,
// not the whole tile.
//
// In quads each subtile is a store of its own. For TMA threads put the subtile to shared memory,
// and one of them issues the copy:
//
//   elect { tensor_store_wait: the buffer has been read };
//   smem_store; proxy_fence; elect { tensor_store }
//
// There are two buffers, so that threads put one subtile while TMA reads the other. PlaceBarriers
// synchronizes all threads after the wait and before the copy. The last subtiles are read before
// the kernel ends.
#include "passes/Passes.h"

#include "ir/LayoutAttr.h"
#include "ir/LayoutOp.h"
#include "ir/UserError.h"
#include "ir/annotations/AccessAnnotations.h"
#include "ir/annotations/VariantAnnotations.h"
#include "ir/instructions/TensorStore.h"
#include "ir/layout/WgmmaOperand.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

namespace tile::passes {
#define GEN_PASS_DEF_STORESUBTILES
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

using Position = SmallVector<int64_t>;

/// The elementwise operations from which only the stored tile is computed, all in its block. They
/// are computed per subtile instead, and erased.
class StoredChain {
public:
  explicit StoredChain(ir::ViewStoreOp store) : store_(store) {
    add(store.getValue());
    for (size_t i = 0; i < operations_.size(); ++i)
      llvm::for_each(operations_[i]->getOperands(), [&](Value operand) { add(operand); });
  }

  [[nodiscard]] bool contains(Operation *op) const { return operations_.contains(op); }

  void erase() {
    for (Operation *op : operations_) // users come first
      if (op->use_empty())
        op->erase();
  }

private:
  void add(Value tile) {
    Operation *op = tile.getDefiningOp();
    bool isOnlyStored = op && op->getBlock() == store_->getBlock() && isComputing(op) &&
                        llvm::all_of(op->getUsers(), [&](Operation *user) {
                          return user == store_ || operations_.contains(user);
                        });
    if (isOnlyStored)
      operations_.insert(op);
  }

  static bool isComputing(Operation *op) {
    return isa<gpu::ConvertLayoutOp, ir::ReshapeOp, ir::ExpandDimsOp>(op) ||
           (gpu::isElementwiseOnTiles(op) && op->getNumResults() == 1 && isPure(op));
  }

  ir::ViewStoreOp store_;
  llvm::SmallSetVector<Operation *, 16> operations_;
};

/// Builds a subtile of the stored tile, or of what it is computed from.
class PartBuilder {
public:
  PartBuilder(OpBuilder &b, const StoredChain &chain) : b_(b), chain_(chain) {}

  // Null if threads do not hold such subtiles in registers of their own.
  Value build(Value tile, const Position &start, ArrayRef<int64_t> shape) {
    if (Value known = parts_.lookup(tile))
      return known;
    RankedTensorType part = gpu::partOf(cast<RankedTensorType>(tile.getType()), shape);
    Value made;
    if (!part)
      return made;
    if (SplatElementsAttr splat; matchPattern(tile, m_Constant(&splat)))
      made = arith::ConstantOp::create(b_, tile.getLoc(), splat.resizeSplat(part));
    if (Operation *op = tile.getDefiningOp(); !made && chain_.contains(op))
      made = compute(op, part, start);
    if (!made)
      made = gpu::SubtileOp::create(b_, tile.getLoc(), part, tile, start);
    return parts_[tile] = made;
  }

private:
  // Computes the subtile from subtiles of the operands; null if one of them has none.
  Value compute(Operation *op, RankedTensorType part, const Position &start) {
    Position ownStart = start, ownShape(part.getShape());
    if (isa<ir::ReshapeOp, ir::ExpandDimsOp>(op) && !dropOnes(op, ownStart, ownShape))
      return {};
    IRMapping operands;
    for (Value operand : op->getOperands()) {
      if (!isa<RankedTensorType>(operand.getType()))
        continue;
      Value own = build(operand, ownStart, ownShape);
      if (!own)
        return {};
      operands.map(operand, own);
    }
    Operation *copy = b_.clone(*op, operands);
    copy->getResult(0).setType(part);
    return copy->getResult(0);
  }

  // Maps a position and shape of the result to those of the operand, if they differ only in
  // dimensions of extent 1.
  static bool dropOnes(Operation *op, Position &start, Position &shape) {
    ArrayRef<int64_t> from = ir::shapeOf(op->getOperand(0).getType()),
                      to = ir::shapeOf(op->getResult(0).getType());
    SmallVector<std::pair<int64_t, int64_t>> longer;
    for (auto [extent, first, size] : llvm::zip_equal(to, start, shape))
      if (extent != 1)
        longer.emplace_back(first, size);
    auto isLonger = [](int64_t extent) { return extent != 1; };
    if (!llvm::equal(llvm::make_filter_range(from, isLonger),
                     llvm::make_filter_range(to, isLonger)))
      return false;
    start.clear(), shape.clear();
    size_t next = 0;
    for (int64_t extent : from) {
      auto [first, size] = extent == 1 ? std::pair<int64_t, int64_t>(0, 1) : longer[next++];
      start.push_back(first), shape.push_back(size);
    }
    return true;
  }

  OpBuilder &b_;
  const StoredChain &chain_;
  DenseMap<Value, Value> parts_; ///< of this position
};

class StoreSplitter {
public:
  explicit StoreSplitter(ir::ViewStoreOp store)
      : store_(store), b_(store), loc_(store.getLoc()),
        tile_(cast<RankedTensorType>(store.getValue().getType())), chain_(store) {}

  void splitInQuads() {
    RankedTensorType part = gpu::storedPart(tile_, gpu::accessOf(store_).getOrder().front());
    if (!part || part == tile_)
      return;
    forParts(part, [&](Value value, const SmallVector<Value> &offsets) {
      auto own = cast<ir::ViewStoreOp>(b_.clone(*store_));
      own.getValueMutable().assign(value);
      own.getOffsetsMutable().assign(offsets);
    });
    erase();
  }

  // False if threads have to store the tile as they hold it, as when layouts were not propagated.
  bool storeByTma() {
    Refusal why;
    std::optional<gpu::TensorStorePlan> plan = gpu::planTensorStore(store_, tile_, &why);
    if (!plan) {
      gpu::setVariant(store_, gpu::StoreVariant::Vector);
      gpu::addRefusal(store_, "tma refused: " + *why);
      return false;
    }
    allocate(plan->memory, gpu::startsOfParts(tile_.getShape(), plan->part.getShape()).size());
    Value isInside = inside();
    forParts(plan->part, [&](Value value, const SmallVector<Value> &offsets) {
      Value buffer = buffers_[stored_ % buffers_.size()];
      waitForBuffer();
      gpu::SmemStoreOp::create(b_, loc_, value, buffer, /*first_holder=*/false,
                               /*by_matrices=*/true);
      gpu::ProxyFenceOp::create(b_, loc_);
      inOneThread(isInside, [&] {
        auto copy = gpu::TensorStoreOp::create(b_, loc_, buffer, store_.getView(), offsets,
                                               plan->part.getShape());
        copy->setDiscardableAttrs(store_->getDiscardableAttrDictionary());
      });
      ++stored_;
    });
    waitAtEnd();
    erase();
    return true;
  }

private:
  void forParts(RankedTensorType part,
                llvm::function_ref<void(Value, const SmallVector<Value> &)> store) {
    for (const Position &start : gpu::startsOfParts(tile_.getShape(), part.getShape())) {
      Value value = PartBuilder(b_, chain_).build(store_.getValue(), start, part.getShape());
      SmallVector<Value> offsets;
      for (auto [offset, first] : llvm::zip_equal(store_.getOffsets(), start))
        offsets.push_back(moved(offset, first));
      store(value, offsets);
    }
  }

  void erase() {
    store_.erase();
    chain_.erase();
  }

  Value moved(Value offset, int64_t by) {
    if (by == 0)
      return offset;
    Value distance = arith::ConstantIntOp::create(b_, loc_, by, 32);
    return arith::AddIOp::create(b_, loc_, offset, distance);
  }

  void allocate(gpu::SmemType memory, size_t parts) {
    constexpr size_t kBuffers = 2;
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(&function().getBody().front());
    for (size_t i = 0; i < std::min(parts, kBuffers); ++i)
      buffers_.push_back(
          gpu::SmemAllocOp::create(b_, loc_, memory, /*stages=*/1, layout::kWgmmaAlignment));
  }

  func::FuncOp function() { return store_->getParentOfType<func::FuncOp>(); }

  // Is the tile's first element in the view? Nothing of a tile outside of it is stored, and a view
  // without elements has no tensor map.
  Value inside() {
    auto view = store_.getView().getDefiningOp<ir::MakeViewOp>();
    Value all;
    for (auto [offset, extent] : llvm::zip_equal(store_.getOffsets(), view.getExtents())) {
      Value end = extent;
      if (end.getType() != offset.getType())
        end = arith::TruncIOp::create(b_, loc_, offset.getType(), end);
      Value one = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ult, offset, end);
      all = all ? arith::AndIOp::create(b_, loc_, all, one).getResult() : one;
    }
    return all;
  }

  // Before the first subtile the stores of an earlier iteration must be complete, since they may
  // write the same elements.
  void waitForBuffer() {
    bool isFirst = stored_ == 0;
    if (isFirst && !store_->getParentOfType<LoopLikeOpInterface>())
      return;
    if (!isFirst && stored_ < buffers_.size())
      return;
    auto pending = static_cast<uint32_t>(isFirst ? 0 : buffers_.size() - 1);
    inOneThread({}, [&] {
      gpu::TensorStoreWaitOp::create(b_, loc_, buffers_, pending, /*reads=*/!isFirst);
    });
  }

  void waitAtEnd() {
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPoint(function().getBody().front().getTerminator());
    inOneThread({}, [&] { gpu::TensorStoreWaitOp::create(b_, loc_, buffers_, 0, /*reads=*/true); });
  }

  void inOneThread(Value predicate, llvm::function_ref<void()> make) {
    auto elect = gpu::ElectOp::create(b_, loc_, predicate, gpu::Scope::Team);
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(&elect.getBody().front());
    make();
  }

  ir::ViewStoreOp store_;
  OpBuilder b_;
  Location loc_;
  RankedTensorType tile_;
  StoredChain chain_;
  SmallVector<Value> buffers_;
  size_t stored_ = 0; ///< subtiles so far
};

// Emits an error if the program's choice was taken back because of the tile's layout.
LogicalResult verifyDemand(ir::ViewStoreOp store) {
  auto demanded = static_cast<gpu::StoreVariant>(gpu::demandedVariantOf(store));
  gpu::StoreVariant kind = gpu::storeVariantOf(store);
  bool isOfDots = demanded == gpu::StoreVariant::Tma || demanded == gpu::StoreVariant::Quad;
  if (!isOfDots || kind == demanded)
    return success();
  InFlightDiagnostic error = ir::userError(store.emitError(), ErrorCode::Unsupported);
  for (StringRef refusal : gpu::refusalsOf(store))
    if (refusal.starts_with(gpu::stringifyStoreVariant(demanded)))
      return error << refusal;
  return error << gpu::stringifyStoreVariant(demanded) << " refused: layouts are not propagated";
}

struct StoreSubtiles : passes::impl::StoreSubtilesBase<StoreSubtiles> {
  void runOnOperation() final {
    SmallVector<ir::ViewStoreOp> stores;
    getOperation().walk([&](ir::ViewStoreOp store) { stores.push_back(store); });
    for (ir::ViewStoreOp store : stores) {
      if (gpu::storeVariantOf(store) == gpu::StoreVariant::Tma && StoreSplitter(store).storeByTma())
        continue;
      if (failed(verifyDemand(store)))
        return signalPassFailure();
      if (gpu::storeVariantOf(store) == gpu::StoreVariant::Quad)
        StoreSplitter(store).splitInQuads();
    }
  }
};

} // namespace

} // namespace tile::passes
