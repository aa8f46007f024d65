#include "codegen/lower/SharedPointers.h"

#include "codegen/thread/Words.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tile::codegen {

using Term = layout::SharedAddress::Term;

static Value valueOf(Lowering &l, const layout::ThreadAddend &addend) {
  Value bits = l.coordinates.threadLinear(addend.lanes, addend.warps);
  if (addend.factor == 1)
    return bits;
  return arith::MulIOp::create(l.b, bits.getLoc(), bits, l.i32(addend.factor));
}

ThreadPart threadPart(Lowering &l, const std::vector<Term> &lanes, const std::vector<Term> &warps) {
  auto toggles = [](const std::vector<Term> &terms) {
    return llvm::map_to_vector(terms, [](const Term &term) { return term.toggle; });
  };
  ThreadPart part;
  part.toggle = l.coordinates.threadLinear(toggles(lanes), toggles(warps));
  for (const layout::ThreadAddend &addend : layout::threadAddends(lanes, warps)) {
    Value value = valueOf(l, addend);
    part.addend = part.addend
                      ? arith::AddIOp::create(l.b, value.getLoc(), part.addend, value).getResult()
                      : value;
  }
  for (const Term &term : llvm::concat<const Term>(lanes, warps))
    part.toggleBits |= term.toggle;
  return part;
}

static Type clusterPointer(Lowering &l) {
  auto space = static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster);
  return LLVM::LLVMPointerType::get(l.b.getContext(), space);
}

SharedVector SharedPointers::vector(const Term &term) {
  layout::RegisterPart own = layout::registerPart(term, part_.toggleBits);
  Value &known = byToggle_[own.toggle];
  if (!known) {
    Value offset = part_.toggle;
    if (own.toggle)
      offset = arith::XOrIOp::create(l_.b, loc_, offset, l_.i32(own.toggle));
    if (part_.addend)
      offset = arith::AddIOp::create(l_.b, loc_, offset, part_.addend);
    known = l_.shared.pointer(arith::MulIOp::create(l_.b, loc_, offset, l_.i32(bytes_)));
    if (base_.moved) // last, so that the rest is the same in all iterations of a loop
      known = LLVM::GEPOp::create(l_.b, loc_, known.getType(), l_.b.getI8Type(), known,
                                  ValueRange{base_.moved});
    if (block_)
      known = NVVM::MapaOp::create(l_.b, loc_, clusterPointer(l_), known, block_);
  }
  return {known, base_.offset + own.addend * bytes_};
}

Value SharedPointers::pointer(const Term &term) {
  auto [pointer, offset] = vector(term);
  return LLVM::GEPOp::create(l_.b, loc_, pointer.getType(), l_.b.getI8Type(), pointer,
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
