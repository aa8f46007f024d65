#include "tools/tilec/input/Settings.h"

#include "tools/tilec/input/Refuse.h"

#include <algorithm>
#include <cctype>

namespace tile::tilec {
namespace {

std::string join(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// Where the '=' of a setting is, npos for other words: a setting's name is an identifier.
size_t equalsIn(const std::string &word) {
  size_t equals = word.find('=');
  if (equals == 0 || equals == word.npos)
    return word.npos;
  bool isName = std::all_of(word.begin(), word.begin() + static_cast<ptrdiff_t>(equals),
                            [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  return isName ? equals : word.npos;
}

} // namespace

const OpEntry *opOf(const std::string &word) {
  if (!word.starts_with("op:"))
    return nullptr;
  const OpEntry *op = findOp(word.substr(3));
  if (!op)
    refuse("there is no op '" + word.substr(3) + "'; there are: " + join(opNames()));
  return op;
}

OpSettings takeSettings(std::vector<std::string> &words) {
  std::map<std::string, std::string> values;
  std::vector<std::string> rest;
  for (const std::string &word : words) {
    size_t equals = equalsIn(word);
    if (equals == word.npos)
      rest.push_back(word);
    else if (!values.emplace(word.substr(0, equals), word.substr(equals + 1)).second)
      refuse(word.substr(0, equals) + " is given twice");
  }
  words = std::move(rest);
  return OpSettings(std::move(values));
}

void refuseUnused(const OpSettings &settings) {
  std::vector<std::string> unused = settings.unused(), known;
  if (unused.empty())
    return;
  for (auto &[name, value] : settings.used())
    known.push_back(name + "=" + value);
  refuse("nothing is called " + join(unused) + " here; " +
         (known.empty() ? "there are no settings" : "settings are " + join(known)));
}

} // namespace tile::tilec
