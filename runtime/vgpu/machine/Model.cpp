// Parses the names of models.
#include "runtime/vgpu/machine/Model.h"

#include <tile/Error.h>

#include <algorithm>

namespace tile::vgpu {

Model parseModel(std::string_view list) {
  if (list == "all")
    return {true, true, true};
  Model model;
  if (list == "none")
    return model;
  while (!list.empty()) {
    std::string_view word = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), word.size() + 1));
    bool *which = word == "sums"    ? &model.sums
                  : word == "noise" ? &model.noise
                  : word == "shift" ? &model.shift
                                    : nullptr;
    if (!which)
      throw Error(Fault::User, ErrorCode::InvalidArgument,
                  "unknown model '" + std::string(word) +
                      "': use all, none or a comma list of sums, noise, shift");
    *which = true;
  }
  return model;
}

std::vector<std::string> wordsOf(const Model &model) {
  std::vector<std::string> words;
  for (auto [word, isOn] : {std::pair("sums", model.sums), std::pair("noise", model.noise),
                            std::pair("shift", model.shift)})
    if (isOn)
      words.emplace_back(word);
  return words;
}

} // namespace tile::vgpu
