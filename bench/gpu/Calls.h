// The ops that the benchmark's server runs, by name.
#pragma once

#include "bench/gpu/Tensors.h"

#include <functional>

namespace tile::bench {

/// A call of an op on tensors that exist, to be made any number of times. Operands are those of the public function, by its
/// names; the ops are matmul, linear, attention, attentionBackward, softmax, layernorm and copy.
///   {"op": "matmul", "operands": {"a": {"tensor": "a", "extents": [64, 64]}, "b": ..., "c": ...}}
///   {"op": "attention", "operands": {"q": ..., "k": ..., "v": ..., "out": ..., "lse": ...}, "causal": true}
/// Throws Error for an op it does not know, and nlohmann's exceptions for words that are missing.
std::function<void()> callOf(const nlohmann::json &request, const Tensors &tensors,
                             const Stream &stream);

} // namespace tile::bench
