#include "codegen/lower/ViewAccess.h"

#include "ir/annotations/AccessAnnotations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tile::codegen {

ViewAccess::ViewAccess(Lowering &l, Operation *op, Value view, ValueRange offsets,
                       const layout::Layout &layout, int64_t elementBytes)
    : l_(l), loc_(op->getLoc()), view_(view.getDefiningOp<ir::MakeViewOp>()), layout_(layout),
      bytes_(elementBytes) {
  gpu::AccessAttr access = gpu::accessOf(op); // `Lowering::verify` has seen it
  vectorSize_ = vectorLength(layout, access.getOrder()[0], access.getVector());
  for (auto [dim, offset] : llvm::enumerate(offsets)) {
    Value thread = l.coordinates.ofThread(layout, dim);
    positions_.push_back(arith::AddIOp::create(l.b, loc_, l.scalar(offset), thread));
    checks_.push_back(access.getBounds()[dim]);
    if (checks_.back() == gpu::Bounds::WholeTile)
      wholeTile_ = bothTrue(l, loc_, wholeTile_, isBelow(l.scalar(offset), extent(dim)));
  }
  origin_ = elementPointer(l.scalar(this->view_.getBase()), positions_);
}

GlobalPlace ViewAccess::place(int32_t reg) {
  GlobalPlace place{origin_, 0, wholeTile_};
  SmallVector<int64_t> steps; // of dimensions with a run-time stride
  for (int dim = 0; dim < layout_.rank(); ++dim) {
    int64_t step = stepOf(dim, reg);
    if (isUnit(dim))
      place.byteOffset += step * bytes_;
    steps.push_back(isUnit(dim) ? 0 : step);
    if (checks_[dim] == gpu::Bounds::EachElement)
      place.predicate = bothTrue(l_, loc_, place.predicate, inBounds(dim, step));
  }
  place.pointer = rowPointer(steps);
  return place;
}

Value ViewAccess::extent(int dim) {
  Value value = l_.scalar(view_.getExtents()[dim]);
  if (value.getType().isInteger(64)) // extents arrive as i32 and were widened
    value = arith::TruncIOp::create(l_.b, loc_, l_.b.getI32Type(), value);
  return value;
}

bool ViewAccess::isUnit(int dim) {
  APInt constant;
  return matchPattern(view_.getStrides()[dim], m_ConstantInt(&constant)) && constant.isOne();
}

// What a register adds to the thread's coordinate: bits the thread does not touch, so that XOR is addition.
int64_t ViewAccess::stepOf(int dim, int32_t reg) {
  Coordinates::OfRegister part = Coordinates::ofRegister(layout_, dim, reg);
  return part.linear + part.odd;
}

// Negative positions are large unsigned ones: one comparison checks both sides.
Value ViewAccess::isBelow(Value position, Value extent) {
  return arith::CmpIOp::create(l_.b, loc_, arith::CmpIPredicate::ult, position, extent);
}

Value ViewAccess::inBounds(int dim, int64_t step) {
  Value &known = boundsKnown_[{dim, step}];
  if (!known) {
    Value position =
        step ? arith::AddIOp::create(l_.b, loc_, positions_[dim], l_.i32(step)).getResult()
             : positions_[dim];
    known = isBelow(position, extent(dim));
  }
  return known;
}

// base + sum over dimensions of position * stride, in the width of the strides.
Value ViewAccess::elementPointer(Value base, ArrayRef<Value> at) {
  Value sum;
  for (auto [dim, position] : llvm::enumerate(at)) {
    Value stride = l_.scalar(view_.getStrides()[dim]);
    Value term = widen(position, stride.getType());
    if (!isUnit(dim))
      term = arith::MulIOp::create(l_.b, loc_, term, stride);
    sum = sum ? arith::AddIOp::create(l_.b, loc_, sum, term).getResult() : term;
  }
  return advance(base, sum);
}

Value ViewAccess::widen(Value value, Type type) {
  return value.getType() == type ? value
                                 : arith::ExtSIOp::create(l_.b, loc_, type, value).getResult();
}

Value ViewAccess::advance(Value pointer, Value elements) {
  Value wide = widen(elements, l_.b.getI64Type());
  Type element = l_.b.getIntegerType(bytes_ * 8);
  return LLVM::GEPOp::create(l_.b, loc_, pointer.getType(), element, pointer, ValueRange{wide});
}

Value ViewAccess::rowPointer(ArrayRef<int64_t> steps) {
  if (llvm::all_of(steps, [](int64_t step) { return step == 0; }))
    return origin_;
  Value &known = rowPointers_[SmallVector<int64_t>(steps)];
  if (known)
    return known;
  Value sum;
  for (auto [dim, step] : llvm::enumerate(steps)) {
    if (step == 0)
      continue;
    Value stride = l_.scalar(view_.getStrides()[dim]);
    Value term = arith::MulIOp::create(l_.b, loc_, stride,
                                       l_.integer(stride.getType().getIntOrFloatBitWidth(), step));
    sum = sum ? arith::AddIOp::create(l_.b, loc_, sum, term).getResult() : term;
  }
  return known = advance(origin_, sum);
}

} // namespace tile::codegen
