// WidenIndices: prevents loop indices from overflowing, which would restart a loop from the other
// end of its type.
//
// A loop ends when its next index, the last plus the step, is not below the bound. If that may
// exceed the largest number:
//
//   - a loop from 0 or more compares as unsigned, which doubles the range at no cost;
//   - another loop of i32 counts in i64;
//   - another loop of i64 counts its iterations, from which its index is computed.
//
// Later passes subtract steps from bounds, multiply trip counts and divide lengths; each form
// leaves room for that.
#include "passes/Passes.h"

#include "ir/gpu/TileGpuDialect.h"
#include "passes/analysis/NumberRange.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

namespace tile::passes {
#define GEN_PASS_DEF_WIDENINDICES
#include "passes/Passes.h.inc"
} // namespace tile::passes

using namespace mlir;
using llvm::ConstantRange;

namespace tile::passes {

namespace {

enum class Form { AsItIs, Unsigned, Wide };

bool hasOverflow(APInt (APInt::*operation)(const APInt &, bool &) const, const APInt &a,
                 const APInt &b) {
  bool overflows = false;
  (a.*operation)(b, overflows);
  return overflows;
}

bool isFlattened(scf::ForOp loop) {
  return loop->hasAttr(ir::kFlattenAttr) || loop->hasAttr(ir::kPingPongAttr);
}

// Is the trip count computed, to unroll the loop or to flatten a nest?
bool isCounted(scf::ForOp loop) {
  auto outer = dyn_cast<scf::ForOp>(loop->getParentOp());
  return loop->hasAttr(ir::kUnrollAttr) || isFlattened(loop) || (outer && isFlattened(outer));
}

// Could the bound minus the steps by which loads run ahead underflow? In a loop whose step is the
// number of programs that would take 2^27 programs.
bool runsTooFarAhead(scf::ForOp loop, const APInt &mostStep) {
  if (loop.getStep().getDefiningOp<ir::NumProgramsOp>() ||
      loop.getBody()->getOps<ir::DotOp>().empty())
    return false;
  return hasOverflow(&APInt::smul_ov, mostStep, APInt(mostStep.getBitWidth(), kMostStages));
}

Form formOf(scf::ForOp loop) {
  if (loop.getUnsignedCmp())
    return Form::AsItIs; // the frontend counts its iterations
  ConstantRange lower = rangeOf(loop.getLowerBound()), upper = rangeOf(loop.getUpperBound());
  APInt mostStep = rangeOf(loop.getStep()).getSignedMax(), bound = upper.getSignedMax();
  if (runsTooFarAhead(loop, mostStep))
    return Form::Wide;
  if (bound.isMinSignedValue())
    return Form::AsItIs; // no iteration
  bool mayPassEnd = hasOverflow(&APInt::sadd_ov, bound - 1, mostStep);
  if (lower.getSignedMin().isNonNegative())
    return mayPassEnd ? Form::Unsigned : Form::AsItIs;
  APInt length = bound.sext(bound.getBitWidth() + 2) -
                 lower.getSignedMin().sext(bound.getBitWidth() + 2) +
                 mostStep.sext(bound.getBitWidth() + 2);
  bool isTooLong = isCounted(loop) && !length.isSignedIntN(bound.getBitWidth());
  return mayPassEnd || isTooLong ? Form::Wide : Form::AsItIs;
}

Value constantOf(OpBuilder &b, Location loc, Type type, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

// Bounds that are known to be in order need no comparison.
Value largerOf(OpBuilder &b, Location loc, Value lower, Value upper) {
  if (isNeverBelow(upper, lower))
    return upper;
  return arith::MaxSIOp::create(b, loc, lower, upper);
}

// Replaces the bounds of a loop. `indexOf` computes the index that the body uses from the new one,
// which only the first operation of the body takes.
void rebuild(scf::ForOp loop, Value lower, Value upper, Value step, bool isUnsigned,
             llvm::function_ref<Value(OpBuilder &, Value)> indexOf) {
  OpBuilder b(loop);
  auto other = scf::ForOp::create(b, loop.getLoc(), lower, upper, step, loop.getInitArgs(), nullptr,
                                  isUnsigned);
  other->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  other.getRegion().takeBody(loop.getRegion());
  Value counted = other.getInductionVar();
  counted.setType(lower.getType());
  b.setInsertionPointToStart(other.getBody());
  Value index = indexOf(b, counted);
  counted.replaceAllUsesExcept(index, &other.getBody()->front());
  loop->replaceAllUsesWith(other.getResults());
  loop.erase();
}

void countInI64(scf::ForOp loop) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  auto widened = [&](Value value) {
    return b.createOrFold<arith::ExtSIOp>(loc, b.getI64Type(), value);
  };
  rebuild(loop, widened(loop.getLowerBound()), widened(loop.getUpperBound()),
          widened(loop.getStep()), /*isUnsigned=*/false, [&](OpBuilder &inside, Value counted) {
            return arith::TruncIOp::create(inside, loc, inside.getI32Type(), counted).getResult();
          });
}

// The length is an unsigned number; the quotient is rounded up without adding to it, which could
// overflow.
void countIterations(scf::ForOp loop) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  Type type = loop.getInductionVar().getType();
  Value lower = loop.getLowerBound(), step = loop.getStep(), one = constantOf(b, loc, type, 1);
  Value length =
      arith::SubIOp::create(b, loc, largerOf(b, loc, lower, loop.getUpperBound()), lower);
  Value any = arith::MinUIOp::create(b, loc, length, one);
  Value rest = arith::SubIOp::create(b, loc, length, any);
  Value count = arith::AddIOp::create(b, loc, arith::DivUIOp::create(b, loc, rest, step), any);
  rebuild(loop, constantOf(b, loc, type, 0), count, one, /*isUnsigned=*/true,
          [&](OpBuilder &inside, Value counted) {
            Value way = arith::MulIOp::create(inside, loc, counted, step);
            return arith::AddIOp::create(inside, loc, lower, way).getResult();
          });
}

// A negative bound would be large as an unsigned number: the lower bound replaces it, which also
// means no iteration.
void compareAsUnsigned(scf::ForOp loop) {
  OpBuilder b(loop);
  if (rangeOf(loop.getUpperBound()).getSignedMin().isNegative())
    loop.setUpperBound(largerOf(b, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound()));
  loop.setUnsignedCmp(true);
}

// Both loops of a nest that is to be flattened need indices of one type.
void widenNestsAlike(llvm::MapVector<scf::ForOp, Form> &forms) {
  for (auto &[outer, form] : forms) {
    if (!isFlattened(outer))
      continue;
    for (auto inner : outer.getBody()->getOps<scf::ForOp>())
      if (form == Form::Wide || forms[inner] == Form::Wide)
        form = forms[inner] = Form::Wide;
  }
}

struct WidenIndices : passes::impl::WidenIndicesBase<WidenIndices> {
  void runOnOperation() final {
    llvm::MapVector<scf::ForOp, Form> forms; // inner loops first
    getOperation().walk([&](scf::ForOp loop) { forms[loop] = formOf(loop); });
    widenNestsAlike(forms);
    for (auto [loop, form] : forms)
      if (form == Form::Unsigned)
        compareAsUnsigned(loop);
      else if (form == Form::Wide && loop.getInductionVar().getType().isInteger(32))
        countInI64(loop);
      else if (form == Form::Wide)
        countIterations(loop);
  }
};

} // namespace

} // namespace tile::passes
