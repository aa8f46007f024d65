// Settings as JSON: an object of numbers, and of words for values that have names.
#pragma once

#include <tile/Tuning.h>

#include <nlohmann/json.hpp>

namespace tile::tune {

inline nlohmann::ordered_json jsonOf(const Config &config) {
  auto object = nlohmann::ordered_json::object();
  for (const auto &[name, value] : config.values())
    if (std::string_view word = config.word(name); !word.empty())
      object[name] = std::string(word);
    else
      object[name] = value;
  return object;
}

/// Gives `config` a setting as JSON has it, a word without its number. False if the value is
/// neither an integer nor a word.
inline bool setByJson(Config &config, const std::string &name,
                      const nlohmann::ordered_json &value) {
  if (value.is_string() && !value.get_ref<const std::string &>().empty())
    config.set(name, value.get_ref<const std::string &>(), Config::kUnnumbered);
  else if (value.is_number_integer())
    config.set(name, value.get<int64_t>());
  else
    return false;
  return true;
}

} // namespace tile::tune
