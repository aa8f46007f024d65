// ExpandDots: f32 dots in several terms. Each operand is split into addends that the tensor core
// multiplies exactly, the largest first: with x = big + small (+ smaller), a*b is nearly big*big
// plus the products of the other addends. Those are accumulated first, the smallest first. If their
// sum is NaN although the operands are finite or infinite (inf - inf in the split, inf * 0), it is
// zeroed, since infinite products would come out as NaN otherwise. fp8 dots become f16 dots if the
// target's tensor core has none for fp8.
#include "passes/Passes.h"

#include "ir/KnownTarget.h"
#include "ir/annotations/VariantAnnotations.h"
#include "ir/gpu/TileGpuDialect.h"
#include "ir/instructions/Mma.h"

namespace tile::passes {
#define GEN_PASS_DEF_EXPANDDOTS
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;

namespace tile::passes {

namespace {

Value zeroLike(OpBuilder &builder, Location loc, Value tile) {
  return arith::ConstantOp::create(builder, loc,
                                   cast<TypedAttr>(builder.getZeroAttr(tile.getType())));
}

Value withoutLowBits(OpBuilder &builder, Location loc, Value tile, unsigned bits) {
  auto type = cast<RankedTensorType>(tile.getType());
  auto bitsType = type.clone(builder.getI32Type());
  auto mask = DenseElementsAttr::get(bitsType,
                                     builder.getI32IntegerAttr(static_cast<int32_t>(~0u << bits)));
  Value word = arith::BitcastOp::create(builder, loc, bitsType, tile);
  word = arith::AndIOp::create(builder, loc, word, arith::ConstantOp::create(builder, loc, mask));
  return arith::BitcastOp::create(builder, loc, type, word);
}

using Parts = SmallVector<Value, 3>; ///< the largest first

Parts tf32Parts(OpBuilder &builder, Location loc, Value tile) {
  Value big = withoutLowBits(builder, loc, tile, 13);
  return {big, arith::SubFOp::create(builder, loc, tile, big)};
}

// The largest addend is truncated, not rounded: rounding could overflow to infinity.
Parts bf16Parts(OpBuilder &builder, Location loc, Value tile, int count) {
  auto wide = cast<RankedTensorType>(tile.getType()), narrow = wide.clone(builder.getBF16Type());
  Value part = withoutLowBits(builder, loc, tile, 16);
  Parts parts = {ir::ConvertOp::create(builder, loc, narrow, part)};
  for (int i = 1; i < count; ++i) {
    tile = arith::SubFOp::create(builder, loc, tile, part);
    parts.push_back(ir::ConvertOp::create(builder, loc, narrow, tile));
    if (i + 1 < count)
      part = ir::ConvertOp::create(builder, loc, wide, parts.back());
  }
  return parts;
}

/// Pairs of addends of a and b to multiply, the smallest products first and big*big last.
using Terms = ArrayRef<std::pair<int, int>>;
constexpr std::pair<int, int> kThreeTerms[] = {{0, 1}, {1, 0}, {0, 0}};
constexpr std::pair<int, int> kSixTerms[] = {{1, 1}, {0, 2}, {2, 0}, {0, 1}, {1, 0}, {0, 0}};

void expand(ir::DotOp dot, const Parts &a, const Parts &b, Terms terms, ir::Precision precision) {
  OpBuilder builder(dot);
  Location loc = dot.getLoc();
  Value zero = zeroLike(builder, loc, dot.getAcc()), sum = zero;
  auto add = [&](std::pair<int, int> term) {
    auto part = ir::DotOp::create(builder, loc, sum.getType(), a[term.first], b[term.second], sum,
                                  precision);
    part->setDiscardableAttrs(dot->getDiscardableAttrDictionary());
    sum = part.getResult();
  };
  llvm::for_each(terms.drop_back(), add);
  Value isNumber = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ORD, sum, sum);
  sum = arith::SelectOp::create(builder, loc, isNumber, sum, zero);
  sum = arith::AddFOp::create(builder, loc, sum, dot.getAcc());
  add(terms.back());
  dot.replaceAllUsesWith(sum);
  dot.erase();
}

// Multiply-adds are exact to f32: they need no terms.
void expand(ir::DotOp dot) {
  if (gpu::demands(dot, gpu::DotVariant::Fma))
    return dot.setPrecision(ir::Precision::Ieee);
  OpBuilder builder(dot);
  Location loc = dot.getLoc();
  if (dot.getPrecision() == ir::Precision::Tf32x3) {
    Parts a = tf32Parts(builder, loc, dot.getA()), b = tf32Parts(builder, loc, dot.getB());
    return expand(dot, a, b, kThreeTerms, ir::Precision::Tf32);
  }
  bool isThree = dot.getPrecision() == ir::Precision::Bf16x3;
  Parts a = bf16Parts(builder, loc, dot.getA(), isThree ? 2 : 3),
        b = bf16Parts(builder, loc, dot.getB(), isThree ? 2 : 3);
  expand(dot, a, b, isThree ? Terms(kThreeTerms) : Terms(kSixTerms), ir::Precision::Ieee);
}

/// Why the target's tensor core does not multiply these fp8 operands; nothing if it does, or if
/// they are not fp8.
std::optional<std::string> refuseFloat8(ir::DotOp dot, const ir::Target &target) {
  if (!ir::isFloat8(ir::elementTypeOf(dot.getA().getType())))
    return std::nullopt;
  constexpr const char *widened = "; operands are widened to f16";
  if (gpu::demands(dot, gpu::DotVariant::Fma))
    return std::string("mma_sync of fp8 refused: multiply-adds are asked for") + widened;
  ArrayRef<ir::MmaInstruction> instructions = ir::mmaInstructionsFor(dot);
  if (instructions.empty())
    return std::string("mma_sync of fp8 refused: its sums are f32") + widened;
  if (!instructions.front().isOn(target))
    return std::string("mma_sync of fp8 refused: it needs ") +
           ir::firstTargetWith(instructions.front().needed) + widened;
  return std::nullopt;
}

// f16 represents every fp8 number.
void widenFloat8(ir::DotOp dot, StringRef reason) {
  OpBuilder builder(dot);
  for (OpOperand *operand : {&dot.getAMutable(), &dot.getBMutable()}) {
    auto type = cast<RankedTensorType>(operand->get().getType());
    operand->set(ir::ConvertOp::create(builder, dot.getLoc(), type.clone(builder.getF16Type()),
                                       operand->get()));
  }
  dot.setFastAccumulation(false);
  gpu::addRefusal(dot, reason);
}

struct ExpandDots : passes::impl::ExpandDotsBase<ExpandDots> {
  using ExpandDotsBase::ExpandDotsBase;

  void runOnOperation() final {
    FailureOr<ir::Target> found = ir::knownTarget(getOperation(), target);
    if (failed(found))
      return signalPassFailure();
    SmallVector<ir::DotOp> dots;
    getOperation().walk([&](ir::DotOp dot) { dots.push_back(dot); });
    for (ir::DotOp dot : dots) {
      if (dot.getPrecision() > ir::Precision::Tf32)
        expand(dot);
      else if (std::optional<std::string> reason = refuseFloat8(dot, *found))
        widenFloat8(dot, *reason);
    }
  }
};

} // namespace

} // namespace tile::passes
