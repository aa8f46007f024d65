// The application's memory on the device: one block from which it takes pieces by its own rules. To tilec they are
// pointers; nothing else about a pool is known to it.
#pragma once

#include <tile/tile.h>

#include <stdexcept>

class Pool {
public:
  Pool(const tile::Device &device, size_t floats)
      : block_(device.tensor<float>({static_cast<int64_t>(floats)})) {}

  /// Device memory: not for the host to read. Pieces begin at multiples of 256 bytes, so that kernels can read them in
  /// words of 16.
  std::span<float> take(size_t floats) {
    constexpr size_t kAlignment = 256 / sizeof(float);
    size_t start = (used_ + kAlignment - 1) / kAlignment * kAlignment;
    if (start + floats > static_cast<size_t>(block_.numel()))
      throw std::length_error("the pool is too small");
    used_ = start + floats;
    return {first() + start, floats};
  }

  /// Copies as many elements as the piece has; both wait for the device.
  void upload(std::span<float> piece, const float *source) const {
    tensor(piece).upload({source, piece.size()});
  }
  void download(std::span<const float> piece, float *target) const {
    tensor(piece).downloadBytes(target, piece.size_bytes());
  }

private:
  float *first() const { return static_cast<float *>(block_.data()); }
  tile::TensorOf<float> tensor(std::span<const float> piece) const {
    return block_.slice(0, piece.data() - first(), static_cast<int64_t>(piece.size()));
  }

  tile::TensorOf<float> block_;
  size_t used_ = 0;
};
