// Integer sequences for machines without conversions of 8-bit floats, and the instructions for those from sm_89 on. Both
// give the same bits.
#include "codegen/lower/Float8.h"

#include "codegen/InlinePtx.h"
#include "codegen/thread/Words.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tile::codegen {

namespace {

constexpr size_t kPerWord = 4;

/// What the sequences need to know of a format.
struct Format {
  bool isE4m3;
  int mantissaBits, smallestExponent;
  float largest;
  const char *packed; ///< two of them in PTX
};
Format formatOf(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return {true, 3, -6, 448, "e4m3x2"};
  return {false, 2, -14, 57344, "e5m2x2"};
}

/// Operations on 32-bit words.
struct WordBuilder {
  Lowering &l;
  Location loc;

  Value constant(uint32_t bits) { return l.i32(static_cast<int32_t>(bits)); }
  Value And(Value a, uint32_t mask) { return LLVM::AndOp::create(l.b, loc, a, constant(mask)); }
  Value Or(Value a, Value b) { return LLVM::OrOp::create(l.b, loc, a, b); }
  Value add(Value a, Value b) { return LLVM::AddOp::create(l.b, loc, a, b); }
  Value add(Value a, uint32_t b) { return add(a, constant(b)); }
  Value sub(Value a, Value b) { return LLVM::SubOp::create(l.b, loc, a, b); }
  Value shiftRight(Value a, int bits) { return LLVM::LShrOp::create(l.b, loc, a, l.i32(bits)); }
  Value bitcast(Value a, Type type) { return LLVM::BitcastOp::create(l.b, loc, type, a); }
  Value intrinsic(StringRef name, Type type, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(l.b, loc, type, l.b.getStringAttr(name), operands)
        .getResult(0);
  }
  /// prmt: bytes 0-3 are a's, 4-7 b's; each digit of the selector picks one, the lowest first.
  Value bytes(Value a, Value b, uint32_t selector) {
    return intrinsic("llvm.nvvm.prmt", l.b.getI32Type(), {a, b, constant(selector)});
  }
};

/// The registers from `first` on that fill a word, repeated where there are too few.
SmallVector<Value> wordful(ValueRange values, size_t first) {
  SmallVector<Value> group;
  for (size_t i = first; i < first + kPerWord; ++i)
    group.push_back(values[std::min(i, values.size() - 1)]);
  return group;
}

// --- Widening ---

// Two bytes, each the upper one of 16 bits: e5m2 is the upper half of an f16. An e4m3 has one exponent bit less: moved
// down by one bit it is an f16 whose exponent is too small by 8, subnormals included; its NaN gets an exponent of ones.
Value widenPair(WordBuilder w, const Format &format, Value spread) {
  Type halves = VectorType::get({2}, w.l.b.getF16Type());
  if (!format.isE4m3)
    return w.bitcast(spread, halves);
  Value magnitude = w.And(w.shiftRight(spread, 1), 0x3f803f80);
  Value nan = w.And(w.add(magnitude, 0x00800080), 0x40004000);
  Value bits = w.Or(w.Or(w.And(spread, 0x80008000), magnitude), nan);
  Value scale = LLVM::ConstantOp::create(
      w.l.b, w.loc, halves,
      DenseElementsAttr::get(cast<ShapedType>(halves), w.l.b.getF16FloatAttr(256)));
  return LLVM::FMulOp::create(w.l.b, w.loc, w.bitcast(bits, halves), scale);
}

Value widenPairByCvt(WordBuilder w, const Format &format, Value word, bool upper) {
  Value pairs = w.bitcast(word, VectorType::get({2}, w.l.b.getI16Type()));
  Value pair = LLVM::ExtractElementOp::create(w.l.b, w.loc, pairs, w.l.i32(upper));
  Value halves = inlinePtx(w.l.b, w.loc, std::string("cvt.rn.f16x2.") + format.packed + " $0, $1;",
                           "=r,h", w.l.b.getI32Type(), pair);
  return w.bitcast(halves, VectorType::get({2}, w.l.b.getF16Type()));
}

// --- Narrowing ---

// The sum of |x| and a number whose last bit is the spacing of results near x counts spacings in its low bits, rounded by
// the addition. The exponent's part of the result is added to that count, so that a carry moves into the exponent.
Value narrowOne(WordBuilder w, const Format &format, Value x, ir::Rounding rounding) {
  OpBuilder &b = w.l.b;
  Type f32 = b.getF32Type(), i32 = b.getI32Type();
  const int dropped = 23 - format.mantissaBits;
  auto number = [&](float value) {
    return LLVM::ConstantOp::create(b, w.loc, f32, b.getF32FloatAttr(value));
  };
  Value size = LLVM::FAbsOp::create(b, w.loc, x);
  size = LLVM::MinNumOp::create(b, w.loc, size, number(format.largest));
  const uint32_t smallest = static_cast<uint32_t>(format.smallestExponent + 127) << 23;
  Value exponent = w.And(w.bitcast(size, i32), 0x7f800000);
  exponent = LLVM::UMaxOp::create(b, w.loc, exponent, w.constant(smallest));
  Value ruler = w.add(exponent, static_cast<uint32_t>(dropped) << 23);
  StringRef add =
      rounding == ir::Rounding::TowardZero ? "llvm.nvvm.add.rz.f" : "llvm.nvvm.add.rn.f";
  Value sum = w.intrinsic(add, f32, {size, w.bitcast(ruler, f32)});
  Value spacings = w.sub(w.bitcast(sum, i32), ruler);
  Value code = w.add(w.add(w.shiftRight(exponent, dropped), spacings), -(smallest >> dropped));
  Value sign = w.And(w.shiftRight(w.bitcast(x, i32), 24), 0x80);
  Value isNan = LLVM::FCmpOp::create(b, w.loc, LLVM::FCmpPredicate::uno, x, x);
  return LLVM::SelectOp::create(b, w.loc, isNan, w.constant(0x7f), w.Or(code, sign));
}

Value narrowWord(WordBuilder w, const Format &format, ArrayRef<Value> floats,
                 ir::Rounding rounding) {
  SmallVector<Value> codes;
  for (Value x : floats)
    codes.push_back(narrowOne(w, format, x, rounding));
  return w.bytes(w.bytes(codes[0], codes[1], 0x0040), w.bytes(codes[2], codes[3], 0x0040), 0x5410);
}

Value narrowWordByCvt(WordBuilder w, const Format &format, ArrayRef<Value> floats) {
  OpBuilder &b = w.l.b;
  Value pairs = LLVM::PoisonOp::create(b, w.loc, VectorType::get({2}, b.getI16Type()));
  for (int i = 0; i < 2; ++i) { // the first operand is the upper byte
    Value pair =
        inlinePtx(b, w.loc, std::string("cvt.rn.satfinite.") + format.packed + ".f32 $0, $1, $2;",
                  "=h,f,f", b.getI16Type(), {floats[2 * i + 1], floats[2 * i]});
    pairs = LLVM::InsertElementOp::create(b, w.loc, pairs, pair, w.l.i32(i));
  }
  return w.bitcast(pairs, b.getI32Type());
}

} // namespace

Registers widenFloat8(Lowering &l, Location loc, ValueRange bytes, Type format, Type to) {
  WordBuilder w{l, loc};
  Format known = formatOf(format);
  Registers results;
  for (size_t first = 0; first < bytes.size(); first += kPerWord) {
    Value word = packWords(l, loc, wordful(bytes, first)).values.front();
    for (size_t i = 0; i < kPerWord && first + i < bytes.size(); i += 2) {
      Value halves = l.target.hasFloat8
                         ? widenPairByCvt(w, known, word, i > 0)
                         : widenPair(w, known, w.bytes(word, w.constant(0), i ? 0x3424 : 0x1404));
      for (size_t j = 0; j < 2 && first + i + j < bytes.size(); ++j) {
        Value half = LLVM::ExtractElementOp::create(l.b, loc, halves, l.i32(j));
        results.push_back(to.isF16() ? half
                                     : LLVM::FPExtOp::create(l.b, loc, to, half).getResult());
      }
    }
  }
  return results;
}

Registers narrowToFloat8(Lowering &l, Location loc, ValueRange floats, Type format,
                         ir::Rounding rounding) {
  WordBuilder w{l, loc};
  Format known = formatOf(format);
  bool byCvt = l.target.hasFloat8 && rounding == ir::Rounding::NearestEven;
  Registers results;
  for (size_t first = 0; first < floats.size(); first += kPerWord) {
    SmallVector<Value> group = wordful(floats, first);
    Words words{32,
                {byCvt ? narrowWordByCvt(w, known, group) : narrowWord(w, known, group, rounding)}};
    Registers bytes = unpackWords(l, loc, words, l.b.getI8Type(), kPerWord);
    bytes.truncate(std::min(kPerWord, floats.size() - first));
    llvm::append_range(results, bytes);
  }
  return results;
}

} // namespace tile::codegen
