#include "runtime/toolchain/PtxSymbols.h"

#include <optional>
#include <regex>

namespace tile::jit {
namespace {

std::string withoutComments(const std::string &ptx) {
  return std::regex_replace(ptx, std::regex("//[^\n]*"), "");
}

/// Behind the brace that closes the one at `open`.
size_t behindBraces(const std::string &text, size_t open) {
  int depth = 0;
  for (size_t at = open; at < text.size(); ++at) {
    depth += (text[at] == '{') - (text[at] == '}');
    if (depth == 0)
      return at + 1;
  }
  return text.size();
}

/// What a declaration says before its body, initialiser or semicolon.
std::optional<PtxSymbol> symbolIn(const std::string &head, bool hasBody) {
  static const std::regex function(R"(\.func\b\s*(?:\([^)]*\)\s*)?([A-Za-z_$%][\w$]*))"),
      variable(R"(\.(global|const|shared)\b[^=]*?([A-Za-z_$%][\w$]*)\s*(?:\[[^\]]*\]\s*)*(?:=|$))");
  std::smatch found;
  if (std::regex_search(head, found, function))
    return PtxSymbol{.name = found[1], .isFunction = true, .isDefined = hasBody};
  if (std::regex_search(head, found, variable))
    return PtxSymbol{.name = found[2],
                     .isDefined = head.find(".extern") == head.npos,
                     .isShared = found[1] == "shared"};
  return {};
}

} // namespace

std::vector<PtxSymbol> symbolsOf(const std::string &ptx) {
  std::string text = withoutComments(ptx);
  std::vector<PtxSymbol> symbols;
  for (size_t begin = 0, end; (end = text.find_first_of("{;", begin)) != text.npos;) {
    bool opens = text[end] == '{';
    if (auto symbol = symbolIn(text.substr(begin, end - begin), opens))
      symbols.push_back(*symbol);
    begin = opens ? behindBraces(text, end) : end + 1;
  }
  return symbols;
}

} // namespace tile::jit
