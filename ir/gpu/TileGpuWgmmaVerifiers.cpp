// Verifiers of asynchronous dots, and the dots that a wait may be for.
#include "ir/gpu/TileGpuDialect.h"
#include "ir/instructions/Wgmma.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

LogicalResult InFlightType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                   RankedTensorType tile) {
  if (!tile || !tile.hasStaticShape() || !isa_and_present<LayoutAttr>(tile.getEncoding()))
    return emitError() << "only a tile with a layout can be in flight";
  return success();
}

Type tile::gpu::tileOf(Type type) {
  auto inFlight = dyn_cast<InFlightType>(type);
  return inFlight ? inFlight.getTile() : type;
}

// Infers the type in flight of operand `number`, which is a tile or already in flight.
static LogicalResult inferInFlight(std::optional<Location> loc, ValueRange operands, size_t number,
                                   SmallVectorImpl<Type> &types) {
  Type sums = operands.size() > number ? operands[number].getType() : Type();
  auto tile = sums ? dyn_cast<RankedTensorType>(tileOf(sums)) : RankedTensorType();
  if (!tile || !isa_and_present<LayoutAttr>(tile.getEncoding()))
    return emitOptionalError(loc, "the accumulator must be a tile with a layout, or one in flight");
  types.push_back(InFlightType::get(sums.getContext(), tile));
  return success();
}

LogicalResult DotAsyncOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                           ValueRange operands, DictionaryAttr, OpaqueProperties,
                                           RegionRange, SmallVectorImpl<Type> &types) {
  constexpr size_t kAcc = 2;
  return inferInFlight(loc, operands, kAcc, types);
}

LogicalResult DotBeginOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                           ValueRange operands, DictionaryAttr, OpaqueProperties,
                                           RegionRange, SmallVectorImpl<Type> &types) {
  return inferInFlight(loc, operands, 0, types);
}

LogicalResult DotAsyncOp::verify() {
  auto inShared = dyn_cast<SmemType>(getA().getType());
  ArrayRef<int64_t> a = inShared ? inShared.getShape() : ir::shapeOf(getA().getType()),
                    b = getB().getType().getShape(), acc = ir::shapeOf(tileOf(getAcc().getType()));
  if (!inShared &&
      !isa_and_present<LayoutAttr>(cast<RankedTensorType>(getA().getType()).getEncoding()))
    return emitOpError("needs a layout of the operand in registers");
  if (a.size() != 2 || b.size() != 2 || acc.size() != 2)
    return emitOpError("operands and accumulator must be matrices");
  if (!inShared && getTransposedA())
    return emitOpError("only operands in shared memory can be transposed there");
  int32_t m = getOuterDimOfA(), n = getOuterDimOfB();
  if (a[1 - m] != b[1 - n] || a[m] != acc[0] || b[n] != acc[1])
    return emitOpError("the shapes are not those of a product");
  if (getRange() && getRange()->size() != 2)
    return emitOpError("the range must be a first k and the one after the last");
  auto [begin, end] = getSpan();
  if (begin < 0 || begin >= end || end > getDepth())
    return emitOpError("the range must be within K, which is ") << getDepth();
  return success();
}

// The number of dots that are certainly issued after `product` and before `wait`: those in the same
// block.
static int32_t begunBetween(DotAsyncOp product, DotWaitOp wait) {
  int32_t count = 0;
  if (!product || product->getBlock() != wait->getBlock())
    return count;
  for (Operation *op = product->getNextNode(); op && op != wait; op = op->getNextNode())
    count += isa<DotAsyncOp>(op);
  return count;
}

LogicalResult DotWaitOp::verify() {
  auto pending = static_cast<int32_t>(getPending());
  if (pending < 0 || pending > static_cast<int32_t>(ir::kMostWgmmaPending))
    return emitOpError("pending must be 0 to ") << ir::kMostWgmmaPending << ", got " << pending;
  bool isDone = pending <= begunBetween(getSums().getDefiningOp<DotAsyncOp>(), *this);
  RankedTensorType tile = getSums().getType().getTile();
  Type expected = isDone ? Type(tile) : Type(getSums().getType());
  if (getResult().getType() != expected)
    return emitOpError("the result must be ")
           << expected << (isDone ? ": nothing is left to wait for" : ": the tile stays in flight");
  return success();
}

// The values that a tile in flight may come from, through loops and branches that carry it.
static SmallVector<Value, 2> sourcesOf(Value sums) {
  if (auto argument = dyn_cast<BlockArgument>(sums)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop)
      return {};
    return {loop.getTiedLoopInit(argument)->get(), loop.getTiedLoopYieldedValue(argument)->get()};
  }
  Operation *op = sums.getDefiningOp();
  unsigned number = cast<OpResult>(sums).getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return {loop.getInitArgs()[number], loop.getYieldedValues()[number]};
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return {branch.thenYield().getOperand(number), branch.elseYield().getOperand(number)};
  if (auto wait = dyn_cast<DotWaitOp>(op))
    return {wait.getSums()};
  if (auto product = dyn_cast<DotAsyncOp>(op))
    return {product.getAcc()};
  return {};
}

SmallVector<DotAsyncOp> DotWaitOp::getDots() {
  SmallVector<DotAsyncOp> products;
  llvm::SmallSetVector<Value, 8> sums; // grows during the loop
  sums.insert(getSums());
  for (size_t i = 0; i < sums.size(); ++i) {
    if (auto product = sums[i].getDefiningOp<DotAsyncOp>())
      products.push_back(product);
    for (Value source : sourcesOf(sums[i]))
      if (isa<InFlightType>(source.getType()))
        sums.insert(source);
  }
  return products;
}
