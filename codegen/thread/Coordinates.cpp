#include "codegen/thread/Coordinates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <map>

using namespace mlir;

namespace tile::codegen {

static SmallVector<int64_t> columnOf(const layout::Layout &layout, layout::In in, int dim) {
  SmallVector<int64_t> bits;
  for (const layout::Coords &vector : layout.bases(in))
    bits.push_back(vector[dim]);
  return bits;
}

Value Coordinates::of(const layout::Layout &layout, int dim, int32_t reg) {
  OfRegister part = ofRegister(layout, dim, reg);
  Value value = ofThread(layout, dim);
  if (part.linear)
    value = arith::XOrIOp::create(values_.b, values_.loc(), value, values_.i32(part.linear));
  if (part.odd)
    value = arith::AddIOp::create(values_.b, values_.loc(), value, values_.i32(part.odd));
  return value;
}

Value Coordinates::ofThread(const layout::Layout &layout, int dim) {
  return threadLinear(columnOf(layout, layout::In::Lane, dim),
                      columnOf(layout, layout::In::Warp, dim));
}

Coordinates::OfRegister Coordinates::ofRegister(const layout::Layout &layout, int dim,
                                                int32_t reg) {
  int32_t low = reg & ((1 << layout.registerBits()) - 1);
  return {layout.applyLinear(layout::In::Register, low)[dim], layout.oddOffset(reg)[dim]};
}

Value Coordinates::isFirstHolder(const layout::Layout &layout) {
  uint32_t lanes = layout.freeMask(layout::In::Lane), warps = layout.freeMask(layout::In::Warp);
  uint32_t threads = lanes | warps << layout::kLaneBits;
  if (threads == 0)
    return {};
  Location loc = values_.loc();
  Value bits = arith::AndIOp::create(values_.b, loc, threads_.id(), values_.i32(threads));
  return arith::CmpIOp::create(values_.b, loc, arith::CmpIPredicate::eq, bits, values_.i32(0));
}

Value Coordinates::threadLinear(ArrayRef<int64_t> laneBits, ArrayRef<int64_t> warpBits) {
  std::string key;
  llvm::raw_string_ostream os(key);
  llvm::interleaveComma(laneBits, os);
  os << '|';
  llvm::interleaveComma(warpBits, os);
  Value &known = threadLinears_[key];
  if (known)
    return known;
  OpBuilder::InsertionGuard guard(values_.b);
  threads_.setInsertionPointToTop(values_.b); // one computation for all loops and branches
  Value value = arith::XOrIOp::create(values_.b, values_.loc(), linear(threads_.lane(), laneBits),
                                      linear(threads_.warp(), warpBits));
  return known = value;
}

Value Coordinates::warpLinear(ArrayRef<int64_t> warpBits) {
  if (llvm::all_of(warpBits, [](int64_t bits) { return bits == 0; }))
    return values_.i32(0);
  OpBuilder::InsertionGuard guard(values_.b);
  values_.b.setInsertionPointAfter(threads_.uniformWarp().getDefiningOp());
  return linear(threads_.uniformWarp(), warpBits);
}

// Bits that move by the same distance move together: (number & mask) << distance, then XOR (no two
// overlap in layouts the compiler makes, but swizzles do).
Value Coordinates::linear(Value number, ArrayRef<int64_t> bits) {
  Location loc = values_.loc();
  std::map<int, int64_t> maskByDistance;
  for (auto [bit, contribution] : llvm::enumerate(bits))
    for (int out = 0; out < 63; ++out)
      if (contribution >> out & 1)
        maskByDistance[out - static_cast<int>(bit)] |= int64_t(1) << bit;
  Value result;
  for (auto [distance, mask] : maskByDistance) {
    Value term = arith::AndIOp::create(values_.b, loc, number, values_.i32(mask));
    if (distance > 0)
      term = arith::ShLIOp::create(values_.b, loc, term, values_.i32(distance));
    else if (distance < 0)
      term = arith::ShRUIOp::create(values_.b, loc, term, values_.i32(-distance));
    result = result ? arith::XOrIOp::create(values_.b, loc, result, term).getResult() : term;
  }
  return result ? result : values_.i32(0);
}

} // namespace tile::codegen
