// Tensors for calls that are measured.
#include "bench/ops/Cases.h"

#include <numeric>

namespace tile::bench {

Tensor Setup::made(DType dtype, const std::vector<int64_t> &extents, int times) {
  Tensor tensor(device_, dtype, extents);
  std::vector<char> zeros(tensor.bytes());
  tensor.uploadBytes(zeros.data(), zeros.size());
  leastBytes += times * static_cast<int64_t>(tensor.bytes());
  return tensor;
}

Tensor Setup::partly(DType dtype, std::vector<int64_t> extents, int64_t used) {
  Tensor tensor = made(dtype, extents, 0);
  leastBytes += used * sizeOf(dtype);
  return tensor;
}

Tensor Setup::indices(std::vector<int64_t> extents, int32_t bound) {
  constexpr int64_t kStep = 7919; // a prime, so that neighbours are apart
  Tensor tensor = made(i32, extents, 1);
  std::vector<int32_t> values(static_cast<size_t>(tensor.numel()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int32_t>(static_cast<int64_t>(i) * kStep % bound);
  TensorOf<int32_t>(tensor).upload(values);
  return tensor;
}

Tensor Setup::numbers(std::vector<int64_t> extents, int32_t value) {
  Tensor tensor = made(i32, extents, 1);
  TensorOf<int32_t>(tensor).upload(
      std::vector<int32_t>(static_cast<size_t>(tensor.numel()), value));
  return tensor;
}

} // namespace tile::bench
