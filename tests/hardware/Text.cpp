#include "tests/hardware/Text.h"

#include <sstream>

namespace tile::hardware {

std::string replaceArguments(std::string_view pattern, const std::vector<std::string> &words) {
  std::string result;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '$' || i + 1 == pattern.size()) {
      result += pattern[i];
      continue;
    }
    result += words.at(static_cast<size_t>(pattern[++i] - '0'));
  }
  return result;
}

std::string repeat(std::string_view pattern, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i)
    result += fill(pattern, i);
  return result;
}

std::string vectorOf(std::string_view name, size_t count) {
  std::string result;
  for (size_t i = 0; i < count; ++i)
    result += (i ? ", %" : "%") + std::string(name) + std::to_string(i);
  return "{" + result + "}";
}

std::vector<std::string> wordsOf(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> result;
  for (std::string word; stream >> word;)
    result.push_back(word);
  return result;
}

std::string Entry::around(const std::string &body) const {
  std::string parameters;
  for (size_t i = 0; i < pointers; ++i)
    parameters += fill("$0.param .u64 p$1", i ? ", " : "", i);
  for (size_t i = 0; i < maps; ++i)
    parameters += fill("$0.param .align 64 .b8 m$1[128]", pointers + i ? ", " : "", i);
  return fill(".version $0\n.target sm_90a\n.address_size 64\n$1.visible .entry k($2)$3\n{\n",
              version, before, parameters, directives) +
         body + "  ret;\n}\n";
}

} // namespace tile::hardware
