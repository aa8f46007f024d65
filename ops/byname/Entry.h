// What the entries of ops by name share.
#pragma once

#include "ops/Arguments.h"

#include <tile/Registry.h>
#include <tile/ops/Operand.h>

#include <span>
#include <utility>
#include <vector>

namespace tile::ops {

using Specs = std::vector<TensorSpec>;
using Tensors = std::span<const Tensor>;

/// The tensor of that number, or none.
inline Operand given(Tensors tensors, size_t i) {
  return i < tensors.size() ? Operand(tensors[i]) : Operand();
}

inline std::vector<int64_t> extentsOf(const Tensor &tensor) {
  return {tensor.extents().begin(), tensor.extents().end()};
}
/// Those of the rows: without the last.
inline std::vector<int64_t> rowsOf(const Tensor &tensor) {
  return {tensor.extents().begin(), tensor.extents().end() - (tensor.rank() > 0)};
}

/// The rules of an op's inputs, for functions that say what its outputs are. Whatever would make an output that the op itself
/// refuses is refused there, since callers never hear of outputs that they have not made.
inline Arguments rulesOf(const char *op) {
  static const Stream none;
  return {op, {none, Loc()}};
}

/// `dtype`, that of the output, for ops that take any floats.
inline OpSetting floatDtype() { return OpSetting::dtype("dtype", {f16, bf16, f32, f64}); }
/// `indices`, the dtype of an output of indices.
inline OpSetting indexDtype() { return OpSetting::dtype("indices", {i32, i64}); }

/// So many matrices M x N of one dtype, for examples.
inline Specs matrices(const OpSettings &settings, size_t count, DType usual = f32) {
  TensorSpec one{settings.dtype("dtype", usual),
                 {settings.extent("M", 4096), settings.extent("N", 1024)}};
  return Specs(count, one);
}

/// An output as the first input, in the dtype that the settings may say.
inline Specs likeFirst(Tensors in, const OpSettings &settings) {
  return {{settings.dtype("dtype", in[0].dtype()), extentsOf(in[0])}};
}

/// Whether all tensors of an op of two are masks.
inline bool areMasks(const Operand &a, const Operand &b, const Operand &c) {
  return a.dtype() == i1 && b.dtype() == i1 && c.dtype() == i1;
}

/// What both inputs broadcast to; they are refused under these names if they do not.
Specs broadcast(const char *op, const char *first, const char *second, Tensors in,
                const OpSettings &settings);
/// The same of an op that has one dtype for all.
Specs broadcastInOneDtype(const char *op, Tensors in, const OpSettings &settings);

} // namespace tile::ops
