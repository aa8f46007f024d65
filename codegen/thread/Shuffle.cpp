#include "codegen/thread/Shuffle.h"

#include "codegen/thread/Words.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tile::codegen {

static Value shuffleWord(ThreadValues &values, Location loc, Value word, Value laneOrMask,
                         NVVM::ShflKind kind) {
  return NVVM::ShflOp::create(values.b, loc, values.b.getI32Type(), values.i32(-1), word,
                              laneOrMask, values.i32(31), kind, UnitAttr());
}

// shfl moves 32 bits: narrower values are widened, wider ones go in halves.
static Value shuffle(ThreadValues &values, Location loc, Value value, Value laneOrMask,
                     NVVM::ShflKind kind) {
  Words words = packWords(values, loc, value);
  for (Value &word : words.values) {
    if (words.bits == 32) {
      word = shuffleWord(values, loc, word, laneOrMask, kind);
    } else if (words.bits < 32) {
      Type narrow = word.getType();
      Value wide = LLVM::ZExtOp::create(values.b, loc, values.b.getI32Type(), word);
      word = LLVM::TruncOp::create(values.b, loc, narrow,
                                   shuffleWord(values, loc, wide, laneOrMask, kind));
    } else {
      Type pair = VectorType::get({2}, values.b.getI32Type());
      Value halves = LLVM::BitcastOp::create(values.b, loc, pair, word);
      for (int64_t half = 0; half < 2; ++half) {
        Value part = LLVM::ExtractElementOp::create(values.b, loc, halves, values.i32(half));
        halves = LLVM::InsertElementOp::create(values.b, loc, halves,
                                               shuffleWord(values, loc, part, laneOrMask, kind),
                                               values.i32(half));
      }
      word = LLVM::BitcastOp::create(values.b, loc, values.b.getI64Type(), halves);
    }
  }
  return unpackWords(values, loc, words, value.getType(), 1).front();
}

Value shuffleFrom(ThreadValues &values, Location loc, Value value, Value lane) {
  return shuffle(values, loc, value, lane, NVVM::ShflKind::idx);
}

Value shuffleButterfly(ThreadValues &values, Location loc, Value value, int32_t mask) {
  return shuffle(values, loc, value, values.i32(mask), NVVM::ShflKind::bfly);
}

} // namespace tile::codegen
