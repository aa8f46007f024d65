// Embeddings and rotary position embeddings of variables: the functions of ops/Embedding.h and
// ops/Rotary.h, with gradients.
//
// Errors: those of the op, at the caller's line.
#pragma once

#include <tile/autograd/Variable.h>
#include <tile/ops/Rotary.h>

namespace tile::autograd {

/// Rows of the table: result[i..., :] = table[indices[i...], :]. indices: i32 or i64; they have no
/// gradient.
Variable embedding(const Variable &table, const Tensor &indices, Loc loc = Loc::here());

/// Each pair of elements of the last dimension turned by the angle whose cosine and sine the tables
/// of ops::rotaryTables hold.
Variable rotate(const Variable &x, const Tensor &cosines, const Tensor &sines,
                const ops::RotaryOptions &options = {}, Loc loc = Loc::here());

} // namespace tile::autograd
