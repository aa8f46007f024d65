// Tensors in the middle of memory that is full of numbers, all of which is looked at after a call.
#pragma once

#include <tile/ops/Operand.h>
#include <tile/tile.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace tile::test {

/// A tensor to be: where its elements lie, and what memory round them holds.
struct Layout {
  DType dtype = f32;
  std::vector<int64_t> extents = {}, strides = {};
  bool isAbsent = false;

  Layout() = default;
  Layout(DType dtype, std::vector<int64_t> extents) : dtype(dtype) { reshape(std::move(extents)); }
  void reshape(std::vector<int64_t> wanted) {
    extents = std::move(wanted);
    strides.assign(extents.size(), 1);
    for (size_t dim = extents.size(); dim-- > 1;)
      strides[dim - 1] = strides[dim] * std::max<int64_t>(extents[dim], 1);
  }
  /// All elements in the opposite order.
  void reverse() {
    for (int64_t &stride : strides)
      stride = -stride;
  }
  /// The offsets of all elements from the first one, row-major.
  std::vector<int64_t> offsets() const {
    std::vector<int64_t> list = {0};
    for (size_t dim = 0; dim < extents.size(); ++dim) {
      std::vector<int64_t> next;
      for (int64_t offset : list)
        for (int64_t i = 0; i < extents[dim]; ++i)
          next.push_back(offset + i * strides[dim]);
      list = std::move(next);
    }
    return list;
  }
};

/// The numbers that memory holds before a call.
enum class Contents { Plain, Special };

/// The bytes of element number `i` of memory that is full of numbers of a dtype.
inline uint64_t bitsOf(DType dtype, int64_t i, Contents contents) {
  bool isSpecial = contents == Contents::Special;
  double plain = static_cast<double>(i * 7 % 11 + 1) / 8;
  constexpr double kSpecial[] = {NAN, INFINITY, -INFINITY, -0.0, 1e30};
  double number = isSpecial ? kSpecial[i % 5] : plain;
  constexpr int64_t kWhole[] = {-1, std::numeric_limits<int64_t>::min(),
                                std::numeric_limits<int64_t>::max(), 1 << 30};
  if (dtype == f64)
    return std::bit_cast<uint64_t>(number);
  if (dtype == f32)
    return std::bit_cast<uint32_t>(static_cast<float>(number));
  if (dtype == f16)
    return half(static_cast<float>(number)).bits;
  if (dtype == bf16)
    return bfloat16(static_cast<float>(number)).bits;
  if (dtype == i1)
    return static_cast<uint64_t>(i % 2);
  // Small enough for an index, if plain.
  return static_cast<uint64_t>(isSpecial ? kWhole[i % 4] : i % 2);
}

/// A tensor in the middle of memory that is full of numbers.
class Placed {
public:
  Placed(const Device &device, const Layout &layout, Contents contents) : layout_(layout) {
    if (layout.isAbsent)
      return;
    int64_t first = 0, last = 0;
    for (size_t dim = 0; dim < layout.extents.size(); ++dim) {
      int64_t reach = std::max<int64_t>(layout.extents[dim] - 1, 0) * layout.strides[dim];
      (reach < 0 ? first : last) += reach;
    }
    start_ = kMargin - first;
    size_t size = sizeOf(layout.dtype), count = static_cast<size_t>(start_ + last + kMargin);
    before_.resize(count * size);
    for (size_t i = 0; i < count; ++i) {
      uint64_t bits = bitsOf(layout.dtype, static_cast<int64_t>(i), contents);
      std::memcpy(&before_[i * size], &bits, size);
    }
    memory_ = device.tensor<uint8_t>({static_cast<int64_t>(before_.size())});
    memory_.upload(before_);
  }
  /// The tensor; `shift` elements further on.
  ops::Operand operand(int64_t shift = 0) const {
    if (layout_.isAbsent)
      return {};
    int64_t size = static_cast<int64_t>(sizeOf(layout_.dtype));
    return ops::Operand(memory_.slice(0, (start_ + shift) * size, size))
        .strided(layout_.extents, layout_.strides)
        .as(layout_.dtype);
  }
  /// The elements as numbers, row-major.
  std::vector<double> elements() const {
    std::vector<double> numbers;
    std::vector<uint8_t> bytes = now();
    size_t size = sizeOf(layout_.dtype);
    for (int64_t offset : layout_.offsets()) {
      uint64_t bits = 0;
      std::memcpy(&bits, &bytes[static_cast<size_t>(start_ + offset) * size], size);
      numbers.push_back(numberOf(bits));
    }
    return numbers;
  }
  /// Sets the elements, row-major, to what those of another tensor of this dtype are.
  void copyElements(const Placed &other) {
    size_t size = sizeOf(layout_.dtype);
    std::vector<int64_t> to = layout_.offsets(), from = other.layout_.offsets();
    for (size_t i = 0; i < to.size(); ++i)
      std::memcpy(&before_[static_cast<size_t>(start_ + to[i]) * size],
                  &other.before_[static_cast<size_t>(other.start_ + from[i]) * size], size);
    memory_.upload(before_);
  }
  /// True if a call has changed nothing in memory; with `mayWrite` the tensor's elements do not count.
  bool isUntouched(bool mayWrite) const {
    if (layout_.isAbsent)
      return true;
    std::vector<uint8_t> after = now();
    size_t size = sizeOf(layout_.dtype);
    if (mayWrite)
      for (int64_t offset : layout_.offsets()) {
        size_t at = static_cast<size_t>(start_ + offset) * size;
        std::copy_n(before_.begin() + static_cast<ptrdiff_t>(at), size,
                    after.begin() + static_cast<ptrdiff_t>(at));
      }
    return after == before_;
  }

private:
  static constexpr int64_t kMargin = 512;

  std::vector<uint8_t> now() const { return memory_.download(); }
  double numberOf(uint64_t bits) const {
    if (layout_.dtype == f32)
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (layout_.dtype == f16)
      return static_cast<float>(std::bit_cast<half>(static_cast<uint16_t>(bits)));
    return static_cast<double>(bits);
  }

  Layout layout_;
  int64_t start_ = 0;
  std::vector<uint8_t> before_;
  TensorOf<uint8_t> memory_;
};

} // namespace tile::test
