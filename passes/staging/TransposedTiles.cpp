#include "passes/staging/TransposedTiles.h"

#include "ir/annotations/VariantAnnotations.h"
#include "ir/gpu/TileGpuDialect.h"
#include "passes/analysis/RunAhead.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tile::passes {

// The two dimensions of a tile that are longer than 1; nothing if there are more or fewer.
static std::optional<std::pair<size_t, size_t>> dimsOfMatrix(ir::ViewLoadOp load) {
  SmallVector<size_t> dims;
  for (auto [dim, extent] : llvm::enumerate(ir::shapeOf(load.getResult().getType())))
    if (extent != 1)
      dims.push_back(dim);
  return dims.size() == 2 ? std::optional(std::pair(dims[0], dims[1])) : std::nullopt;
}

static bool areEqual(Value a, Value b) {
  IntegerAttr constant, other;
  return a == b || (matchPattern(a, m_Constant(&constant)) && matchPattern(b, m_Constant(&other)) &&
                    constant == other);
}

// Are the values equal except that the two dimensions are exchanged?
static bool areSwapped(OperandRange values, OperandRange others, std::pair<size_t, size_t> dims) {
  for (auto [i, value] : llvm::enumerate(values)) {
    size_t other = i == dims.first ? dims.second : i == dims.second ? dims.first : i;
    if (!areEqual(value, others[other]))
      return false;
  }
  return true;
}

static bool haveEqualHints(ir::ViewLoadOp load, ir::ViewLoadOp other) {
  return load.getPadding() == other.getPadding() && load.getUnchecked() == other.getUnchecked() &&
         load.getCache() == other.getCache() && load.getEvict() == other.getEvict() &&
         gpu::loadVariantOf(load) == gpu::loadVariantOf(other) &&
         gpu::demandedVariantOf(load) == gpu::demandedVariantOf(other);
}

bool isTransposeOf(ir::ViewLoadOp load, ir::ViewLoadOp other) {
  auto view = load.getView().getDefiningOp<ir::MakeViewOp>(),
       otherView = other.getView().getDefiningOp<ir::MakeViewOp>();
  auto dims = dimsOfMatrix(load);
  if (!view || !otherView || !dims || dims != dimsOfMatrix(other) || !haveEqualHints(load, other))
    return false;
  ArrayRef<int64_t> shape = ir::shapeOf(load.getResult().getType()),
                    otherShape = ir::shapeOf(other.getResult().getType());
  return view.getBase() == otherView.getBase() &&
         view.getExtents().size() == otherView.getExtents().size() &&
         shape[dims->first] == otherShape[dims->second] &&
         shape[dims->second] == otherShape[dims->first] &&
         areSwapped(view.getExtents(), otherView.getExtents(), *dims) &&
         areSwapped(view.getStrides(), otherView.getStrides(), *dims) &&
         areSwapped(load.getOffsets(), other.getOffsets(), *dims);
}

Value transposedIn(Value operand) {
  while (auto change = operand.getDefiningOp<gpu::ConvertLayoutOp>())
    operand = change.getInput();
  auto permute = operand.getDefiningOp<ir::PermuteOp>();
  return permute && permute.getOrder() == ArrayRef<int32_t>{1, 0} ? permute.getInput() : Value();
}

OperandLoad loadEitherWay(Value operand) {
  if (ir::ViewLoadOp load = loadBehind(operand))
    return {load};
  Value tile = transposedIn(operand);
  return {tile ? loadBehind(tile) : ir::ViewLoadOp(), /*isTransposed=*/true};
}

} // namespace tile::passes
