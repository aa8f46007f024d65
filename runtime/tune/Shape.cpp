#include "runtime/tune/Shape.h"

#include <nlohmann/json.hpp>

namespace tile::tune {
namespace {

std::string wordOf(const HostArg &arg) {
  std::string word = nameOf(arg.dtype);
  if (arg.kind != HostArg::Tensor)
    return word;
  word += "[";
  int unit = arg.rank - 1;
  for (int dim = 0; dim < arg.rank; ++dim) {
    word += (dim ? "x" : "") + std::to_string(arg.extents[dim]);
    if (arg.strides[dim] == 1 && arg.extents[dim] > 1)
      unit = dim;
  }
  return word + "]" + (unit == arg.rank - 1 ? "" : ":" + std::to_string(unit));
}

} // namespace

std::vector<std::pair<std::string, int64_t>> givenConstants(const detail::KernelRecord &record,
                                                            std::span<const int64_t> constants) {
  std::vector<std::pair<std::string, int64_t>> given;
  const TuningSpace &space = spaceOf(record);
  int place = 0;
  for (size_t i = 0; i < record.params.size(); ++i) {
    if (record.params[i].kind != detail::ParamSpec::Const)
      continue;
    bool isTuned = std::ranges::count(space.settings, place, &TuningSpace::Setting::constant) != 0;
    std::string name = i < record.paramNames.size() ? record.paramNames[i] : std::to_string(place);
    if (!isTuned)
      given.emplace_back(std::move(name), constants[static_cast<size_t>(place)]);
    ++place;
  }
  return given;
}

std::string shapeLine(const detail::KernelRecord &record, std::span<const HostArg> args,
                      std::span<const int64_t> constants) {
  nlohmann::ordered_json line = {{"kernel", record.name}};
  line["args"] = nlohmann::ordered_json::array();
  for (const HostArg &arg : args)
    line["args"].push_back(wordOf(arg));
  line["consts"] = nlohmann::ordered_json::object();
  for (const auto &[name, value] : givenConstants(record, constants))
    line["consts"][name] = value;
  return line.dump();
}

} // namespace tile::tune
