// Elements packed into the words that memory instructions move: 32 bits for narrow elements, 64 for
// wide ones.
#pragma once

#include "codegen/thread/ThreadValues.h"

namespace tile::codegen {

/// Integers of `bits` bits each, lowest element first in the lowest bits.
struct Words {
  unsigned bits = 32;
  llvm::SmallVector<mlir::Value> values;
};

/// The words that hold `count` elements of a type, values not filled in. i1 takes a byte.
Words wordsFor(ThreadValues &values, mlir::Type element, size_t count);

Words packWords(ThreadValues &values, mlir::Location loc, mlir::ValueRange elements);
Registers unpackWords(ThreadValues &values, mlir::Location loc, const Words &words,
                      mlir::Type element, size_t count);

} // namespace tile::codegen
