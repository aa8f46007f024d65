#include "codegen/thread/Words.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tile::codegen {

// The integer an element is in memory.
static Type storageType(ThreadValues &values, Type element) {
  if (isa<LLVM::LLVMPointerType>(element))
    return values.b.getI64Type();
  return values.b.getIntegerType(std::max(8u, element.getIntOrFloatBitWidth()));
}

static Value toStorage(ThreadValues &values, Location loc, Value element) {
  Type type = storageType(values, element.getType());
  if (element.getType() == type)
    return element;
  if (element.getType().isInteger(1))
    return LLVM::ZExtOp::create(values.b, loc, type, element);
  if (isa<LLVM::LLVMPointerType>(element.getType()))
    return LLVM::PtrToIntOp::create(values.b, loc, type, element);
  return LLVM::BitcastOp::create(values.b, loc, type, element);
}

static Value fromStorage(ThreadValues &values, Location loc, Value stored, Type element) {
  if (stored.getType() == element)
    return stored;
  if (element.isInteger(1))
    return LLVM::ICmpOp::create(values.b, loc, LLVM::ICmpPredicate::ne, stored,
                                values.integer(8, 0));
  if (isa<LLVM::LLVMPointerType>(element))
    return LLVM::IntToPtrOp::create(values.b, loc, element, stored);
  return LLVM::BitcastOp::create(values.b, loc, element, stored);
}

Words wordsFor(ThreadValues &values, Type element, size_t count) {
  unsigned elementBits = storageType(values, element).getIntOrFloatBitWidth();
  unsigned total = elementBits * count;
  unsigned bits = elementBits == 64 ? 64 : std::min(32u, total);
  return {bits, SmallVector<Value>(total / bits)};
}

Words packWords(ThreadValues &values, Location loc, ValueRange elements) {
  Words words = wordsFor(values, elements.front().getType(), elements.size());
  size_t perWord = elements.size() / words.values.size();
  Type storage = storageType(values, elements.front().getType());
  for (auto [i, word] : llvm::enumerate(words.values)) {
    if (perWord == 1) {
      word = toStorage(values, loc, elements[i]);
      continue;
    }
    word = LLVM::PoisonOp::create(values.b, loc,
                                  VectorType::get({static_cast<int64_t>(perWord)}, storage));
    for (size_t j = 0; j < perWord; ++j)
      word = LLVM::InsertElementOp::create(
          values.b, loc, word, toStorage(values, loc, elements[i * perWord + j]), values.i32(j));
    word = LLVM::BitcastOp::create(values.b, loc, values.b.getIntegerType(words.bits), word);
  }
  return words;
}

Registers unpackWords(ThreadValues &values, Location loc, const Words &words, Type element,
                      size_t count) {
  size_t perWord = count / words.values.size();
  Type storage = storageType(values, element);
  Registers elements;
  for (Value word : words.values) {
    if (perWord == 1) {
      elements.push_back(fromStorage(values, loc, word, element));
      continue;
    }
    Value vector = LLVM::BitcastOp::create(
        values.b, loc, VectorType::get({static_cast<int64_t>(perWord)}, storage), word);
    for (size_t j = 0; j < perWord; ++j) {
      Value stored = LLVM::ExtractElementOp::create(values.b, loc, vector, values.i32(j));
      elements.push_back(fromStorage(values, loc, stored, element));
    }
  }
  return elements;
}

} // namespace tile::codegen
