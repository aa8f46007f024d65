// Shared memory at places that depend on data: gathers, and counters for histograms.
#include "codegen/InlinePtx.h"
#include "codegen/lower/GlobalAccess.h"
#include "codegen/thread/Words.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tile::codegen {

namespace {

/// Addresses of elements whose coordinates are values.
class IndexedAddress {
public:
  IndexedAddress(Lowering &l, Location loc, Value memory)
      : l_(l), loc_(loc), type_(cast<gpu::SmemType>(memory.getType())),
        shared_(gpu::sharedOf(type_)), base_(l.shared.placeOf(memory)) {}

  /// `coordinates` must lie inside the tile.
  Value pointer(ArrayRef<Value> coordinates) {
    Value toggle = l_.i32(0), addend = l_.i32(base_.offset);
    if (base_.moved)
      addend = arith::AddIOp::create(l_.b, loc_, addend, base_.moved);
    Value bytes = l_.i32(gpu::bytesOf(type_.getElementType()));
    for (auto [dim, coordinate] : llvm::enumerate(coordinates)) {
      toggle = arith::XOrIOp::create(l_.b, loc_, toggle,
                                     l_.coordinates.linear(coordinate, columnsOf(dim)));
      int panel = shared_.panelBits()[dim];
      if (type_.getShape()[dim] >> panel <= 1)
        continue;
      Value digit = arith::ShRUIOp::create(l_.b, loc_, coordinate, l_.i32(panel));
      Value stride = l_.i32(shared_.digitStrides()[dim] * gpu::bytesOf(type_.getElementType()));
      addend = arith::AddIOp::create(l_.b, loc_, addend,
                                     arith::MulIOp::create(l_.b, loc_, digit, stride));
    }
    Value offset = arith::MulIOp::create(l_.b, loc_, toggle, bytes);
    return l_.shared.pointer(arith::AddIOp::create(l_.b, loc_, offset, addend));
  }

private:
  // What the low bits of a coordinate contribute; the last dimension's come first.
  SmallVector<int64_t> columnsOf(size_t dim) {
    size_t first = 0;
    for (size_t later = dim + 1; later < shared_.panelBits().size(); ++later)
      first += shared_.panelBits()[later];
    ArrayRef<uint64_t> columns =
        ArrayRef(shared_.linear().columns()).slice(first, shared_.panelBits()[dim]);
    return SmallVector<int64_t>(columns.begin(), columns.end());
  }

  Lowering &l_;
  Location loc_;
  gpu::SmemType type_;
  layout::SharedLayout shared_;
  SharedSpace::Place base_;
};

LogicalResult lowerSmemGather(Lowering &l, Operation *op) {
  auto gather = cast<gpu::SmemGatherOp>(op);
  if (!SharedSpace::hasPlace(gather.getSmem()))
    return op->emitOpError("needs memory of a tilegpu.smem_alloc");
  Location loc = op->getLoc();
  layout::Layout layout = gpu::layoutOf(gather.getResult().getType());
  Type element = Lowering::registerType(gather.getResult().getType());
  IndexedAddress address(l, loc, gather.getSmem());
  auto axis = static_cast<int>(gather.getAxis());
  Value last = l.i32(gather.getSmem().getType().getShape()[axis] - 1);
  Registers results;
  for (auto [reg, index] : llvm::enumerate(l[gather.getIndices()])) {
    SmallVector<Value> coordinates;
    for (int dim = 0; dim < layout.rank(); ++dim)
      coordinates.push_back(dim == axis ? arith::MinUIOp::create(l.b, loc, index, last).getResult()
                                        : l.coordinates.of(layout, dim, static_cast<int32_t>(reg)));
    Words words = wordsFor(l, element, 1);
    words.values[0] = LLVM::LoadOp::create(l.b, loc, l.b.getIntegerType(words.bits),
                                           address.pointer(coordinates), words.bits / 8);
    results.push_back(unpackWords(l, loc, words, element, 1).front());
  }
  l.set(gather.getResult(), std::move(results));
  return success();
}

// Each element once: threads and registers that repeat it are left out.
LogicalResult lowerSmemCount(Lowering &l, Operation *op) {
  auto count = cast<gpu::SmemCountOp>(op);
  if (!SharedSpace::hasPlace(count.getSmem()))
    return op->emitOpError("needs memory of a tilegpu.smem_alloc");
  Location loc = op->getLoc();
  layout::Layout layout = gpu::layoutOf(count.getInput().getType());
  Value isFirst = l.coordinates.isFirstHolder(layout);
  Value counters = l.i32(count.getSmem().getType().getShape()[0]);
  uint32_t duplicates = layout.freeMask(layout::In::Register);
  IndexedAddress address(l, loc, count.getSmem());
  for (auto [reg, element] : llvm::enumerate(l[count.getInput()])) {
    if (reg & duplicates)
      continue;
    // Negative numbers are large unsigned ones.
    Value counts = arith::CmpIOp::create(l.b, loc, arith::CmpIPredicate::ult, element, counters);
    counts = bothTrue(l, loc, counts, isFirst);
    counts = bothTrue(l, loc, counts, count.getMask() ? l[count.getMask()][reg] : Value());
    Value pointer =
        LLVM::PtrToIntOp::create(l.b, loc, l.b.getI32Type(), address.pointer({element}));
    inlineMemoryPtx(l.b, loc, "@$1 red.relaxed.cta.shared.add.u32 [$0], 1;", "r,b",
                    LLVM::LLVMVoidType::get(l.b.getContext()), {pointer, counts});
  }
  return success();
}

constexpr LoweringRow kLowerings[] = {
    on<gpu::SmemCountOp, lowerSmemCount>,
    on<gpu::SmemGatherOp, lowerSmemGather>,
};

} // namespace

LoweringTable sharedIndexedLowerings() { return kLowerings; }

} // namespace tile::codegen
