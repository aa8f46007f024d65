// Choosing among the elements of rows: the largest, the k largest, one drawn from those. A row is
// the last
// dimension: the logits of a vocabulary.
//
//   ops::Generator generator{.seed = 42};
//   Tensor tokens = ops::sampleTopK(stream, generator, logits, 40, 0.8);
//
// Order: by value, and of equal values (0 and -0 are equal) the one with the lower index first. NaN
// comes after -infinity: it is chosen only where too few numbers are left. The order has no ties,
// so results are exact and the same for every tile size and device.
// Shapes: rows of 1 element to 2^31 - 1, any number of them, any strides. Dtypes: rows of f16, bf16
// or f32, indices of i32 or i64 (new tensors: i32).
// Method: each program selects the k largest of up to 4096 elements by bisection of their bits;
// those of a row are put together and reduced again until one program has them all: two passes, of
// which the second is small, for 131072 elements and k up to 128. The last k are sorted by
// counting.
// Errors (InvalidArgument, InvalidShape, WrongDevice, Aliasing), at the caller's line: extents and
// dtypes that are not as said, k below 1, above 1024 or above the length of a row, tensors of
// different devices, an output that overlaps another tensor or repeats elements.
#pragma once

#include <tile/Tensor.h>
#include <tile/ops/Operand.h>
#include <tile/ops/Random.h>

namespace tile::ops {

/// indices[r] = the index of the largest x[r, j]. indices has the extents of x without the last.
void argmax(const Stream &stream, const Operand &x, const Operand &indices, Loc loc = Loc::here());
Tensor argmax(const Stream &stream, const Operand &x, Loc loc = Loc::here());

struct TopK {
  Tensor values, indices;
};
/// The k largest elements of each row, the largest first, and their indices: k is the last extent
/// of values and indices, whose others are those of x. values: f16, bf16 or f32, rounded from x;
/// the new one has x's dtype.
void topK(const Stream &stream, const Operand &x, const Operand &values, const Operand &indices,
          Loc loc = Loc::here());
TopK topK(const Stream &stream, const Operand &x, int64_t k, Loc loc = Loc::here());

/// tokens[r] = one of the k largest elements of a row, by its index, drawn with the probability
///   p[i] = exp((x[i] - m) / temperature) / sum over those k of exp((x[j] - m) / temperature),
/// where m is the largest of them. A temperature of 0 takes the largest, as argmax; infinity makes
/// all k equally likely. Row r, counted in row-major order, takes the number that `rand` would give
/// element r in f32, a multiple of 2^-24, and looks it up in the sums of p in the order of topK; in
/// the generator's sequence each row counts as one number, whatever k and the temperature are. p is
/// computed in f32, by approximate functions: near the border of two tokens devices may differ.
/// NaN: has no probability; in a row of nothing but NaN the first is taken. Infinities share the
/// probability of a row that has some; so do -infinities among k that are nothing else.
/// tokens has the extents of logits without the last. Error: a temperature that is negative or NaN.
void sampleTopK(const Stream &stream, Generator &generator, const Operand &logits, int64_t k,
                double temperature, const Operand &tokens, Loc loc = Loc::here());
Tensor sampleTopK(const Stream &stream, Generator &generator, const Operand &logits, int64_t k,
                  double temperature, Loc loc = Loc::here());

} // namespace tile::ops
