// Operands: what ops ask of a tensor beyond its fields.
#include <tile/ops/Operand.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tile::ops {

void Operand::refuseRank(Loc where) {
  throw Error(Fault::User, ErrorCode::InvalidShape,
              "a tensor argument has a rank that is not between 0 and " + std::to_string(kMaxRank),
              where);
}

int64_t Operand::numel() const {
  int64_t product = 1;
  for (int dim = 0; dim < rank(); ++dim)
    product *= extent(dim);
  return product;
}

std::string Operand::str() const {
  if (!*this)
    return "no tensor";
  return std::string(nameOf(dtype())) + " " + shapeStr();
}

std::string Operand::shapeStr() const {
  std::string text;
  for (int dim = 0; dim < rank(); ++dim)
    text += (dim == 0 ? "" : "x") + std::to_string(extent(dim));
  return rank() == 0 ? "scalar" : text;
}

bool Operand::broadcastsTo(const Operand &other) const {
  bool fits = rank() <= other.rank();
  for (int dim = 1; fits && dim <= rank(); ++dim) {
    int64_t own = extent(rank() - dim);
    fits = own == 1 || own == other.extent(other.rank() - dim);
  }
  return fits;
}

bool Operand::isContiguous() const {
  int64_t expected = 1;
  for (int dim = rank() - 1; dim >= 0; --dim) {
    if (extent(dim) != 1 && stride(dim) != expected)
      return false;
    expected *= extent(dim);
  }
  return true;
}

Operand Operand::T() const {
  Operand result = *this;
  std::swap(result.arg_.extents[rank() - 1], result.arg_.extents[rank() - 2]);
  std::swap(result.arg_.strides[rank() - 1], result.arg_.strides[rank() - 2]);
  return result;
}

Operand Operand::asRow() const {
  Operand result = *this;
  result.arg_.rank = static_cast<uint8_t>(rank() + 1);
  result.arg_.extents[0] = 1, result.arg_.strides[0] = numel();
  for (int dim = 0; dim < rank(); ++dim)
    result.arg_.extents[dim + 1] = extent(dim), result.arg_.strides[dim + 1] = stride(dim);
  return result;
}

Operand Operand::reshaped(std::span<const int64_t> extents) const {
  Operand result = *this;
  result.arg_.rank = static_cast<uint8_t>(extents.size());
  int64_t stride = 1;
  for (int dim = result.rank() - 1; dim >= 0; --dim) {
    result.arg_.extents[dim] = extents[static_cast<size_t>(dim)];
    result.arg_.strides[dim] = stride;
    stride *= extents[static_cast<size_t>(dim)];
  }
  return result;
}

// An address of the device, which is none of the host's; a tensor without elements has null.
static void *elementsBehind(void *pointer, int64_t bytes) {
  return reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(pointer) +
                                  static_cast<uintptr_t>(bytes));
}

Operand Operand::at(int64_t index) const {
  Operand result = *this;
  result.arg_.pointer =
      elementsBehind(arg_.pointer, index * stride(0) * static_cast<int64_t>(sizeOf(dtype())));
  result.arg_.rank = static_cast<uint8_t>(rank() - 1);
  for (int dim = 1; dim < rank(); ++dim)
    result.arg_.extents[dim - 1] = extent(dim), result.arg_.strides[dim - 1] = stride(dim);
  return result;
}

Operand Operand::slice(int dim, int64_t start, int64_t size) const {
  Operand result = *this;
  result.arg_.pointer =
      elementsBehind(arg_.pointer, start * stride(dim) * static_cast<int64_t>(sizeOf(dtype())));
  result.arg_.extents[dim] = size;
  return result;
}

Operand Operand::strided(std::span<const int64_t> extents, std::span<const int64_t> strides) const {
  Operand result = *this;
  result.arg_.rank = static_cast<uint8_t>(extents.size());
  std::copy(extents.begin(), extents.end(), result.arg_.extents);
  std::copy(strides.begin(), strides.end(), result.arg_.strides);
  return result;
}

Operand Operand::as(DType dtype) const {
  Operand result = *this;
  result.arg_.dtype = dtype;
  return result;
}

} // namespace tile::ops
