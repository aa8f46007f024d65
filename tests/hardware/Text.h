// Helpers by which probes write PTX.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tile::hardware {

/// `pattern` with $0, $1, ... $9 replaced by these words.
std::string replaceArguments(std::string_view pattern, const std::vector<std::string> &words);

/// A string or a number as a word.
template <class Arg> std::string wordOf(const Arg &arg) {
  if constexpr (std::is_arithmetic_v<Arg>)
    return std::to_string(arg);
  else
    return std::string(arg);
}

/// Fills a pattern with strings and numbers.
template <class... Args> std::string fill(std::string_view pattern, const Args &...args) {
  return replaceArguments(pattern, {wordOf(args)...});
}

/// fill(pattern, i) for i from 0 to count - 1, one after the other.
std::string repeat(std::string_view pattern, size_t count);
/// "{%f0, %f1, %f2}".
std::string vectorOf(std::string_view name, size_t count);

/// The words of a text between spaces.
std::vector<std::string> wordsOf(std::string_view text);

/// A module for sm_90a with the entry `k` of so many pointers p0, p1, ... and tensor maps m0, ...; the body
/// ends with `ret`.
struct Entry {
  size_t pointers = 0, maps = 0;
  std::string version = "8.6";
  std::string before = "";     // declarations of the module
  std::string directives = ""; // of the entry
  std::string around(const std::string &body) const;
};

} // namespace tile::hardware
