#include "codegen/lower/Words.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tile::codegen {

// The integer an element is in memory.
static Type storageType(Lowering &l, Type element) {
  if (isa<LLVM::LLVMPointerType>(element))
    return l.b.getI64Type();
  return l.b.getIntegerType(std::max(8u, element.getIntOrFloatBitWidth()));
}

static Value toStorage(Lowering &l, Location loc, Value element) {
  Type type = storageType(l, element.getType());
  if (element.getType() == type)
    return element;
  if (element.getType().isInteger(1))
    return LLVM::ZExtOp::create(l.b, loc, type, element);
  if (isa<LLVM::LLVMPointerType>(element.getType()))
    return LLVM::PtrToIntOp::create(l.b, loc, type, element);
  return LLVM::BitcastOp::create(l.b, loc, type, element);
}

static Value fromStorage(Lowering &l, Location loc, Value stored, Type element) {
  if (stored.getType() == element)
    return stored;
  if (element.isInteger(1))
    return LLVM::ICmpOp::create(l.b, loc, LLVM::ICmpPredicate::ne, stored, l.integer(8, 0));
  if (isa<LLVM::LLVMPointerType>(element))
    return LLVM::IntToPtrOp::create(l.b, loc, element, stored);
  return LLVM::BitcastOp::create(l.b, loc, element, stored);
}

Words wordsFor(Lowering &l, Type element, size_t count) {
  unsigned elementBits = storageType(l, element).getIntOrFloatBitWidth();
  unsigned total = elementBits * count;
  unsigned bits = elementBits == 64 ? 64 : std::min(32u, total);
  return {bits, SmallVector<Value>(total / bits)};
}

Words packWords(Lowering &l, Location loc, ValueRange elements) {
  Words words = wordsFor(l, elements.front().getType(), elements.size());
  size_t perWord = elements.size() / words.values.size();
  Type storage = storageType(l, elements.front().getType());
  for (auto [i, word] : llvm::enumerate(words.values)) {
    if (perWord == 1) {
      word = toStorage(l, loc, elements[i]);
      continue;
    }
    word =
        LLVM::PoisonOp::create(l.b, loc, VectorType::get({static_cast<int64_t>(perWord)}, storage));
    for (size_t j = 0; j < perWord; ++j)
      word = LLVM::InsertElementOp::create(l.b, loc, word,
                                           toStorage(l, loc, elements[i * perWord + j]), l.i32(j));
    word = LLVM::BitcastOp::create(l.b, loc, l.b.getIntegerType(words.bits), word);
  }
  return words;
}

Registers unpackWords(Lowering &l, Location loc, const Words &words, Type element, size_t count) {
  size_t perWord = count / words.values.size();
  Type storage = storageType(l, element);
  Registers elements;
  for (Value word : words.values) {
    if (perWord == 1) {
      elements.push_back(fromStorage(l, loc, word, element));
      continue;
    }
    Value vector = LLVM::BitcastOp::create(
        l.b, loc, VectorType::get({static_cast<int64_t>(perWord)}, storage), word);
    for (size_t j = 0; j < perWord; ++j) {
      Value stored = LLVM::ExtractElementOp::create(l.b, loc, vector, l.i32(j));
      elements.push_back(fromStorage(l, loc, stored, element));
    }
  }
  return elements;
}

} // namespace tile::codegen
