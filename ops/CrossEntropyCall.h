// The rules for arguments that cross-entropy and its gradient share, and which rows count.
#pragma once

#include "ops/Arguments.h"
#include "ops/Rows.h"

#include <tile/ops/CrossEntropy.h>

namespace tile::ops {

/// V.
int64_t classesOf(const CrossEntropyOptions &options, const Operand &logits);
/// The rules of both. `loss` is the loss or its gradient; lse may be absent.
void checkCrossEntropy(const Arguments &arguments, const CrossEntropyOptions &options, Named logits,
                       Named targets, Named loss, Named lse);

/// The tile of targets of a program that counts them.
inline constexpr int kCountedRows = 4096;
/// 1 for each row of tile r that is not ignored: i32.
Value countOf(const In<any, 1> &targets, Value ignored, Value r, int rows);

} // namespace tile::ops
