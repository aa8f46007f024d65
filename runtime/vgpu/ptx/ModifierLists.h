// Lists of modifiers as the tables of PTX's forms write them: words with blanks between; "L1::*" is any word that begins so.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

namespace tile::vgpu {

// Calls visit(word) for the words of a list until it returns true, and tells whether it did.
template <class Visit> bool anyWord(std::string_view list, Visit visit) {
  while (!list.empty()) {
    std::string_view word = list.substr(0, list.find(' '));
    list.remove_prefix(std::min(list.size(), word.size() + 1));
    if (visit(word))
      return true;
  }
  return false;
}

inline bool isLike(std::string_view modifier, std::string_view word) {
  return word.ends_with('*') ? modifier.starts_with(word.substr(0, word.size() - 1))
                             : modifier == word;
}

inline bool isInList(std::string_view modifier, std::string_view list) {
  return anyWord(list, [&](std::string_view word) { return isLike(modifier, word); });
}

// Whether the list has the opcode, or opcode.modifier with its first modifier; an empty list has all.
inline bool isOf(std::string_view opcode, std::span<const std::string_view> modifiers,
                 std::string_view list) {
  return list.empty() || anyWord(list, [&](std::string_view word) {
           size_t dot = word.find('.');
           return word.substr(0, dot) == opcode &&
                  (dot == word.npos ||
                   (!modifiers.empty() && modifiers[0] == word.substr(dot + 1)));
         });
}

} // namespace tile::vgpu
