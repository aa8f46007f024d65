// Verifiers of attributes, types and operations of `tilegpu`.
#include "ir/gpu/TileGpuDialect.h"

#include "ir/LayoutAttr.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu;

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError, int32_t rank,
                                 ArrayRef<int32_t> registers, ArrayRef<int32_t> lanes,
                                 ArrayRef<int32_t> warps) {
  if (rank < 1 || rank > 8)
    return emitError() << "a layout's rank must be 1 to 8, got " << rank;
  for (ArrayRef<int32_t> bases : {registers, lanes, warps}) {
    if (bases.size() % rank)
      return emitError() << "basis vectors must have length " << rank;
    for (int32_t coordinate : bases)
      if (coordinate < 0)
        return emitError() << "basis vectors must not be negative, got " << coordinate;
  }
  if (lanes.size() / rank != 5)
    return emitError() << "a layout needs 5 lane vectors, got " << lanes.size() / rank;
  if (warps.size() / rank > 5)
    return emitError() << "a layout has at most 5 warp vectors, got " << warps.size() / rank;
  if (registers.size() / rank > 20)
    return emitError() << "a layout has at most 20 register vectors, got "
                       << registers.size() / rank;
  return success();
}

LogicalResult LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                         function_ref<InFlightDiagnostic()> emitError) const {
  if (static_cast<int64_t>(shape.size()) != getRank())
    return emitError() << "the layout has rank " << getRank() << ", the tile " << shape.size();
  if (failed(ir::verifyTileShape(shape, emitError)))
    return failure();
  for (ArrayRef<int32_t> bases : {getRegisters(), getLanes(), getWarps()})
    for (auto [i, coordinate] : llvm::enumerate(bases)) {
      int64_t extent = shape[i % getRank()];
      if (coordinate >= (extent & -extent))
        return emitError() << "coordinate " << coordinate << " is outside the power-of-two part "
                           << (extent & -extent) << " of extent " << extent;
    }
  if (!layoutOf(shape, *this).isSurjective())
    return emitError() << "the layout does not reach every element of the tile";
  return success();
}

LogicalResult SharedAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int32_t> panel, ArrayRef<int64_t> linear,
                                 ArrayRef<int64_t> digits) {
  int64_t bits = 0;
  for (int32_t count : panel) {
    if (count < 0 || count > 20)
      return emitError() << "panel bits must be 0 to 20, got " << count;
    bits += count;
  }
  if (panel.empty() || panel.size() != digits.size())
    return emitError() << "panel and digits must name the same dimensions, at least one";
  if (static_cast<int64_t>(linear.size()) != bits)
    return emitError() << "linear must have one column a panel bit, " << bits << ", got "
                       << linear.size();
  for (int64_t value : llvm::concat<const int64_t>(linear, digits))
    if (value < 0 || value > (int64_t(1) << 30))
      return emitError() << "offsets must be 0 to 2^30, got " << value;
  return success();
}

LogicalResult SmemType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type elementType, SharedAttr shared) {
  if (failed(ir::verifyTileShape(shape, emitError)))
    return failure();
  if (!elementType.isIntOrFloat() && !isa<ir::PtrType>(elementType))
    return emitError() << "shared memory holds numbers and pointers, got " << elementType;
  if (shared.getPanel().size() != shape.size())
    return emitError() << "the shared layout has rank " << shared.getPanel().size() << ", the tile "
                       << shape.size();
  Refusal why;
  if (!createShared(shape, shared, &why))
    return emitError() << *why;
  return success();
}

int64_t SmemType::getBytes() const {
  return sharedOf(*this).numBytes(tile::gpu::bytesOf(getElementType()));
}

LogicalResult RingType::verify(function_ref<InFlightDiagnostic()> emitError, int32_t stages,
                               ArrayRef<SmemType> tiles) {
  if (stages < 1 || stages > 64)
    return emitError() << "a ring has 1 to 64 stages, got " << stages;
  if (tiles.empty())
    return emitError() << "a stage of a ring holds one tile or more";
  return success();
}

LogicalResult ConvertLayoutOp::verify() {
  auto from = cast<RankedTensorType>(getInput().getType()),
       to = cast<RankedTensorType>(getResult().getType());
  if (from.getShape() != to.getShape() || from.getElementType() != to.getElementType())
    return emitOpError("changes the layout alone: shape and element type must stay");
  if (!from.getEncoding() || !to.getEncoding())
    return emitOpError("needs a layout on both sides");
  return success();
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  if (getInput().getType() == getResult().getType())
    return getInput();
  if (auto producer = getInput().getDefiningOp<ConvertLayoutOp>())
    if (producer.getInput().getType() == getResult().getType())
      return producer.getInput();
  return {};
}

LogicalResult SubtileOp::verify() {
  auto from = cast<RankedTensorType>(getInput().getType()),
       to = cast<RankedTensorType>(getResult().getType());
  if (from.getRank() != to.getRank() || static_cast<int64_t>(getStart().size()) != from.getRank())
    return emitOpError("operand, result and start must have one rank");
  for (auto [dim, first] : llvm::enumerate(getStart()))
    if (first < 0 || first % to.getDimSize(dim) ||
        first + to.getDimSize(dim) > from.getDimSize(dim))
      return emitOpError("no part of ")
             << to.getDimSize(dim) << " elements begins at position " << first << " of "
             << from.getDimSize(dim) << " along dimension " << dim;
  RankedTensorType part = partOf(from, to.getShape());
  if (!part)
    return emitOpError("parts of this shape are not told apart by registers alone");
  if (part != to)
    return emitOpError("the result must be ") << part;
  return success();
}

LogicalResult FromSubtilesOp::verify() {
  if (getSubtiles().empty())
    return emitOpError("needs at least one part");
  auto part = cast<RankedTensorType>(getSubtiles().front().getType()),
       whole = cast<RankedTensorType>(getResult().getType());
  if (!llvm::all_equal(getSubtiles().getTypes()))
    return emitOpError("all parts must have one type");
  if (part.getRank() != whole.getRank() || partOf(whole, part.getShape()) != part)
    return emitOpError("registers of the result alone do not tell apart parts of type ") << part;
  if (static_cast<int64_t>(getSubtiles().size()) * part.getNumElements() != whole.getNumElements())
    return emitOpError("") << getSubtiles().size() << " parts do not make the result";
  return success();
}

LogicalResult ReducePartialOp::verify() {
  if (getInputs().empty() || getInputs().size() != getResults().size())
    return emitOpError("needs one result an operand, and at least one operand");
  size_t count = getInputs().size();
  Block &block = getCombine().front();
  if (block.getNumArguments() != 2 * count || block.getTerminator()->getNumOperands() != count)
    return emitOpError("the region needs ")
           << 2 * count << " arguments and " << count << " results";
  auto axis = static_cast<int32_t>(getAxis());
  for (auto [i, input, result] : llvm::enumerate(getInputs(), getResults())) {
    auto from = cast<RankedTensorType>(input.getType()),
         to = cast<RankedTensorType>(result.getType());
    Type element = from.getElementType();
    if (block.getArgument(i).getType() != element ||
        block.getArgument(count + i).getType() != element ||
        block.getTerminator()->getOperand(i).getType() != element)
      return emitOpError("the region's arguments and results ") << i << " must be " << element;
    if (to.getElementType() != element)
      return emitOpError("the result's element type must be the operand's, ") << element;
    if (axis < 0 || axis >= from.getRank() || from.getRank() != to.getRank())
      return emitOpError("axis ") << axis << " is outside the operand's rank";
    auto layout = dyn_cast_or_null<LayoutAttr>(from.getEncoding());
    if (!layout || !to.getEncoding())
      return emitOpError("needs a layout on both sides");
    SmallVector<int64_t> shape(from.getShape());
    shape[axis] = warpsAlong(layout, axis);
    if (to.getShape() != ArrayRef(shape))
      return emitOpError("the result's axis must have one element a warp, ") << shape[axis];
  }
  return success();
}

// A step of a scan takes tiles with layouts and as many tiles of totals, and has a region that
// combines two tuples.
static LogicalResult verifyScanStep(Operation *op, ValueRange scanned, ValueRange totals,
                                    int32_t axis) {
  if (scanned.empty() || scanned.size() != totals.size())
    return op->emitOpError("needs as many scanned tiles as tiles of totals, and at least one");
  Block &block = op->getRegion(0).front();
  if (block.getNumArguments() != 2 * scanned.size() ||
      block.getTerminator()->getNumOperands() != scanned.size())
    return op->emitOpError("the region needs ")
           << 2 * scanned.size() << " arguments and " << scanned.size() << " results";
  for (auto [tile, total] : llvm::zip_equal(scanned, totals)) {
    auto whole = cast<RankedTensorType>(tile.getType()),
         part = cast<RankedTensorType>(total.getType());
    if (axis < 0 || axis >= whole.getRank() || whole.getRank() != part.getRank())
      return op->emitOpError("axis ") << axis << " is outside the operand's rank";
    auto layout = dyn_cast_or_null<LayoutAttr>(whole.getEncoding());
    if (!layout || !part.getEncoding())
      return op->emitOpError("needs a layout on all sides");
    SmallVector<int64_t> shape(whole.getShape());
    shape[axis] = shape[axis] / (shape[axis] & -shape[axis]) * warpsAlong(layout, axis);
    if (part.getShape() != ArrayRef(shape) || part.getElementType() != whole.getElementType())
      return op->emitOpError("totals must have one element a piece along the axis, ")
             << shape[axis];
  }
  return success();
}

LogicalResult ScanPartialOp::verify() {
  size_t count = getInputs().size();
  if (getResults().size() != 2 * count ||
      getInputs().getTypes() != getResults().take_front(count).getTypes())
    return emitOpError("needs two results an operand, the first of the operand's type");
  return verifyScanStep(*this, getInputs(), getResults().drop_front(count),
                        static_cast<int32_t>(getAxis()));
}

LogicalResult ScanCarryOp::verify() {
  size_t count = getResults().size();
  if (getInputs().size() != 2 * count ||
      getResults().getTypes() != getInputs().take_front(count).getTypes())
    return emitOpError("needs two operands a result, the first of the result's type");
  return verifyScanStep(*this, getInputs().take_front(count), getInputs().drop_front(count),
                        static_cast<int32_t>(getAxis()));
}

void SmemAllocOp::build(OpBuilder &b, OperationState &state, SmemType type, int32_t stages,
                        int32_t alignment) {
  build(b, state, type, IntegerAttr(), stages, alignment, Scope::Team);
}

LogicalResult SmemAllocOp::verify() {
  if (auto offset = static_cast<int32_t>(getOffset().value_or(0)); offset < 0)
    return emitOpError("offset must not be negative, got ") << offset;
  if (auto stages = static_cast<int32_t>(getStages()); stages < 1)
    return emitOpError("stages must be at least 1, got ") << stages;
  auto alignment = static_cast<int32_t>(getAlignment());
  if (alignment < kSharedAlignment || !llvm::isPowerOf2_32(static_cast<uint32_t>(alignment)))
    return emitOpError("alignment must be a power of two, at least ")
           << kSharedAlignment << ", got " << alignment;
  return success();
}

int64_t SmemAllocOp::getStageStride() {
  return llvm::alignTo(static_cast<uint64_t>(getResult().getType().getBytes()), getAlignment());
}

int64_t SmemAllocOp::getTotalBytes() {
  return (getStages() - 1) * getStageStride() + getResult().getType().getBytes();
}

LogicalResult SmemStageOp::verify() {
  auto memory = getMemory().getDefiningOp<SmemAllocOp>();
  if (!memory)
    return emitOpError("needs the memory of a tilegpu.smem_alloc");
  APInt distance;
  if (!matchPattern(getDistance(), m_ConstantInt(&distance)))
    return success();
  int64_t bytes = distance.getSExtValue(), stride = memory.getStageStride();
  if (bytes < 0 || bytes % stride || bytes / stride >= memory.getStages())
    return emitOpError("no stage begins ")
           << bytes << " bytes after the first: there are "
           << static_cast<int32_t>(memory.getStages()) << ", " << stride << " bytes apart";
  return success();
}

static LogicalResult verifyTransfer(Operation *op, Type tile, SmemType smem) {
  auto tensor = cast<RankedTensorType>(tile);
  if (tensor.getElementType() != smem.getElementType())
    return op->emitOpError("tile and shared memory must have one element type");
  if (tensor.getRank() != static_cast<int64_t>(smem.getShape().size()))
    return op->emitOpError("tile and shared memory must have one rank");
  for (auto [part, whole] : llvm::zip_equal(tensor.getShape(), smem.getShape()))
    if (part > whole)
      return op->emitOpError("the tile is larger than the shared memory");
  if (!tensor.getEncoding())
    return op->emitOpError("needs a layout");
  return success();
}

LogicalResult SmemStoreOp::verify() {
  return verifyTransfer(*this, getValue().getType(), getSmem().getType());
}
LogicalResult SmemLoadOp::verify() {
  return verifyTransfer(*this, getResult().getType(), getSmem().getType());
}

// The layout determines the order of what threads write.
static LogicalResult verifyInWorkspace(Operation *op, Type tile) {
  return cast<RankedTensorType>(tile).getEncoding() ? success() : op->emitOpError("needs a layout");
}

LogicalResult WorkspaceStoreOp::verify() { return verifyInWorkspace(*this, getValue().getType()); }
LogicalResult WorkspaceAddOp::verify() { return verifyInWorkspace(*this, getValue().getType()); }
LogicalResult WorkspaceLoadOp::verify() { return verifyInWorkspace(*this, getResult().getType()); }

LogicalResult SmemDotOp::verify() {
  ArrayRef<int64_t> a = getA().getType().getShape(), b = getB().getType().getShape(),
                    acc = cast<RankedTensorType>(getAcc().getType()).getShape();
  if (a.size() != b.size() || a.size() != acc.size() || a.size() < 2 || a.size() > 3)
    return emitOpError("operands must all have rank 2, or rank 3 with the batch first");
  size_t row = a.size() - 2, column = row + 1;
  if (a[column] != b[row] || a[row] != acc[row] || b[column] != acc[column] ||
      (row && (a[0] != b[0] || a[0] != acc[0])))
    return emitOpError("the shapes are not those of a product");
  if (getA().getType().getElementType() != getB().getType().getElementType())
    return emitOpError("operands must have one element type");
  if (!cast<RankedTensorType>(getAcc().getType()).getEncoding())
    return emitOpError("needs a layout");
  return success();
}

LogicalResult SmemGatherOp::verify() {
  auto indices = cast<RankedTensorType>(getIndices().getType()),
       result = cast<RankedTensorType>(getResult().getType());
  auto axis = static_cast<int32_t>(getAxis());
  if (axis < 0 || axis >= static_cast<int64_t>(getSmem().getType().getShape().size()))
    return emitOpError("axis ") << axis << " is outside the rank of the shared memory";
  if (!indices.getElementType().isInteger(32))
    return emitOpError("the indices must be i32, got ") << indices.getElementType();
  if (result.getElementType() != getSmem().getType().getElementType())
    return emitOpError("the result's element type must be the shared memory's");
  if (indices.getShape() != result.getShape() || indices.getEncoding() != result.getEncoding() ||
      !result.getEncoding())
    return emitOpError("indices and result must have one shape and layout");
  for (auto [dim, extent] : llvm::enumerate(getSmem().getType().getShape()))
    if (result.getRank() != static_cast<int64_t>(getSmem().getType().getShape().size()) ||
        (static_cast<int32_t>(dim) != axis && result.getDimSize(dim) != extent))
      return emitOpError("the result must have the shared memory's extents, but for the axis");
  return success();
}

LogicalResult SmemCountOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType());
  if (!input.getElementType().isInteger(32) || !input.getEncoding())
    return emitOpError("counts i32 elements of a tile with a layout");
  if (!getSmem().getType().getElementType().isInteger(32) ||
      getSmem().getType().getShape().size() != 1)
    return emitOpError("the counters must be i32 in one dimension");
  if (!getMask())
    return success();
  auto mask = cast<RankedTensorType>(getMask().getType());
  if (!mask.getElementType().isInteger(1) || mask.getShape() != input.getShape() ||
      mask.getEncoding() != input.getEncoding())
    return emitOpError("the mask must be i1 in the elements' shape and layout");
  return success();
}
