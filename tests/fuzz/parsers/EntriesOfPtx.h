// The kernels that a text claims to have.
#pragma once

#include <cctype>
#include <string>
#include <vector>

namespace tile::fuzz {

inline std::vector<std::string> entriesOf(const std::string &ptx) {
  const std::string word = ".entry";
  std::vector<std::string> names;
  for (size_t at = ptx.find(word); at != std::string::npos; at = ptx.find(word, at + 1)) {
    size_t begin = at + word.size();
    while (begin < ptx.size() && std::isspace(static_cast<unsigned char>(ptx[begin])))
      ++begin;
    size_t end = begin;
    while (end < ptx.size() && (std::isalnum(static_cast<unsigned char>(ptx[end])) ||
                                ptx[end] == '_' || ptx[end] == '$'))
      ++end;
    names.push_back(ptx.substr(begin, end - begin));
  }
  return names;
}

} // namespace tile::fuzz
