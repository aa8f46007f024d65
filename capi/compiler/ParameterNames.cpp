#include "capi/compiler/ParameterNames.h"

#include <cctype>
#include <filesystem>
#include <fstream>

namespace tile::capi {
namespace {

constexpr int kMostLines = 60; // a parameter list is not longer

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::string lastIdentifier(const std::string &text) {
  size_t end = text.size();
  while (end > 0 && !isWord(text[end - 1]))
    --end;
  size_t start = end;
  while (start > 0 && isWord(text[start - 1]))
    --start;
  return text.substr(start, end - start);
}

/// The source from a line on, without comments.
std::string sourceFrom(const std::string &file, int line) {
  std::error_code fault;
  if (!std::filesystem::is_regular_file(file, fault))
    return {};
  std::ifstream in(file);
  std::string text, next;
  for (int at = 1; at < line + kMostLines && std::getline(in, next); ++at)
    if (at >= line)
      text += next.substr(0, next.find("//")) + "\n";
  return text;
}

std::vector<std::string> numberedNames(const detail::KernelRecord &record) {
  std::vector<std::string> names;
  int arguments = 0, constants = 0;
  for (const detail::ParamSpec &spec : record.params)
    names.push_back(spec.kind == detail::ParamSpec::Const ? "C" + std::to_string(++constants)
                                                          : "arg" + std::to_string(++arguments));
  return names;
}

} // namespace

std::vector<std::string> lambdaParameters(const std::string &text) {
  size_t open = text.find("](");
  if (open == text.npos)
    return {};
  std::vector<std::string> names;
  std::string parameter;
  int depth = 0;
  for (size_t at = open + 2; at < text.size(); ++at) {
    char c = text[at];
    bool isEnd = c == ')' && depth == 0;
    if (isEnd || (c == ',' && depth == 0)) {
      names.push_back(lastIdentifier(parameter));
      parameter.clear();
      if (isEnd)
        return names;
      continue;
    }
    depth += (c == '<' || c == '(' || c == '[') - (c == '>' || c == ')' || c == ']');
    parameter += c;
  }
  return {};
}

std::vector<std::string> parameterNamesOf(const detail::KernelRecord &record) {
  if (record.paramNames.size() == record.params.size())
    return record.paramNames;
  std::vector<std::string> names =
      lambdaParameters(sourceFrom(record.where.file, record.where.line));
  return names.size() == record.params.size() ? names : numberedNames(record);
}

} // namespace tile::capi
