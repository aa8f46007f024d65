// Tiles through a launch's workspace: each thread its registers, pieces of 16 bytes beside those of its neighbours.
#include "codegen/lower/GlobalAccess.h"
#include "codegen/lower/Lowering.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tile::codegen {

namespace {

/// The pieces in which a thread reads and writes its registers.
class Pieces {
public:
  Pieces(Lowering &l, Operation *op, Type tile, Value pointer) {
    constexpr int64_t kMostBytes = 16;
    int64_t bytes = gpu::bytesOf(ir::elementTypeOf(tile));
    auto registers = static_cast<int64_t>(Lowering::countOf(tile));
    elements_ = std::min(kMostBytes / bytes, registers & -registers);
    distance_ = elements_ * bytes * ir::warpsOf(op) * ir::kWarpSize;
    Value offset =
        arith::MulIOp::create(l.b, op->getLoc(), l.threads.id(), l.i32(elements_ * bytes));
    pointer_ = LLVM::GEPOp::create(l.b, op->getLoc(), pointer.getType(), l.b.getI8Type(), pointer,
                                   ValueRange{offset});
  }

  size_t elements() const { return static_cast<size_t>(elements_); }
  GlobalPlace place(size_t piece) const {
    return {pointer_, static_cast<int64_t>(piece) * distance_, Value()};
  }

private:
  int64_t elements_, distance_; ///< of a piece; from one to the thread's next, in bytes
  Value pointer_;
};

LogicalResult lowerStore(Lowering &l, Operation *op) {
  auto store = cast<gpu::WorkspaceStoreOp>(op);
  ArrayRef<Value> values = l[store.getValue()];
  Pieces pieces(l, op, store.getValue().getType(), l.scalar(store.getPtr()));
  for (size_t reg = 0; reg < values.size(); reg += pieces.elements())
    storeGlobal(l, op->getLoc(), pieces.place(reg / pieces.elements()),
                values.slice(reg, pieces.elements()));
  return success();
}

Value add(Lowering &l, Location loc, Value a, Value b) {
  if (isa<FloatType>(a.getType()))
    return arith::AddFOp::create(l.b, loc, a, b);
  return arith::AddIOp::create(l.b, loc, a, b);
}

// What is read, added to what `to` holds if there is that.
void lowerRead(Lowering &l, Operation *op, Value pointer, Value to) {
  Type tile = op->getResult(0).getType();
  Pieces pieces(l, op, tile, l.scalar(pointer));
  Value zero = l.constant(op->getLoc(), cast<TypedAttr>(l.b.getZeroAttr(ir::elementTypeOf(tile))));
  SmallVector<Value> kind(pieces.elements(), zero);
  Registers registers;
  for (size_t piece = 0; registers.size() < Lowering::countOf(tile); ++piece)
    for (Value element : loadGlobal(l, op->getLoc(), pieces.place(piece), kind)) {
      size_t reg = registers.size();
      registers.push_back(to ? add(l, op->getLoc(), l[to][reg], element) : element);
    }
  l.set(op->getResult(0), std::move(registers));
}

LogicalResult lowerLoad(Lowering &l, Operation *op) {
  lowerRead(l, op, cast<gpu::WorkspaceLoadOp>(op).getPtr(), Value());
  return success();
}

LogicalResult lowerAdd(Lowering &l, Operation *op) {
  auto add = cast<gpu::WorkspaceAddOp>(op);
  lowerRead(l, op, add.getPtr(), add.getValue());
  return success();
}

constexpr LoweringRow kLowerings[] = {
    on<gpu::WorkspaceAddOp, lowerAdd>,
    on<gpu::WorkspaceLoadOp, lowerLoad>,
    on<gpu::WorkspaceStoreOp, lowerStore>,
};

} // namespace

LoweringTable workspaceLowerings() { return kLowerings; }

} // namespace tile::codegen
