#include "tools/tilec/aot/Names.h"

#include <algorithm>
#include <iterator>

namespace tile::tilec {
namespace {

constexpr const char *kMeaningInCpp[] = {"alignas",       "alignof",      "and",
                                         "and_eq",        "asm",          "auto",
                                         "bitand",        "bitor",        "bool",
                                         "break",         "case",         "catch",
                                         "char",          "char16_t",     "char32_t",
                                         "char8_t",       "class",        "co_await",
                                         "co_return",     "co_yield",     "compl",
                                         "concept",       "const",        "const_cast",
                                         "consteval",     "constexpr",    "constinit",
                                         "continue",      "decltype",     "default",
                                         "delete",        "do",           "double",
                                         "dynamic_cast",  "else",         "enum",
                                         "explicit",      "export",       "extern",
                                         "false",         "float",        "for",
                                         "friend",        "goto",         "if",
                                         "inline",        "int",          "long",
                                         "mutable",       "namespace",    "new",
                                         "noexcept",      "not",          "not_eq",
                                         "nullptr",       "operator",     "or",
                                         "or_eq",         "private",      "protected",
                                         "public",        "register",     "reinterpret_cast",
                                         "requires",      "return",       "short",
                                         "signed",        "sizeof",       "static",
                                         "static_assert", "static_cast",  "std",
                                         "struct",        "switch",       "template",
                                         "this",          "thread_local", "throw",
                                         "tile",          "true",         "try",
                                         "typedef",       "typeid",       "typename",
                                         "union",         "unsigned",     "using",
                                         "virtual",       "void",         "volatile",
                                         "wchar_t",       "while",        "xor",
                                         "xor_eq"};

/// Keywords of C99 and of C23, and what a generated function calls its own.
constexpr const char *kMeaningInC[] = {
    "alignas",  "alignof",  "arguments", "auto",     "bool",         "break",    "case",
    "char",     "const",    "constexpr", "continue", "default",      "do",       "double",
    "else",     "enum",     "extern",    "false",    "float",        "for",      "goto",
    "if",       "inline",   "int",       "int64_t",  "long",         "nullptr",  "register",
    "restrict", "return",   "short",     "signed",   "sizeof",       "static",   "static_assert",
    "status",   "stream",   "struct",    "switch",   "thread_local", "true",     "typedef",
    "typeof",   "uint64_t", "union",     "unsigned", "void",         "volatile", "while"};

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// `tile_...` are the functions that a generated one calls; names that begin with _ may be the compiler's.
bool isTakenInC(const std::string &name) {
  return std::ranges::find(kMeaningInC, name) != std::end(kMeaningInC) || name.starts_with("_") ||
         name.starts_with("tile_");
}

} // namespace

bool isIdentifier(const std::string &name) {
  return !name.empty() && isLetter(name[0]) &&
         std::ranges::all_of(name, [](char c) { return isLetter(c) || isDigit(c); });
}

bool hasMeaningInCpp(const std::string &name) {
  return std::ranges::find(kMeaningInCpp, name) != std::end(kMeaningInCpp);
}

std::vector<std::string> namesInC(const std::vector<std::string> &names) {
  std::vector<std::string> result;
  for (std::string name : names) {
    std::ranges::replace_if(
        name, [](char c) { return !isLetter(c) && !isDigit(c); }, '_');
    if (name.empty() || isDigit(name[0]) || isTakenInC(name))
      name = "a_" + name;
    while (std::ranges::find(result, name) != result.end())
      name += "_";
    result.push_back(name);
  }
  return result;
}

} // namespace tile::tilec
