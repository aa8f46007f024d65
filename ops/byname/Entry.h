// What the entries of ops by name share.
#pragma once

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

/// So many matrices M x N of one dtype, for examples.
inline Specs matrices(const OpSettings &settings, size_t count) {
  TensorSpec one{settings.dtype("dtype", f32),
                 {settings.integer("M", 4096), settings.integer("N", 1024)}};
  return Specs(count, one);
}

/// An output as the first input, in the dtype that the settings may say.
inline Specs likeFirst(Tensors in, const OpSettings &settings) {
  return {{settings.dtype("dtype", in[0].dtype()), extentsOf(in[0])}};
}

/// What the inputs broadcast to, as far as they do: the op itself refuses those that do not.
inline Specs broadcast(Tensors in, const OpSettings &settings) {
  std::vector<int64_t> extents = extentsOf(in[0]);
  for (const Tensor &tensor : in.subspan(1)) {
    std::vector<int64_t> other = extentsOf(tensor);
    if (other.size() > extents.size())
      std::swap(other, extents);
    size_t shift = extents.size() - other.size();
    for (size_t dim = 0; dim < other.size(); ++dim)
      if (extents[dim + shift] == 1)
        extents[dim + shift] = other[dim];
  }
  return {{settings.dtype("dtype", in[0].dtype()), extents}};
}

} // namespace tile::ops
