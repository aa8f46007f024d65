// ExpandDots: tf32x3. With x = big + small (both exact in tf32), a*b is nearly big*big + big*small + small*big; the two
// correction products are summed first. Where one of them is NaN although the operands are finite or infinite (inf - inf
// in the split), it is zeroed, or infinite products would come out as NaN.
#include "passes/Passes.h"

#include "mlir/IR/Matchers.h"

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

// The high part: the 13 low bits of the mantissa cleared, which tf32 holds exactly.
Value bigPart(OpBuilder &builder, Location loc, Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  auto bitsType = type.clone(builder.getI32Type());
  Value mask = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(bitsType,
                             builder.getI32IntegerAttr(static_cast<int32_t>(0xffffe000u))));
  Value bits = arith::BitcastOp::create(builder, loc, bitsType, tile);
  return arith::BitcastOp::create(builder, loc, type,
                                  arith::AndIOp::create(builder, loc, bits, mask));
}

void expandTf32x3(ir::DotOp dot) {
  OpBuilder b(dot);
  Location loc = dot.getLoc();
  auto product = [&](Value lhs, Value rhs, Value acc) -> Value {
    return ir::DotOp::create(b, loc, acc.getType(), lhs, rhs, acc, ir::Precision::Tf32);
  };
  Value bigA = bigPart(b, loc, dot.getA()), bigB = bigPart(b, loc, dot.getB());
  Value smallA = arith::SubFOp::create(b, loc, dot.getA(), bigA);
  Value smallB = arith::SubFOp::create(b, loc, dot.getB(), bigB);
  Value correction = product(smallA, bigB, product(bigA, smallB, zeroLike(b, loc, dot.getAcc())));
  Value isNumber = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, correction, correction);
  correction = arith::SelectOp::create(b, loc, isNumber, correction, zeroLike(b, loc, correction));
  Value start = arith::AddFOp::create(b, loc, correction, dot.getAcc());
  dot.replaceAllUsesWith(product(bigA, bigB, start));
  dot.erase();
}

struct ExpandDots : passes::impl::ExpandDotsBase<ExpandDots> {
  void runOnOperation() final {
    SmallVector<ir::DotOp> dots;
    getOperation().walk([&](ir::DotOp dot) {
      if (dot.getPrecision() == ir::Precision::Tf32x3)
        dots.push_back(dot);
    });
    for (ir::DotOp dot : dots)
      expandTf32x3(dot);
  }
};

} // namespace

} // namespace tile::passes
