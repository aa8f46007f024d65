// The calls that ops_bench looks at: ops on aligned shapes of usual sizes.
#pragma once

#include <tile/Tensor.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace tile::bench {

/// Makes the tensors of a call, and adds up the bytes that it must move at the least: each tensor read or written once.
class Setup {
public:
  Setup(const Device &device, const Stream &stream) : stream(stream), device_(device) {}

  Tensor read(DType dtype, std::vector<int64_t> extents) { return made(dtype, extents, 1); }
  Tensor written(DType dtype, std::vector<int64_t> extents) { return made(dtype, extents, 1); }
  /// Read and written.
  Tensor changed(DType dtype, std::vector<int64_t> extents) { return made(dtype, extents, 2); }
  /// A tensor of which the call reads or writes only `used` elements.
  Tensor partly(DType dtype, std::vector<int64_t> extents, int64_t used);
  /// i32 numbers below `bound`, all over it.
  Tensor indices(std::vector<int64_t> extents, int32_t bound);
  /// i32 numbers that are all `value`.
  Tensor numbers(std::vector<int64_t> extents, int32_t value);

  const Stream &stream;
  int64_t leastBytes = 0;
  double flops = 0; ///< of products, the fewest that do

private:
  Tensor made(DType dtype, const std::vector<int64_t> &extents, int times);
  Device device_;
};

using Call = std::function<void()>;
struct Case {
  std::string op, tensors;
  std::function<Call(Setup &)> prepare;
};

std::vector<Case> cases();

} // namespace tile::bench
