// The tensors of a matmul: the rules for them, how their batches become one dimension, and the
// shape that tiles are chosen by.
#pragma once

#include "ops/Arguments.h"
#include "ops/NewTensor.h"
#include "ops/matmul/MatmulTiles.h"

namespace tile::ops::detail {

/// The dtype of a result that nothing else decides.
DType resultOf(DType operands);
/// The extents of a b; batch dimensions broadcast.
Extents extentsOfProduct(const Arguments &arguments, const Operand &a, const Operand &b);

/// The operands have one dtype, but that 8-bit floats may be of both formats.
void checkOperands(const Arguments &arguments, Named a, Named b);
/// The rules for c, a and b, the first of `operands`, wherever they lie.
void checkProduct(const Arguments &arguments, std::span<const Operand> operands, DotOptions how);

/// The shape of c = a b on a GPU of this name; `operands` begin with c, a, b.
MatmulShape shapeOf(std::span<const Operand> operands, DotOptions how, std::string_view target,
                    int multiprocessors);
/// c^T = b^T a^T, and the epilogue's tensors likewise.
void transpose(std::span<Operand> operands);

} // namespace tile::ops::detail
