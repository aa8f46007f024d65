#include "passes/staging/WgmmaMemory.h"

#include "ir/LayoutAttr.h"
#include "ir/LayoutOp.h"
#include "ir/annotations/AccessAnnotations.h"
#include "ir/annotations/DotAnnotations.h"
#include "ir/annotations/FunctionAnnotations.h"
#include "ir/layout/WgmmaOperand.h"
#include "passes/analysis/AxisInfo.h"
#include "passes/analysis/RunAhead.h"
#include "passes/staging/TransposedTiles.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tile::passes {

// The element type in shared memory: f32 that is multiplied as tf32 is rounded there.
static Type elementInMemory(OpOperand &operand) {
  Type element = ir::elementTypeOf(operand.get().getType());
  bool isRounded =
      element.isF32() && cast<ir::DotOp>(operand.getOwner()).getPrecision() == ir::Precision::Tf32;
  return isRounded ? Type(FloatTF32Type::get(element.getContext())) : element;
}

std::optional<ir::WgmmaInstruction> wgmmaFor(ir::DotOp dot) {
  return ir::findWgmma(elementInMemory(dot.getAMutable()), elementInMemory(dot.getBMutable()),
                       ir::elementTypeOf(dot.getAcc().getType()), dot.getOperandsUnsigned());
}

int64_t wgmmaColumnsOf(ir::DotOp dot, const ir::WgmmaInstruction &wgmma) {
  ir::DotOp::Sizes sizes = dot.getSizes();
  int64_t groups = ir::warpsOf(dot) / ir::kWarpsPerWarpgroup;
  int64_t ofRows = std::min(groups, powerOfTwoDivisor(sizes.m) / ir::kWgmmaRows);
  return ir::wgmmaColumns(wgmma, sizes.n, groups / ofRows);
}

// The dimension of the loaded matrix that is contiguous in memory. Changes of shape between the
// load and the dot only add and drop dimensions of extent 1.
static int32_t fastestDim(ir::ViewLoadOp load) {
  gpu::AccessAttr access = gpu::accessOf(load);
  int32_t dim = 0,
          fastest = access ? access.getOrder().front() : load.getView().getType().getRank() - 1;
  for (int32_t before = 0; before < fastest; ++before)
    dim += ir::shapeOf(load.getResult().getType())[before] != 1;
  return std::min(dim, 1);
}

// Instructions that only read K-major operands need them K-major as they were loaded: a transposed
// one counts as computed.
static OperandLoad loadOf(OpOperand &operand) {
  std::optional<ir::WgmmaInstruction> wgmma = wgmmaFor(cast<ir::DotOp>(operand.getOwner()));
  return wgmma && wgmma->takesMnMajor ? loadEitherWay(operand.get())
                                      : OperandLoad{loadBehind(operand.get())};
}

// Is an operand computed in the dot's block, so that it would be put to shared memory for this dot
// alone?
static bool isComputedBeside(OpOperand &operand) {
  Operation *op = operand.get().getDefiningOp();
  return !loadOf(operand).load && (!op || op->getBlock() == operand.getOwner()->getBlock());
}

// Is the tile another dot's result, transposed and possibly computed on element by element?
static bool isTransposedResult(Value tile) {
  llvm::SetVector<std::pair<Value, unsigned>> open; // with 1 if transposed an odd number of times
  open.insert({tile, 0});
  for (size_t i = 0; i < open.size(); ++i) {
    auto [value, isTransposed] = open[i];
    Operation *op = value.getDefiningOp();
    if (isa_and_present<ir::DotOp, gpu::DotWaitOp>(op)) { // dots that are already asynchronous
      if (isTransposed)
        return true;
      continue;
    }
    bool keepsElements =
        op && (gpu::isElementwiseOnTiles(op) || isa<ir::PermuteOp, gpu::ConvertLayoutOp>(op));
    if (!keepsElements)
      continue;
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        open.insert({operand, isTransposed ^ (isa<ir::PermuteOp>(op) ? 1u : 0u)});
  }
  return false;
}

// The dimension in which a computed operand is ordered: that of the load that it is computed from,
// if there is one.
static int32_t fastestDimOfComputed(OpOperand &operand, const ir::WgmmaInstruction &wgmma) {
  bool isA = operand.getOperandNumber() == 0;
  if (isA || !wgmma.takesMnMajor)
    return isA ? 1 : 0; // K-major
  Value tile = operand.get();
  while (Operation *op = tile.getDefiningOp()) {
    if (ir::ViewLoadOp load = loadBehind(tile))
      return fastestDim(load);
    if (!gpu::isElementwiseOnTiles(op))
      break;
    tile = op->getOperand(0);
  }
  return 1;
}

bool staysInRegisters(OpOperand &a) {
  if (gpu::isKMajor(a))
    return gpu::takesAFromRegisters(a.getOwner());
  return isComputedBeside(a) && !isTransposedResult(a.get());
}

bool isKMajorOperand(OpOperand &operand) {
  if (std::optional<bool> decided = gpu::isKMajor(operand))
    return *decided;
  std::optional<ir::WgmmaInstruction> wgmma = wgmmaFor(cast<ir::DotOp>(operand.getOwner()));
  if (!wgmma)
    return true;
  auto [load, isTransposed] = loadOf(operand);
  int32_t fastest = !load          ? fastestDimOfComputed(operand, *wgmma)
                    : isTransposed ? 1 - fastestDim(load)
                                   : fastestDim(load);
  return fastest == (operand.getOperandNumber() == 0 ? 1 : 0);
}

std::optional<layout::SharedLayout> wgmmaMemory(OpOperand &operand, Refusal *why) {
  auto dot = cast<ir::DotOp>(operand.getOwner());
  bool isA = operand.getOperandNumber() == 0;
  std::string name = isA ? "A" : "B";
  std::optional<ir::WgmmaInstruction> wgmma = wgmmaFor(dot);
  if (!wgmma)
    return refuse(why, "no instruction for these types");
  if (isA && staysInRegisters(operand))
    return refuse(why, "A is computed, not loaded");
  bool isKMajor = isKMajorOperand(operand);
  int32_t outer = isA ? 0 : 1, fastest = isKMajor ? 1 - outer : outer;
  if (!isKMajor && !wgmma->takesMnMajor)
    return refuse(why, "neighbours of " + name + " in memory lie along " + (isA ? "M" : "N") +
                           "; for operands of " + std::to_string(wgmma->bits) +
                           " bits they must lie along K");
  ArrayRef<int64_t> shape = ir::shapeOf(operand.get().getType());
  int bytes = wgmma->bits / 8;
  auto memory = layout::wgmmaOperandMemory({shape[0], shape[1]}, {fastest, 1 - fastest}, bytes);
  if (!memory)
    return refuse(why, "rows of " + name + " in memory are " +
                           std::to_string(shape[static_cast<size_t>(fastest)] * bytes) +
                           " bytes, not a multiple of 32");
  int64_t block = isA ? ir::kWgmmaRows : wgmmaColumnsOf(dot, *wgmma);
  if (!layout::matchWgmmaOperand(*memory, outer, block, wgmma->k, bytes, why))
    return std::nullopt;
  return memory;
}

gpu::SmemType wgmmaStagingType(OpOperand &operand) {
  std::optional<layout::SharedLayout> memory = wgmmaMemory(operand);
  Type type = operand.get().getType();
  MLIRContext *context = type.getContext();
  return memory ? gpu::SmemType::get(context, ir::shapeOf(type), elementInMemory(operand),
                                     gpu::attributeOf(context, *memory))
                : gpu::SmemType();
}

} // namespace tile::passes
