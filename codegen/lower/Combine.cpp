// Inlines combine regions over scalars.
#include "codegen/lower/Combine.h"

#include "codegen/thread/Shuffle.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tile::codegen {

Tuple combined(Lowering &l, Block &region, const Tuple &lhs, const Tuple &rhs) {
  for (auto [i, value] : llvm::enumerate(lhs))
    l.set(region.getArgument(i), {value});
  for (auto [i, value] : llvm::enumerate(rhs))
    l.set(region.getArgument(lhs.size() + i), {value});
  if (failed(l.lowerBlock(region)))
    return lhs;
  Tuple result;
  for (Value value : region.getTerminator()->getOperands())
    result.push_back(l.scalar(value));
  return result;
}

Tuple selected(Lowering &l, Location loc, Value condition, const Tuple &a, const Tuple &b) {
  Tuple result;
  for (auto [first, second] : llvm::zip_equal(a, b))
    result.push_back(arith::SelectOp::create(l.b, loc, condition, first, second));
  return result;
}

Tuple withOneNan(Lowering &l, Location loc, const Tuple &tuple) {
  return llvm::map_to_vector<4>(tuple, [&](Value value) -> Value {
    auto type = dyn_cast<Float64Type>(value.getType());
    if (!type)
      return value;
    Value nan =
        arith::ConstantFloatOp::create(l.b, loc, type, APFloat::getNaN(type.getFloatSemantics()));
    Value isNan = arith::CmpFOp::create(l.b, loc, arith::CmpFPredicate::UNO, value, value);
    return arith::SelectOp::create(l.b, loc, isNan, nan, value);
  });
}

Tuple exchanged(Lowering &l, Location loc, const Tuple &tuple, int32_t mask) {
  Tuple result;
  for (Value value : tuple)
    result.push_back(shuffleButterfly(l, loc, value, mask));
  return result;
}

} // namespace tile::codegen
