#include "bench/gpu/Tensors.h"

#include "base/AtomicFile.h"

#include <tile/Error.h>
#include <tile/ops/Arithmetic.h>
#include <tile/ops/Random.h>

#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace tile::bench {

namespace {

[[noreturn]] void refuse(const std::string &why) {
  throw Error(Fault::User, ErrorCode::InvalidArgument, why);
}

DType dtypeNamed(const std::string &name) {
  for (DType dtype : {f16, bf16, f32, e4m3, e5m2})
    if (name == nameOf(dtype))
      return dtype;
  refuse("'" + name + "' is none of f16, bf16, f32, e4m3 and e5m2");
}

void fillNormal(const Stream &stream, uint64_t seed, const Tensor &tensor) {
  ops::Generator generator{.seed = seed};
  if (isFloat8(tensor.dtype()))
    ops::copy(stream, ops::randn(stream, generator, bf16, tensor.extents()), tensor);
  else
    ops::randn(stream, generator, tensor);
}

} // namespace

void Tensors::make(const nlohmann::json &request) {
  DType dtype = dtypeNamed(request.at("dtype"));
  std::vector<int64_t> count = {request.at("count").get<int64_t>()};
  std::string name = request.at("name");
  memory_.erase(name); // before the new one is made: both may not fit
  Tensor tensor(stream_.device(), dtype, count);
  if (request.contains("seed"))
    fillNormal(stream_, request.at("seed").get<uint64_t>(), tensor);
  else
    ops::fill(stream_, std::numeric_limits<double>::quiet_NaN(), tensor);
  memory_[name] = std::move(tensor);
}

void Tensors::keep(const std::set<std::string> &names) {
  std::erase_if(memory_, [&](const auto &each) { return !names.contains(each.first); });
}

size_t Tensors::save(const nlohmann::json &request) const {
  const Tensor &tensor = named(request.at("name"));
  Tensor part = tensor.slice(0, 0, request.at("count").get<int64_t>());
  std::vector<char> bits(part.bytes());
  part.downloadBytes(stream_, bits.data(), bits.size());
  base::writeFile(request.at("file"), std::string_view(bits.data(), bits.size()));
  return bits.size();
}

Tensor Tensors::view(const nlohmann::json &operand) const {
  const Tensor &tensor = named(operand.at("tensor"));
  auto extents = operand.at("extents").get<std::vector<int64_t>>();
  bool isColumnMajor = operand.value("order", "row") == "column";
  if (isColumnMajor && extents.size() != 2)
    refuse("'order' column is for tensors of rank 2, not " + std::to_string(extents.size()));
  if (isColumnMajor)
    std::swap(extents[0], extents[1]);
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  Tensor rows = tensor.slice(0, 0, count).reshape(extents);
  return isColumnMajor ? rows.T() : rows;
}

const Tensor &Tensors::named(const std::string &name) const {
  auto found = memory_.find(name);
  if (found == memory_.end())
    refuse("there is no tensor '" + name + "': make it first");
  return found->second;
}

} // namespace tile::bench
