// Scaled dot-product attention of variables.
#pragma once

#include <tile/autograd/Variable.h>
#include <tile/ops/Attention.h>

namespace tile::autograd {

/// The softmax of scale * q k^T times v, as in ops::attention: q is B x Hq x Lq x D, k and v are
/// B x Hkv x Lk x D. For the gradients q, k, v, the result and one f32 a query are kept, and no
/// matrix of scores.
Variable attention(const Variable &q, const Variable &k, const Variable &v,
                   const ops::AttentionOptions &options = {}, Loc loc = Loc::here());

} // namespace tile::autograd
