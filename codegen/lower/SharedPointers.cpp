#include "codegen/lower/SharedPointers.h"

#include "codegen/lower/Words.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tile::codegen {

using Term = layout::SharedAddress::Term;

ThreadPart threadPart(Lowering &l, ArrayRef<Term> lanes, ArrayRef<Term> warps) {
  auto column = [](ArrayRef<Term> terms, int64_t Term::*member) {
    SmallVector<int64_t> bits;
    for (const Term &term : terms)
      bits.push_back(term.*member);
    return bits;
  };
  ThreadPart part;
  part.toggle = l.threadLinear(column(lanes, &Term::toggle), column(warps, &Term::toggle));
  bool anyAddend = llvm::any_of(lanes, [](const Term &t) { return t.addend != 0; }) ||
                   llvm::any_of(warps, [](const Term &t) { return t.addend != 0; });
  if (anyAddend) // digits of narrow panels: distinct bits, so the sum is the XOR
    part.addend = l.threadLinear(column(lanes, &Term::addend), column(warps, &Term::addend));
  for (const Term &term : llvm::concat<const Term>(lanes, warps))
    part.toggleBits |= term.toggle;
  return part;
}

SharedVector SharedPointers::vector(const Term &term) {
  int64_t overlap = term.toggle & part.toggleBits, apart = term.toggle & ~part.toggleBits;
  Value &known = byOverlap[overlap];
  if (!known) {
    Value offset = part.toggle;
    if (overlap)
      offset = arith::XOrIOp::create(l.b, loc, offset, l.i32(overlap));
    if (part.addend)
      offset = arith::AddIOp::create(l.b, loc, offset, part.addend);
    known = l.sharedPointer(arith::MulIOp::create(l.b, loc, offset, l.i32(bytes)));
    if (base.moved) // last, so that the rest is the same in all iterations of a loop
      known = LLVM::GEPOp::create(l.b, loc, known.getType(), l.b.getI8Type(), known,
                                  ValueRange{base.moved});
  }
  return {known, base.offset + (apart + term.addend) * bytes};
}

Value SharedPointers::pointer(const Term &term) {
  auto [pointer, offset] = vector(term);
  return LLVM::GEPOp::create(l.b, loc, pointer.getType(), l.b.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
}

static Type wordsType(Lowering &l, const Words &words) {
  Type word = l.b.getIntegerType(words.bits);
  auto count = static_cast<int64_t>(words.values.size());
  return count > 1 ? Type(VectorType::get({count}, word)) : word;
}

void storeVector(Lowering &l, Location loc, Value pointer, ValueRange elements) {
  Words words = packWords(l, loc, elements);
  Value value = words.values.front();
  if (words.values.size() > 1) {
    value = LLVM::PoisonOp::create(l.b, loc, wordsType(l, words));
    for (auto [i, word] : llvm::enumerate(words.values))
      value = LLVM::InsertElementOp::create(l.b, loc, value, word, l.i32(i));
  }
  LLVM::StoreOp::create(l.b, loc, value, pointer, words.values.size() * words.bits / 8);
}

Registers loadVector(Lowering &l, Location loc, Value pointer, Type element, size_t count) {
  Words words = wordsFor(l, element, count);
  Value value = LLVM::LoadOp::create(l.b, loc, wordsType(l, words), pointer,
                                     words.values.size() * words.bits / 8);
  for (auto [i, word] : llvm::enumerate(words.values))
    word = words.values.size() > 1
               ? LLVM::ExtractElementOp::create(l.b, loc, value, l.i32(i)).getResult()
               : value;
  return unpackWords(l, loc, words, element, count);
}

} // namespace tile::codegen
