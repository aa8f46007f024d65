#include "tests/execution/MergedPtx.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

namespace tile::test {

namespace {

bool isOfWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

size_t skipSpace(const std::string &text, size_t at) {
  return std::min(text.find_first_not_of(" \t\n", at), text.size());
}

std::string wordAt(const std::string &text, size_t at) {
  size_t end = at;
  while (end < text.size() && isOfWord(text[end]))
    ++end;
  return text.substr(at, end - at);
}

/// Calls `each` with the place behind every `word`.
template <class F> void forEach(const std::string &text, std::string_view word, F each) {
  for (size_t at = 0; (at = text.find(word, at)) != text.npos;)
    each(at += word.size());
}

/// Which occurrences of a name are meant.
enum class Match { Anywhere, AtStart, WholeWord };

void replaceAll(std::string &text, std::string_view from, std::string_view to,
                Match match = Match::Anywhere) {
  std::string result;
  size_t done = 0;
  forEach(text, from, [&](size_t end) {
    size_t at = end - from.size();
    bool begins = at == 0 || !isOfWord(text[at - 1]),
         ends = end == text.size() || !isOfWord(text[end]);
    if (at < done || (match != Match::Anywhere && !begins) || (match == Match::WholeWord && !ends))
      return;
    result.append(text, done, at - done).append(to);
    done = end;
  });
  if (done)
    text = result.append(text, done);
}

/// The functions of the library, which are called where inlining them would be long.
std::set<std::string> libraryFunctionsOf(const std::string &ptx) {
  std::set<std::string> names;
  forEach(ptx, ".func", [&](size_t at) {
    at = skipSpace(ptx, at);
    if (at < ptx.size() && ptx[at] == '(') // its result
      at = skipSpace(ptx, ptx.find(')', at) + 1);
    std::string name = wordAt(ptx, at);
    if (name.starts_with("_Z"))
      names.insert(name);
  });
  return names;
}

/// The tables of math functions.
std::set<std::string> tablesOf(const std::string &ptx) {
  std::set<std::string> names;
  forEach(ptx, ".const ", [&](size_t at) {
    size_t end = ptx.find_first_of("\n[", at), begin = end;
    if (end == ptx.npos || ptx[end] != '[')
      return;
    while (isOfWord(ptx[begin - 1]))
      --begin;
    if (begin < end)
      names.insert(ptx.substr(begin, end - begin));
  });
  return names;
}

/// The text without debug lines, and, but for the first part of a file, without what a file has once.
std::string withoutLines(const std::string &ptx, bool isFirst) {
  std::string part;
  for (size_t begin = 0, end; begin < ptx.size(); begin = end + 1) {
    end = std::min(ptx.find('\n', begin), ptx.size());
    std::string_view line(ptx.data() + begin, end - begin);
    std::string_view text = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
    bool isDebug = text.starts_with(".loc\t") || text.starts_with(".loc ") ||
                   text.starts_with(".file") || text.starts_with(".section");
    bool isHead = text.starts_with(".version") || text.starts_with(".target") ||
                  text.starts_with(".address_size") || text.starts_with(".extern .shared");
    if (!isDebug && (isFirst || !isHead))
      part.append(line).append("\n");
  }
  return part;
}

} // namespace

std::string entryOf(const std::string &ptx) {
  size_t at = ptx.find(".entry ");
  return at == ptx.npos ? "" : wordAt(ptx, at + 7);
}

std::string targetLineOf(const std::string &ptx) {
  size_t at = ptx.find(".target");
  if (at == ptx.npos)
    return "";
  at = skipSpace(ptx, at + 7);
  return ptx.substr(at, ptx.find('\n', at) - at);
}

std::string asPart(std::string ptx, const std::string &kernel, size_t number, bool isFirst) {
  std::string name = "k" + std::to_string(number);
  replaceAll(ptx, kernel + "_param_", name + "_param_");
  replaceAll(ptx, ".entry " + kernel + "(", ".entry " + name + "(");
  replaceAll(ptx, kernel + "__", name + "__", Match::AtStart); // functions that the kernel calls
  for (const std::string &each : libraryFunctionsOf(ptx))
    replaceAll(ptx, each, name + each, Match::WholeWord);
  for (const std::string &each : tablesOf(ptx))
    replaceAll(ptx, each, name + "_" + each);
  replaceAll(ptx, "tile_text_", name + "_text_");
  return withoutLines(ptx, isFirst);
}

std::string codeOf(std::string ptx, const std::string &kernel) {
  replaceAll(ptx, kernel, "kernel");
  return withoutLines(ptx, /*isFirst=*/false);
}

} // namespace tile::test
