#include "passes/staging/LoopLoads.h"

#include "ir/Annotations.h"
#include "ir/AsyncCopy.h"
#include "ir/DotLayouts.h"
#include "ir/LayoutAttr.h"
#include "ir/LayoutOp.h"
#include "ir/TensorCopy.h"
#include "ir/UserError.h"
#include "ir/layout/Derived.h"
#include "ir/layout/MultiplyAdd.h"
#include "passes/analysis/FragmentLoads.h"
#include "passes/analysis/RunAhead.h"
#include "passes/staging/StagingLayout.h"
#include "passes/staging/TransposedLoads.h"
#include "passes/staging/WgmmaMemory.h"
#include "llvm/ADT/MapVector.h"
#include <numeric>

using namespace mlir;

namespace tile::passes {

namespace {

/// A product's operand that a load brings, or the load of the same tile with rows for columns.
struct PartUse {
  OpOperand *operand;
  bool isTransposed;
};

/// One load, as a part of the loop's ring.
struct Part {
  /// The tile's as products take it: without the view's dimensions of extent 1.
  layout::Shape shape;
  /// Where its elements are in registers if the load puts them there.
  layout::Layout loaded;
  /// Those by products of the body.
  SmallVector<PartUse> uses;
  /// Changes of its layout for other users: what operands are computed from.
  SmallVector<gpu::ConvertLayoutOp> changes;
  SmallVector<layout::Layout> readers;
  gpu::SmemType memory;
  /// How the tile gets there: by the copy engine, by asynchronous copies of threads, or else through registers.
  gpu::VariantKind transport = gpu::VariantKind::Vector;

  bool isAsync() const { return transport != gpu::VariantKind::Vector; }

  /// The form of the tile's memory that a product by wgmma demands; null if none reads it. Several agree: the tile is
  /// ordered as its view for all of them.
  gpu::SmemType memoryForWgmma() const {
    for (auto [operand, isTransposed] : uses)
      if (gpu::isWgmma(cast<ir::DotOp>(operand->getOwner())) && gpu::readsSharedMemory(*operand)) {
        gpu::SmemType memory = wgmmaStagingType(*operand);
        return isTransposed ? transposed(memory) : memory;
      }
    return {};
  }
};

/// What a product reads of an operand in registers, or if it reads shared memory what it multiplies.
layout::Layout readerOf(OpOperand &use) {
  auto dot = cast<ir::DotOp>(use.getOwner());
  if (!gpu::isMultiplyAdd(dot))
    return gpu::layoutOf(use.get().getType());
  layout::Layout acc = gpu::layoutOf(dot.getAcc().getType());
  return use.getOperandNumber() == 0 ? layout::multiplyAddRows(acc, dot.getSizes().k)
                                     : layout::multiplyAddColumns(acc, dot.getSizes().k);
}

// Is a tile taken by tensor cores alone? Products by multiply-add read shared memory as it lies.
bool isForMatrixUnits(ir::ViewLoadOp load) {
  SmallVector<Value> open = {load.getResult()};
  while (!open.empty())
    for (OpOperand &use : open.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (gpu::isDotOperand(use)) {
        if (gpu::isMultiplyAdd(cast<ir::DotOp>(user)))
          return false;
      } else if (user->getNumResults() == 1 && loadBehind(user->getResult(0)) == load) {
        open.push_back(user->getResult(0));
      } else {
        return false;
      }
    }
  return true;
}

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
    collect();
    for (auto &[load, part] : parts_)
      if (failed(verifyDemand(load, part)))
        return failure();
    if (!parts_.empty()) {
      b_.setInsertionPoint(loop_.getBody(), placeOfFills());
      fill();
      read();
    }
    return std::move(staged_);
  }

private:
  void collect() {
    for (auto load : loop_.getBody()->getOps<ir::ViewLoadOp>())
      if (feedsProduct(load) && !goesToFragments(load) && !whyNotAhead(load))
        addPart(load);
    for (auto dot : loop_.getBody()->getOps<ir::DotOp>())
      for (unsigned number : {0u, 1u})
        collect(dot->getOpOperand(number));
    for (auto change : loop_.getBody()->getOps<gpu::ConvertLayoutOp>())
      collect(change);
    parts_.remove_if([](auto &part) { return !decide(part.first, part.second); });
  }

  void addPart(ir::ViewLoadOp load) {
    const auto *same = llvm::find_if(parts_, [&](auto &part) {
      return isTransposeOf(load, part.first) && isForMatrixUnits(load);
    });
    if (same == parts_.end())
      parts_[load] = {};
    else
      transposes_[load] = same->first;
  }

  // The load that an operand comes from, and whether with rows for columns.
  std::pair<ir::ViewLoadOp, bool> sourceOf(OpOperand &use) {
    bool isTransposed = false;
    ir::ViewLoadOp load = loadBehind(use.get());
    Value tile = load || gpu::isMultiplyAdd(cast<ir::DotOp>(use.getOwner()))
                     ? Value()
                     : transposedIn(use.get());
    if (tile)
      load = loadBehind(tile), isTransposed = true;
    ir::ViewLoadOp same = load ? transposes_.lookup(load) : load;
    return same ? std::pair(same, !isTransposed) : std::pair(load, isTransposed);
  }

  void collect(OpOperand &use) {
    auto [load, isTransposed] = sourceOf(use);
    auto *found = load ? parts_.find(load) : parts_.end();
    if (found == parts_.end())
      return;
    Part &part = found->second;
    SmallVector<int64_t> shape(ir::shapeOf(use.get().getType()));
    layout::Layout reader = readerOf(use);
    if (isTransposed)
      std::reverse(shape.begin(), shape.end()), reader = layout::permute(reader, {1, 0});
    if (part.uses.empty())
      part.shape.assign(shape.begin(), shape.end());
    if (ArrayRef(part.shape) != ArrayRef(shape))
      return; // of another rank: staged by itself
    part.uses.push_back({&use, isTransposed});
    part.readers.push_back(reader);
  }

  void collect(gpu::ConvertLayoutOp change) {
    ir::ViewLoadOp load = loadBehind(change.getResult());
    auto found = load ? parts_.find(load) : parts_.end();
    bool isForProducts = llvm::all_of(change->getUses(), gpu::isDotOperand);
    if (found == parts_.end() || isForProducts)
      return;
    Part &part = found->second;
    ArrayRef<int64_t> shape = ir::shapeOf(change.getResult().getType());
    if (part.readers.empty())
      part.shape.assign(shape.begin(), shape.end());
    if (ArrayRef(part.shape) != shape)
      return;
    part.changes.push_back(change);
    part.readers.push_back(gpu::layoutOf(change.getResult().getType()));
  }

  // How the tile gets to shared memory; false if it cannot be seen in the shape that products take.
  static bool decide(ir::ViewLoadOp load, Part &part) {
    if (part.readers.empty()) { // products take what is computed from it
      ArrayRef<int64_t> shape = ir::shapeOf(load.getResult().getType());
      part.shape.assign(shape.begin(), shape.end());
      part.readers.push_back(gpu::layoutOf(load.getResult().getType()));
    }
    auto loaded = layout::reshape(gpu::layoutOf(load.getResult().getType()), part.shape);
    if (!loaded)
      return false;
    part.loaded = *loaded;
    if (gpu::variantOf(load) == gpu::VariantKind::Tma && decideTma(load, part))
      return true;
    decideByThreads(load, part);
    return true;
  }

  // Which is read in a few accesses however it lies.
  static bool isRow(ArrayRef<int64_t> shape) {
    return llvm::count_if(shape, [](int64_t extent) { return extent > 1; }) <= 1;
  }

  // The copy engine writes memory of its own form, which must not cost the readers more. If it cannot, threads copy.
  static bool decideTma(ir::ViewLoadOp load, Part &part) {
    Type element = ir::elementTypeOf(load.getResult().getType());
    ArrayRef<int64_t> shape = ir::shapeOf(load.getResult().getType());
    gpu::SmemType demanded = part.memoryForWgmma(),
                  memory =
                      demanded ? demanded : gpu::tensorCopyMemory(load, shape, element, part.shape);
    std::string why = "its fastest dimension in the view is none of the tile";
    bool isPossible = memory && gpu::planTensorCopy(load, load.getView(), shape, memory, &why);
    if (isPossible && !demanded && !isRow(part.shape) &&
        readCost(memory, part.readers) >
            readCost(stagingType(part.loaded, element, part.readers), part.readers)) {
      isPossible = false;
      why = "what reads the tile would meet bank conflicts in memory as the copy engine writes it";
    }
    if (isPossible) {
      part.memory = memory;
      part.transport = gpu::VariantKind::Tma;
      return true;
    }
    gpu::addRefusal(load, "tma refused: " + why);
    gpu::setVariant(load, gpu::VariantKind::CpAsync);
    return false;
  }

  static LogicalResult verifyDemand(ir::ViewLoadOp load, const Part &part) {
    bool wantsTma = gpu::demandedVariantOf(load) == gpu::VariantKind::Tma;
    if (!wantsTma || part.transport == gpu::VariantKind::Tma)
      return success();
    return ir::userError(load.emitError(), ErrorCode::Unsupported) << gpu::refusalsOf(load).back();
  }

  static void decideByThreads(ir::ViewLoadOp load, Part &part) {
    Type element = ir::elementTypeOf(load.getResult().getType());
    bool wantsAsync = gpu::variantOf(load) == gpu::VariantKind::CpAsync;
    if (gpu::SmemType memory = part.memoryForWgmma())
      part.memory = memory;
    else if (wantsAsync)
      part.memory = stagingType(part.loaded, element, part.readers, [&](gpu::SmemType memory) {
        return costOfCopy(load, part.loaded, memory);
      });
    else
      part.memory = stagingType(part.loaded, element, part.readers);
    if (wantsAsync && copyPlan(load, part.memory))
      part.transport = gpu::VariantKind::CpAsync;
  }

  static std::optional<gpu::AsyncCopyPlan> copyPlan(ir::ViewLoadOp load, gpu::SmemType memory) {
    return gpu::planAsyncCopy(load, ir::shapeOf(load.getResult().getType()), memory,
                              ir::warpsOf(load));
  }

  // By asynchronous copies, or if they cannot by loads into registers and stores.
  static int64_t costOfCopy(ir::ViewLoadOp load, const layout::Layout &loaded,
                            gpu::SmemType memory) {
    layout::SharedLayout shared = gpu::sharedOf(memory);
    int64_t bytes = gpu::bytesOf(memory.getElementType());
    std::optional<gpu::AsyncCopyPlan> plan = copyPlan(load, memory);
    if (!plan)
      return loaded.numRegisters() / gpu::accessOf(load).getVector() +
             accessCost(loaded, shared, bytes);
    layout::VectorGroup group(static_cast<size_t>(plan->elements));
    std::iota(group.begin(), group.end(), 0);
    return accessCost(plan->inMemory, shared, bytes, group);
  }

  // What the loads' places follow from goes to the top of the body; the operation before which the ring is filled.
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
    gpu::RingAcquireOp::create(b_, loc, ring_, number_);
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
    gpu::RingCommitOp::create(b_, loc, ring_, number_);
  }

  void copy(ir::ViewLoadOp load, size_t part) {
    auto copy = gpu::RingCopyOp::create(b_, load.getLoc(), load.getView(), load.getOffsets(), ring_,
                                        number_, Value(), static_cast<int32_t>(part),
                                        ir::shapeOf(load.getResult().getType()));
    copy->setDiscardableAttrs(load->getDiscardableAttrDictionary());
  }

  Value loadInRegisters(ir::ViewLoadOp load, const Part &part) {
    IRMapping nothing;
    auto moved = cast<ir::ViewLoadOp>(b_.clone(*load, nothing));
    if (gpu::variantOf(moved) == gpu::VariantKind::CpAsync) {
      gpu::addRefusal(
          moved,
          "cp_async refused: a thread's neighbours in the view are no neighbours in shared memory");
      gpu::setVariant(moved, gpu::accessOf(moved).getVector() > 1 ? gpu::VariantKind::Vector
                                                                  : gpu::VariantKind::Scalar);
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
    auto get = gpu::RingGetOp::create(b_, loop_.getLoc(), ring_, number_);
    for (auto [i, entry] : llvm::enumerate(parts_)) {
      auto &[load, part] = entry;
      Value memory = get.getTiles()[i];
      for (PartUse use : part.uses)
        readAsOperand(use, memory);
      for (gpu::ConvertLayoutOp change : part.changes)
        readInLayout(change, memory);
      readAsTile(load, part, memory);
    }
    b_.setInsertionPoint(loop_.getBody()->getTerminator());
    gpu::RingReleaseOp::create(b_, loop_.getLoc(), ring_, number_);
  }

  void readAsOperand(PartUse use, Value memory) {
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

  // Each thread reads the elements that it shall have: what becomes columns of rows are the names of registers.
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

  // Users that are no products see the tile as it was loaded. Products by multiply-add are among the users until they
  // are replaced.
  void readAsTile(ir::ViewLoadOp load, const Part &part, Value memory) {
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
  llvm::MapVector<ir::ViewLoadOp, Part> parts_;
  llvm::DenseMap<ir::ViewLoadOp, ir::ViewLoadOp> transposes_; ///< of loads of parts
  Value ring_, number_;
  OperandsOfLoops staged_;
};

} // namespace

FailureOr<OperandsOfLoops> promoteLoads(scf::ForOp loop) { return LoopRing(loop).promote(); }

} // namespace tile::passes
