// PadDots: pads dots whose extents are not multiples of the tensor core's instructions with zeros:
// K must be zero beyond its end, and rows and columns beyond the result's are cut off again. If a
// loop carries the accumulator it carries the padded one, so that the loop does not resize it.
// Warps can only divide powers of two: a result with an odd number of instructions along M and N
// would be computed as a whole by each warp. It is padded, too, if that at least halves the work.
#include "passes/Passes.h"

#include "ir/annotations/FunctionAnnotations.h"
#include "ir/instructions/Mma.h"
#include "ir/target/Target.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

namespace tile::passes {
#define GEN_PASS_DEF_PADDOTS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

/// The tile with its last two extents resized.
Value resized(OpBuilder &builder, Location loc, Value tile, int64_t rows, int64_t columns) {
  auto type = cast<RankedTensorType>(tile.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[shape.size() - 2] = rows, shape[shape.size() - 1] = columns;
  auto result = RankedTensorType::get(shape, type.getElementType());
  return builder.createOrFold<ir::ResizeOp>(loc, result, tile);
}

/// The loop that carries the dot's accumulator, which nothing else reads; null if there is none.
scf::ForOp carrierOf(ir::DotOp dot) {
  auto variable = dyn_cast<BlockArgument>(dot.getAcc());
  auto loop = dyn_cast<scf::ForOp>(dot->getParentOp());
  if (!variable || !loop || variable.getOwner() != loop.getBody() || !variable.hasOneUse() ||
      !dot->hasOneUse() || variable.getArgNumber() == 0)
    return {};
  return loop.getYieldedValues()[variable.getArgNumber() - 1] == dot.getResult() ? loop
                                                                                 : scf::ForOp();
}

/// The smallest piece of a result that is computed at once: by an instruction of a warp, or a
/// multiply-add of a thread.
struct Unit {
  int64_t m, n, k;
  int64_t holders; ///< warps, or threads
  int64_t threads; ///< per holder
};

Unit unitOf(ir::DotOp dot) {
  int64_t warps = ir::warpsOf(dot);
  ArrayRef<ir::MmaInstruction> instructions = ir::mmaInstructionsFor(dot);
  if (ir::needsMultiplyAdd(dot) || instructions.empty())
    return {1, 1, 1, warps * ir::kWarpSize, 1};
  const layout::MmaShape &mma = instructions.back().shape;
  return {mma.m, mma.n, mma.k, warps, ir::kWarpSize};
}

struct Extents {
  int64_t m, n;
};

Extents alignedTo(ir::DotOp::Sizes sizes, int64_t m, int64_t n) {
  return {static_cast<int64_t>(llvm::alignTo(sizes.m, m)),
          static_cast<int64_t>(llvm::alignTo(sizes.n, n))};
}

int64_t powerOfTwoIn(int64_t number) { return number & -number; }

/// Elements of a result of whole units that each thread computes.
int64_t elementsPerThread(const Extents &result, int64_t batch, const Unit &unit) {
  int64_t parts =
      powerOfTwoIn(batch) * powerOfTwoIn(result.m / unit.m) * powerOfTwoIn(result.n / unit.n);
  return batch * result.m * result.n / std::min(parts, unit.holders) / unit.threads;
}

/// Whole units; more of them if that at least halves the elements per thread. Not if there are few
/// elements: computing them all costs less than moving operands to wider tiles.
Extents extended(ir::DotOp::Sizes sizes, const Unit &unit) {
  constexpr int64_t kFewElements = 64;
  Extents best = alignedTo(sizes, unit.m, unit.n);
  int64_t plain = elementsPerThread(best, sizes.batch, unit), least = plain / 2 + 1;
  if (plain <= kFewElements)
    return best;
  for (int64_t rows = 1; rows <= unit.holders; rows *= 2)
    for (int64_t columns = 1; columns <= unit.holders; columns *= 2) {
      Extents wider = alignedTo(sizes, rows * unit.m, columns * unit.n);
      int64_t elements = elementsPerThread(wider, sizes.batch, unit);
      if (elements < least)
        least = elements, best = wider;
    }
  return best;
}

struct PadDots : passes::impl::PadDotsBase<PadDots> {
  void runOnOperation() final {
    SmallVector<ir::DotOp> dots;
    getOperation().walk([&](ir::DotOp dot) { dots.push_back(dot); });
    for (ir::DotOp dot : dots)
      pad(dot);
  }

  void pad(ir::DotOp dot) {
    Unit unit = unitOf(dot);
    ir::DotOp::Sizes sizes = dot.getSizes();
    auto [m, n] = extended(sizes, unit);
    auto k = static_cast<int64_t>(llvm::alignTo(sizes.k, unit.k));
    if (m == sizes.m && n == sizes.n && k == sizes.k)
      return;
    OpBuilder builder(dot);
    Location loc = dot.getLoc();
    dot.getAMutable().assign(resized(builder, loc, dot.getA(), m, k));
    dot.getBMutable().assign(resized(builder, loc, dot.getB(), k, n));
    if (m == sizes.m && n == sizes.n)
      return;
    if (scf::ForOp loop = carrierOf(dot))
      return carryPadded(loop, dot, m, n);
    dot.getAccMutable().assign(resized(builder, loc, dot.getAcc(), m, n));
    dot.getResult().setType(cast<RankedTensorType>(dot.getAcc().getType()));
    builder.setInsertionPointAfter(dot);
    Value cut = resized(builder, loc, dot.getResult(), sizes.m, sizes.n);
    dot.getResult().replaceAllUsesExcept(cut, cut.getDefiningOp());
  }

  // Adds a variable to the loop; the old one carries its initial value, and is removed if nothing
  // reads it.
  void carryPadded(scf::ForOp loop, ir::DotOp dot, int64_t m, int64_t n) {
    unsigned index = cast<BlockArgument>(dot.getAcc()).getArgNumber() - 1;
    IRRewriter rewriter(loop);
    Value init = resized(rewriter, dot.getLoc(), loop.getInitArgs()[index], m, n);
    auto carrying = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        rewriter, init, /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &, Location, ArrayRef<BlockArgument> added) {
          dot.getAccMutable().assign(added.front());
          dot.getResult().setType(cast<RankedTensorType>(added.front().getType()));
          return SmallVector<Value>{dot.getResult()};
        }));
    Operation *yield = carrying.getBody()->getTerminator();
    yield->setOperand(index, carrying.getRegionIterArgs()[index]);
    ArrayRef<int64_t> small = ir::shapeOf(carrying.getResult(index).getType()).take_back(2);
    rewriter.setInsertionPointAfter(carrying);
    Value cut = resized(rewriter, dot.getLoc(), carrying.getResults().back(), small[0], small[1]);
    carrying.getResult(index).replaceAllUsesWith(cut);
  }
};

} // namespace

} // namespace tile::passes
