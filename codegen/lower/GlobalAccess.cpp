#include "codegen/lower/GlobalAccess.h"

#include "codegen/InlinePtx.h"
#include "codegen/thread/Words.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tile::codegen {

const char *asmConstraint(unsigned bits) { return bits <= 16 ? "h" : bits == 32 ? "r" : "l"; }

AccessHints AccessHints::make(ir::CacheMode cache, ir::Eviction evict, bool isVolatile) {
  AccessHints hints;
  hints.isVolatile = isVolatile;
  if (cache != ir::CacheMode::Default)
    hints.modifiers = "." + stringifyCacheMode(cache).str();
  if (evict != ir::Eviction::Normal)
    hints.modifiers = ".L1::evict_" + stringifyEviction(evict).str();
  return hints;
}

std::string AccessHints::instruction(const char *name) const {
  return std::string(name) + (isVolatile ? ".volatile" : "") + ".global" + modifiers + ".";
}

namespace {

// "v4.b32" for four words of 32 bits.
std::string accessType(size_t count, unsigned bits) {
  std::string text = count > 1 ? "v" + std::to_string(count) + "." : "";
  return text + "b" + std::to_string(bits);
}

Value asmRegister(Lowering &l, Location loc, Value word) {
  if (word.getType().isInteger(8))
    return LLVM::ZExtOp::create(l.b, loc, l.b.getIntegerType(16), word);
  return word;
}

// As inline PTX: what is predicated or hinted.
Registers writtenLoad(Lowering &l, Location loc, const GlobalPlace &place, ValueRange fill) {
  Words words =
      place.predicate ? packWords(l, loc, fill) : wordsFor(l, fill.front().getType(), fill.size());
  size_t count = words.values.size();
  unsigned bits = words.bits, asmBits = std::max(bits, 16u);
  Type wordType = l.b.getIntegerType(asmBits);
  std::string constraints, text = place.hints.instruction("ld") + accessType(count, bits) + " " +
                                  operandList(0, count) + ", [$";
  SmallVector<Value> operands;
  for (size_t i = 0; i < count; ++i)
    constraints += std::string(i ? ",=" : "=") + asmConstraint(bits);
  for (size_t i = 0; place.predicate && i < count;
       ++i) { // the fill arrives in the result's own registers
    constraints += "," + std::to_string(i);
    operands.push_back(asmRegister(l, loc, words.values[i]));
  }
  constraints += ",l";
  text += std::to_string(count + operands.size()) + "+" + std::to_string(place.byteOffset) + "];";
  operands.push_back(place.pointer);
  if (place.predicate) {
    constraints += ",b";
    text = "@$" + std::to_string(count + operands.size()) + " " + text;
    operands.push_back(place.predicate);
  }
  Type result = wordType;
  if (count > 1)
    result = LLVM::LLVMStructType::getLiteral(l.b.getContext(), SmallVector<Type>(count, wordType));
  Value loaded = inlineMemoryPtx(l.b, loc, text, constraints, result, operands).getRes();
  for (size_t i = 0; i < count; ++i) {
    Value word = count > 1 ? LLVM::ExtractValueOp::create(l.b, loc, loaded, i).getResult() : loaded;
    words.values[i] =
        bits == 8 ? LLVM::TruncOp::create(l.b, loc, l.b.getI8Type(), word).getResult() : word;
  }
  return unpackWords(l, loc, words, fill.front().getType(), fill.size());
}

} // namespace

Value offsetPointer(Lowering &l, Location loc, const GlobalPlace &place) {
  if (place.byteOffset == 0)
    return place.pointer;
  return LLVM::GEPOp::create(l.b, loc, place.pointer.getType(), l.b.getI8Type(), place.pointer,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(place.byteOffset)});
}

Registers loadGlobal(Lowering &l, Location loc, const GlobalPlace &place, ValueRange fill) {
  if (place.predicate || !place.hints.isPlain())
    return writtenLoad(l, loc, place, fill);
  Words words = wordsFor(l, fill.front().getType(), fill.size());
  Type wordType = l.b.getIntegerType(words.bits);
  size_t count = words.values.size();
  Type type = count > 1 ? Type(VectorType::get({static_cast<int64_t>(count)}, wordType)) : wordType;
  Value loaded =
      LLVM::LoadOp::create(l.b, loc, type, offsetPointer(l, loc, place), count * words.bits / 8);
  for (size_t i = 0; i < count; ++i)
    words.values[i] =
        count > 1 ? LLVM::ExtractElementOp::create(l.b, loc, loaded, l.i32(i)).getResult() : loaded;
  return unpackWords(l, loc, words, fill.front().getType(), fill.size());
}

void storeGlobal(Lowering &l, Location loc, const GlobalPlace &place, ValueRange elements) {
  Words words = packWords(l, loc, elements);
  size_t count = words.values.size();
  if (!place.predicate && place.hints.isPlain()) {
    Value value = words.values.front();
    if (count > 1) {
      value = LLVM::PoisonOp::create(
          l.b, loc, VectorType::get({static_cast<int64_t>(count)}, value.getType()));
      for (size_t i = 0; i < count; ++i)
        value = LLVM::InsertElementOp::create(l.b, loc, value, words.values[i], l.i32(i));
    }
    LLVM::StoreOp::create(l.b, loc, value, offsetPointer(l, loc, place), count * words.bits / 8);
    return;
  }
  for (Value &word : words.values)
    word = asmRegister(l, loc, word);
  writeAt(l, loc, place, place.hints.instruction("st") + accessType(count, words.bits),
          words.values, asmConstraint(words.bits));
}

void writeAt(Lowering &l, Location loc, const GlobalPlace &place, StringRef text, ValueRange words,
             const char *letter) {
  std::string constraints = "l", guard;
  SmallVector<Value> operands = {place.pointer};
  if (place.predicate) {
    constraints += ",b";
    guard = "@$1 ";
    operands.push_back(place.predicate);
  }
  std::string written = guard + text.str() + " [$0+" + std::to_string(place.byteOffset) + "], " +
                        operandList(operands.size(), words.size()) + ";";
  for (Value word : words) {
    constraints += std::string(",") + letter;
    operands.push_back(word);
  }
  inlineMemoryPtx(l.b, loc, written, constraints, LLVM::LLVMVoidType::get(l.b.getContext()),
                  operands);
}

int64_t vectorLength(const layout::Layout &layout, int dim, int64_t most) {
  int64_t run = layout.consecutiveElements(dim), length = 1;
  while (length * 2 <= std::min(run, most))
    length *= 2;
  return length;
}

Value bothTrue(Lowering &l, Location loc, Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return arith::AndIOp::create(l.b, loc, a, b);
}

} // namespace tile::codegen
