// Embeddings: rows of a table picked by indices, and the gradient of the table.
#pragma once

#include <tile/Tensor.h>
#include <tile/ops/Operand.h>

namespace tile::ops {

/// y[i..., :] = table[indices[i...], :].
///
/// Shapes: table rows x width, with any strides; indices of any rank up to kMaxRank - 1; y has the
/// extents of the indices, then width. Any strides: leading dimensions of y, and indices, that do
/// not fold to one are copied once more.
/// Dtypes: table and y any of f16, bf16, f32, f64 (y's is rounded to); indices i32 or i64. The new
/// tensor has the table's dtype.
/// An index outside 0 .. rows - 1 gives a row of NaN; nothing is read outside the table. Negative
/// ones do not count from the end.
/// Method: one pass; each row is read and written once, in parts of up to 1024 elements.
///
/// Errors (InvalidArgument, InvalidShape, WrongDevice, Aliasing), at the caller's line: dtypes, a
/// table that is no matrix, extents of y, tensors of different devices, y overlaps an input or
/// repeats elements.
void embedding(const Stream &stream, const Operand &table, const Operand &indices, const Operand &y,
               Loc loc = Loc::here());
Tensor embedding(const Stream &stream, const Operand &table, const Operand &indices,
                 Loc loc = Loc::here());

/// dtable[r, :] = the sum of dy[i..., :] over all indices equal to r; zero for rows that none
/// names. dtable is overwritten. Indices outside the table add nothing.
///
/// Shapes and dtypes as for `embedding`, where dy stands for y and dtable for the table. Sums are
/// kept in f32, in f64 if dy or dtable is f64, and rounded once.
/// Deterministic: no atomics; the terms of a row are added in an order that the indices alone
/// decide, so that a call repeated gives the same bits.
/// Method, for n indices: one kernel sorts them by counting for each how many come before it, which
/// takes n * n comparisons (n = 8192: 0.07e9, n = 65536: 4.3e9) and 4 bytes of memory each; another
/// sums: dy is read and dtable written once. A row is summed by one program for each 256 columns:
/// all indices equal is the slowest case. Temporary memory: 4 * n + 8 * rows bytes.
///
/// Errors: those of `embedding`.
void embeddingBackward(const Stream &stream, const Operand &indices, const Operand &dy,
                       const Operand &dtable, Loc loc = Loc::here());

} // namespace tile::ops
