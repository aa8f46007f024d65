// Memory that requests of the benchmark's server name: filled with random numbers by the device, seen through views, saved as
// raw bits.
#pragma once

#include <tile/Tensor.h>

#include <nlohmann/json.hpp>

#include <map>
#include <set>
#include <string>

namespace tile::bench {

class Tensors {
public:
  explicit Tensors(const Stream &stream) : stream_(stream) {}

  /// Makes memory of `count` elements: with a `seed` normally distributed numbers (8-bit floats are rounded from bf16), else
  /// NaN, so that what a kernel leaves out is seen. Memory of that name is replaced.
  ///   {"name": "a", "dtype": "bf16", "count": 4096, "seed": 1}
  void make(const nlohmann::json &request);
  /// Lets go of all memory but that of these names.
  void keep(const std::set<std::string> &names);
  /// Writes the first `count` elements into a file, as they lie in memory. Returns the number of bytes.
  ///   {"name": "a", "count": 4096, "file": "/dev/shm/a"}
  size_t save(const nlohmann::json &request) const;
  /// The first elements of some memory as a tensor, whose last two dimensions lie in `order` "row" (the default) or "column".
  ///   {"tensor": "a", "extents": [64, 64], "order": "column"}
  Tensor view(const nlohmann::json &operand) const;

private:
  const Tensor &named(const std::string &name) const;

  Stream stream_;
  std::map<std::string, Tensor> memory_;
};

} // namespace tile::bench
