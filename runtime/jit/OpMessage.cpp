#include "runtime/jit/OpMessage.h"

#include <tile/Registry.h>

#include <algorithm>
#include <cctype>

namespace tile::jit {
namespace {

/// The same for a name here and in C++: "topk" of top_k and topK.
std::string plain(std::string_view name) {
  std::string result;
  for (unsigned char letter : name)
    if (letter != '_')
      result += static_cast<char>(std::tolower(letter));
  return result;
}

/// `word` stands in `text` by itself.
bool isWhole(const std::string &text, size_t at, const std::string &word) {
  auto joins = [&](size_t i) {
    return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_');
  };
  return !joins(at - 1) && !joins(at + word.size());
}

void replaceWord(std::string &text, const std::string &word, const std::string &by) {
  for (size_t at = 0; (at = text.find(word, at)) != text.npos; at += by.size())
    if (isWhole(text, at, word))
      text.replace(at, word.size(), by);
    else
      at += word.size() - by.size();
}

/// "label_smoothing" is labelSmoothing in C++.
std::string nameInCpp(const std::string &setting) {
  std::string name;
  for (size_t i = 0; i < setting.size(); ++i)
    if (setting[i] == '_' && i + 1 < setting.size())
      name += static_cast<char>(std::toupper(static_cast<unsigned char>(setting[++i])));
    else
      name += setting[i];
  return name;
}

} // namespace

std::string opMessage(const std::string &op, const std::string &message) {
  size_t colon = message.find(": ");
  std::string first = colon == message.npos ? "" : plain(message.substr(0, colon));
  std::vector<std::string> names = opNames();
  bool isOfAnOp =
      std::ranges::any_of(names, [&](const auto &name) { return plain(name) == first; });
  return op + ": " + (isOfAnOp ? message.substr(colon + 2) : message);
}

std::string inSettings(std::string message, std::span<const OpSetting> settings) {
  for (const OpSetting &setting : settings) {
    std::string field = nameInCpp(setting.name);
    replaceWord(message, "options." + field, setting.name);
    if (field != setting.name)
      replaceWord(message, field, setting.name);
  }
  return message;
}

} // namespace tile::jit
