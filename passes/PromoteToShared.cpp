// PromoteToShared: operands of products reach their fragment layouts through shared memory. Each becomes a ring of one
// slot: `put` writes the tile as it was loaded, `get` names the slot, and a load from it delivers the fragments; products
// by multiply-add read the slot themselves. The swizzle lets both sides pass without bank conflicts, and a transposed
// operand needs no transpose of its own.
#include "passes/Passes.h"

#include "ir/DotLayouts.h"
#include "ir/LayoutAttr.h"
#include "ir/layout/MultiplyAdd.h"
#include "ir/layout/SharedAccess.h"

namespace tile::passes {
#define GEN_PASS_DEF_PROMOTETOSHARED
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

// Dimensions from the fastest in the registers that write the tile: its rows in shared memory run the same way.
std::vector<int32_t> orderOf(gpu::LayoutAttr layout) {
  int32_t rank = layout.getRank(), fastest = rank - 1;
  ArrayRef<int32_t> first =
      layout.getRegisters().empty() ? layout.getLanes() : layout.getRegisters();
  for (int32_t dim = 0; dim < rank && first.size() >= static_cast<size_t>(rank); ++dim)
    if (first[dim] == 1)
      fastest = dim;
  std::vector<int32_t> order = {fastest};
  for (int32_t dim = rank; dim-- > 0;)
    if (dim != fastest)
      order.push_back(dim);
  return order;
}

/// Cycles of a warp that reads the tile (or writes it) in a layout: accesses issued plus wavefronts served.
int64_t readCost(const layout::Layout &layout, const layout::SharedLayout &shared, int bytes) {
  layout::VectorGroup group = layout::vectorGroupOf(layout, shared, bytes, 0);
  layout::Wavefronts one = layout::groupWavefronts(layout, shared, bytes, group, 0);
  return layout.numRegisters() / static_cast<int64_t>(group.size()) *
         (one.instructions + one.actual);
}

// The swizzle for ldmatrix if that delivers all readers' fragments; else the cheapest of it and those made for one reader.
layout::SharedLayout stagingLayout(const layout::Layout &writer, std::vector<int32_t> order,
                                   ArrayRef<layout::Layout> readers, int bytes) {
  auto best = layout::SharedLayout::swizzled(writer.shape(), order, bytes);
  if (llvm::all_of(readers, [&](const layout::Layout &reader) {
        return layout::matchMatrixAccess(reader, best, bytes).has_value();
      }))
    return best;
  auto cost = [&](const layout::SharedLayout &shared) {
    int64_t sum = readCost(writer, shared, bytes);
    for (const layout::Layout &reader : readers)
      sum += readCost(reader, shared, bytes);
    return sum;
  };
  int64_t bestCost = cost(best);
  for (const layout::Layout &reader : readers) {
    auto candidate = layout::scratchSwizzle(writer, reader, bytes);
    if (int64_t candidateCost = cost(candidate); candidateCost < bestCost)
      best = std::move(candidate), bestCost = candidateCost;
  }
  return best;
}

gpu::SmemType stagingType(RankedTensorType tile, ArrayRef<layout::Layout> readers) {
  auto shared = stagingLayout(gpu::layoutOf(tile), orderOf(gpu::encodingOf(tile)), readers,
                              static_cast<int>(gpu::bytesOf(tile.getElementType())));
  return gpu::SmemType::get(tile.getContext(), tile.getShape(), tile.getElementType(),
                            gpu::attributeOf(tile.getContext(), shared));
}

/// A tile in a ring of one slot.
struct Staged {
  Value ring, slot;

  Value get(OpBuilder &builder, Location loc) const {
    auto slotType = cast<gpu::RingType>(ring.getType()).getSlotType();
    return gpu::RingGetOp::create(builder, loc, slotType, ring, slot);
  }
  void release(OpBuilder &builder, Location loc) const {
    gpu::RingReleaseOp::create(builder, loc, ring, slot);
  }
};

struct PromoteToShared : passes::impl::PromoteToSharedBase<PromoteToShared> {
  void runOnOperation() final {
    SmallVector<ir::DotOp> dots;
    getOperation().walk([&](ir::DotOp dot) { dots.push_back(dot); });
    for (ir::DotOp dot : dots)
      if (gpu::isMultiplyAdd(dot))
        multiplyFromShared(dot);
      else
        stageFragments(dot);
  }

  // A tile that is both operands is put once. Both puts come before both loads, so that one barrier serves them.
  void stageFragments(ir::DotOp dot) {
    SmallVector<gpu::ConvertLayoutOp> changes;
    for (Value operand : {dot.getA(), dot.getB()})
      if (auto change = operand.getDefiningOp<gpu::ConvertLayoutOp>())
        if (!llvm::is_contained(changes, change))
          changes.push_back(change);
    if (changes.size() == 2 && changes[0].getInput() == changes[1].getInput() &&
        placeOf(changes[0], dot) == placeOf(changes[1], dot)) {
      Staged staged = put(changes[0].getInput(), changes, placeOf(changes[0], dot));
      for (gpu::ConvertLayoutOp change : changes)
        load(change, staged, dot);
      return;
    }
    SmallVector<Staged> staged;
    for (gpu::ConvertLayoutOp change : changes)
      staged.push_back(put(change.getInput(), change, placeOf(change, dot)));
    for (auto [change, stage] : llvm::zip_equal(changes, staged))
      load(change, stage, dot);
  }

  // Beside the product if the change happens there, so that global loads go first; else where it stood.
  Operation *placeOf(gpu::ConvertLayoutOp change, ir::DotOp dot) {
    return change->getBlock() == dot->getBlock() ? dot.getOperation() : change.getOperation();
  }

  Staged put(Value tile, ArrayRef<gpu::ConvertLayoutOp> changes, Operation *place) {
    SmallVector<layout::Layout> readers;
    for (gpu::ConvertLayoutOp change : changes)
      readers.push_back(gpu::layoutOf(change.getResult().getType()));
    return put(tile, readers, place);
  }

  Staged put(Value tile, ArrayRef<layout::Layout> readers, Operation *place) {
    OpBuilder top = OpBuilder::atBlockBegin(&getOperation().getBody().front());
    Location loc = tile.getLoc();
    auto slotType = stagingType(cast<RankedTensorType>(tile.getType()), readers);
    Value ring = gpu::RingAllocOp::create(top, loc, gpu::RingType::get(&getContext(), 1, slotType));
    OpBuilder builder(place);
    Value slot = arith::ConstantIntOp::create(builder, loc, 0, 32);
    gpu::RingPutOp::create(builder, loc, tile, ring, slot);
    return {ring, slot};
  }

  void load(gpu::ConvertLayoutOp change, const Staged &staged, ir::DotOp dot) {
    OpBuilder builder(placeOf(change, dot));
    Location loc = change.getLoc();
    Value smem = staged.get(builder, loc);
    Value fragment = gpu::SmemLoadOp::create(builder, loc, change.getResult().getType(), smem);
    staged.release(builder, loc);
    // A change with users before the product keeps them: they see the value in its own place.
    change.getResult().replaceUsesWithIf(fragment, [&](OpOperand &use) {
      return use.getOwner() == dot || placeOf(change, dot) == change;
    });
    if (change->use_empty())
      change.erase();
  }

  // Operands from before a loop are put there, once.
  Operation *placeOf(Value tile, ir::DotOp dot) {
    Operation *op = tile.getDefiningOp();
    return op && op->getBlock() != dot->getBlock() ? op->getNextNode() : dot.getOperation();
  }

  void multiplyFromShared(ir::DotOp dot) {
    layout::Layout acc = gpu::layoutOf(dot.getAcc().getType());
    layout::Layout rows = layout::multiplyAddRows(acc, dot.getSizes().k),
                   columns = layout::multiplyAddColumns(acc, dot.getSizes().k);
    Value a = dot.getA(), b = dot.getB();
    Staged left, right;
    if (a == b) {
      left = right = put(a, {rows, columns}, placeOf(a, dot));
    } else {
      left = put(a, rows, placeOf(a, dot));
      right = put(b, columns, placeOf(b, dot));
    }
    OpBuilder builder(dot);
    Location loc = dot.getLoc();
    Value smemA = left.get(builder, loc), smemB = right.get(builder, loc);
    auto product = gpu::SmemDotOp::create(builder, loc, dot.getResult().getType(), smemA, smemB,
                                          dot.getAcc(), dot.getOperandsUnsigned());
    product->setDiscardableAttrs(dot->getDiscardableAttrDictionary());
    left.release(builder, loc);
    if (a != b)
      right.release(builder, loc);
    dot.replaceAllUsesWith(product.getResult());
    dot.erase();
  }
};

} // namespace

} // namespace tile::passes
