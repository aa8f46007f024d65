#include "codegen/lower/Shuffle.h"

#include "codegen/lower/Words.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tile::codegen {

static Value shuffleWord(Lowering &l, Location loc, Value word, Value laneOrMask,
                         NVVM::ShflKind kind) {
  return NVVM::ShflOp::create(l.b, loc, l.b.getI32Type(), l.i32(-1), word, laneOrMask, l.i32(31),
                              kind, UnitAttr());
}

// shfl moves 32 bits: narrower values are widened, wider ones go in halves.
static Value shuffle(Lowering &l, Location loc, Value value, Value laneOrMask,
                     NVVM::ShflKind kind) {
  Words words = packWords(l, loc, value);
  for (Value &word : words.values) {
    if (words.bits == 32) {
      word = shuffleWord(l, loc, word, laneOrMask, kind);
    } else if (words.bits < 32) {
      Type narrow = word.getType();
      Value wide = LLVM::ZExtOp::create(l.b, loc, l.b.getI32Type(), word);
      word = LLVM::TruncOp::create(l.b, loc, narrow, shuffleWord(l, loc, wide, laneOrMask, kind));
    } else {
      Type pair = VectorType::get({2}, l.b.getI32Type());
      Value halves = LLVM::BitcastOp::create(l.b, loc, pair, word);
      for (int64_t half = 0; half < 2; ++half) {
        Value part = LLVM::ExtractElementOp::create(l.b, loc, halves, l.i32(half));
        halves = LLVM::InsertElementOp::create(
            l.b, loc, halves, shuffleWord(l, loc, part, laneOrMask, kind), l.i32(half));
      }
      word = LLVM::BitcastOp::create(l.b, loc, l.b.getI64Type(), halves);
    }
  }
  return unpackWords(l, loc, words, value.getType(), 1).front();
}

Value shuffleFrom(Lowering &l, Location loc, Value value, Value lane) {
  return shuffle(l, loc, value, lane, NVVM::ShflKind::idx);
}

Value shuffleButterfly(Lowering &l, Location loc, Value value, int32_t mask) {
  return shuffle(l, loc, value, l.i32(mask), NVVM::ShflKind::bfly);
}

} // namespace tile::codegen
