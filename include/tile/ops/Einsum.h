// Sums of products of tensors, written with a letter for each dimension.
#pragma once

#include <tile/ops/Matmul.h>

#include <initializer_list>
#include <string_view>

namespace tile::ops {

/// y = the sum of products that `formula` says:
///   Tensor scores = ops::einsum(stream, "bhqd,bhkd->bhqk", {q, k});
///
/// The formula has a term per operand, separated by commas, and one for y after `->`; a term has a
/// letter per dimension. For every index of y's letters, y is the sum over all other letters
/// of the product of the operands. Without `->` y has the letters that occur once, in alphabetical
/// order (upper case first), as in NumPy. A letter twice in a term is the diagonal: "ii->" is the
/// trace. `...` stands for any number of dimensions, counted from the last; y has them where its
/// term has `...` (without `->`, in front), else they are summed over. Spaces count for nothing.
///
/// Shapes: dimensions of one letter, or of one position of `...`, have equal extents, or 1 in some
/// operands, which are repeated along the others'; twice in a term they are equal. y has those of
/// its term. Any strides. At most 8 dimensions per tensor, intermediate results included; at most
/// 16 operands. Empty tensors are fine: a sum over nothing is 0.
/// Dtypes: operands all f16, bf16, f32 or f64, y any of these; the new tensor has the operands'.
/// Sums are kept in f32 (f64 for f64) as in `matmul` and `sum`, and `options` say how f32 operands
/// of a matmul are rounded.
/// Method: operands are taken from left to right, two at a time. Letters that only one of the two
/// and no later term has are summed over first. Letters of both are batches of a matmul if a later
/// term needs them, and otherwise its K; `matmul` works on views of the operands. Where several
/// letters of one operand act as one but are not one dimension in memory, one of them is a batch,
/// or the operand is copied once. For two batches that are not one dimension in memory, each index
/// of the smaller takes a launch. Without a letter to sum over it is a `map` of products; without a
/// letter that only one operand has, it is such a map of f32 (f64) products and a sum. Intermediate
/// results are rounded to the operands' dtype. The order of summation is open, but fixed for given
/// formula, shapes, strides and options.
///
/// Errors (InvalidArgument, InvalidShape, WrongDevice, Aliasing, Unsupported), at the caller's
/// line: a malformed formula, or one that does not fit the operands' number, ranks and extents,
/// with a mark under the position; dtypes, extents of y, tensors of different devices, y overlaps
/// an operand or repeats elements, too many dimensions.
void einsum(const Stream &stream, std::string_view formula, std::span<const Operand> operands,
            const Operand &y, const MatmulOptions &options = {}, Loc loc = Loc::here());
void einsum(const Stream &stream, std::string_view formula, std::initializer_list<Operand> operands,
            const Operand &y, const MatmulOptions &options = {}, Loc loc = Loc::here());
Tensor einsum(const Stream &stream, std::string_view formula, std::span<const Operand> operands,
              const MatmulOptions &options = {}, Loc loc = Loc::here());
Tensor einsum(const Stream &stream, std::string_view formula,
              std::initializer_list<Operand> operands, const MatmulOptions &options = {},
              Loc loc = Loc::here());

} // namespace tile::ops
