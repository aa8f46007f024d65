#include "tests/ops/OpExamples.h"

namespace tile::test {

std::map<std::string, std::string> smallSettings(const OpEntry &op, const std::string &extent) {
  OpSettings defaults;
  op.kernel(defaults);
  std::map<std::string, std::string> small;
  for (auto &[name, value] : defaults.used()) {
    bool isNumber = !value.empty() && value.find_first_not_of("0123456789") == value.npos;
    if (isNumber && value.size() < 10 && std::stoll(value) >= 512)
      small[name] = std::stoll(value) >= 65536 ? "5000" : extent;
  }
  return small;
}

std::vector<TensorSpec> exampleInputs(const OpEntry &op, const OpSettings &settings,
                                      int64_t extent) {
  if (op.example)
    return op.example(settings);
  auto count = static_cast<size_t>(op.inputs);
  bool isAttention = op.name.starts_with("attention"), isDot = op.name == "matmul";
  DType dtype = settings.dtype("dtype", isAttention || isDot ? f16 : f32);
  if (isAttention)
    return {count, {dtype, {2, 3, extent, 64}}};
  return {count, {dtype, {extent, extent}}};
}

} // namespace tile::test
