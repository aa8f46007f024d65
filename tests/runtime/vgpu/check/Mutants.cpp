// Which lines are mutated, and how.
#include "tests/runtime/vgpu/check/Mutants.h"

#include <map>
#include <regex>

namespace tile::vgpu {
namespace {

const char *const kSynchronising =
    R"((bar\.(sync|arrive|red)|bar\.warp\.sync|barrier\.|membar|fence|cp\.async\.(wait|commit|mbarrier|bulk\.(wait|commit))|mbarrier\.|wgmma\.(fence|commit|wait)|atom\.[a-z.]*(acq|rel)))";

// Counts, sizes, ranks: the first number of these instructions that the pattern finds, and how far to shift it.
struct Number {
  const char *instruction, *pattern;
  int by;
};
constexpr Number kNumbers[] = {
    {R"(cp\.async\.(bulk\.)?wait_group)", R"((\d+);)", 1},
    {R"(wgmma\.wait_group)", R"((\d+);)", 1},
    {R"(mbarrier\.(try|test)_wait)", R"(, (\d+);)", 1},
    {R"(mbarrier\.init)", R"(, (\d+);)", 1},
    {R"(mbarrier\.init)", R"(, (\d+);)", -1},
    {R"(mbarrier\.arrive\.expect_tx)", R"(, (\d+);)", 16},
    {R"(mbarrier\.arrive\.expect_tx)", R"(, (\d+);)", -16},
    {R"(cp\.async\.bulk\.[a-z_:.]*\.shared)", R"(, (\d+)[,;])", -16},
    {R"(mapa)", R"(, (\d+);)", 1},
    {R"(xor\.b32 %r3, %r3)", R"(, (\d+);)", -1},
    {R"(and\.b32 %r2, %r1)", R"(, (\d+);)", -1},
    {R"(bar\.(sync|arrive) \d+, )", R"(, (\d+);)", 32},
};

bool isMatch(const std::string &line, const std::string &pattern) {
  static std::map<std::string, std::regex> known; // compiling one takes longer than its use
  auto [at, isNew] = known.try_emplace(pattern);
  if (isNew)
    at->second = std::regex(R"(^\s*(@!?%[a-z0-9]+ )?)" + pattern);
  return std::regex_search(line, at->second);
}

std::string trimmed(const std::string &line) {
  size_t begin = line.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : line.substr(begin);
}

// The line with the number that `pattern` finds replaced by one more or less, or nothing.
std::optional<std::string> shifted(const std::string &line, const char *pattern, int by) {
  std::smatch match;
  if (!std::regex_search(line, match, std::regex(pattern)))
    return std::nullopt;
  long long number = std::stoll(match[1]) + by;
  if (number < 0)
    return std::nullopt;
  return match.prefix().str() +
         match.str().replace(static_cast<size_t>(match.position(1) - match.position(0)),
                             static_cast<size_t>(match.length(1)), std::to_string(number)) +
         match.suffix().str();
}

// What may stand instead of line `i`, with a word for what was done to it.
std::vector<std::pair<std::string, std::string>> alternatives(const std::vector<std::string> &lines,
                                                              size_t i) {
  std::vector<std::pair<std::string, std::string>> found;
  const std::string &line = lines[i], wait = R"(mbarrier\.(try|test)_wait)";
  bool isLoop = i > 0 && isMatch(lines[i - 1], wait) && isMatch(line, "bra");
  if (isLoop || (isMatch(line, kSynchronising) && !isMatch(line, wait)))
    found.emplace_back("//" + line, "deleted: " + trimmed(line));
  for (const Number &number : kNumbers)
    if (isMatch(line, number.instruction))
      if (auto other = shifted(line, number.pattern, number.by))
        found.emplace_back(*other, "shifted: " + trimmed(*other));
  static const std::regex isTurn(R"(// turn (%\w+) (\d+))");
  if (std::smatch turn; std::regex_search(line, turn, isTurn)) {
    std::string change =
        "xor.b32 " + turn[1].str() + ", " + turn[1].str() + ", " + turn[2].str() + ";";
    found.emplace_back(line + "\n" + change, "turned: " + change);
  }
  return found;
}

std::vector<Mutant> mutantsOfText(const std::string &ptx) {
  std::vector<std::string> lines;
  std::stringstream text(ptx);
  for (std::string line; std::getline(text, line);)
    lines.push_back(line);
  std::vector<Mutant> mutants;
  for (size_t at = 0; at < lines.size(); ++at)
    for (const auto &[line, what] : alternatives(lines, at)) {
      std::string all;
      for (size_t i = 0; i < lines.size(); ++i)
        all += (i == at ? line : lines[i]) + "\n";
      mutants.push_back({"line " + std::to_string(at + 1) + " " + what, all});
    }
  return mutants;
}

} // namespace

std::vector<Mutant> mutantsOf(const Subject &subject) {
  size_t begin = subject.ptx.find(".entry " + subject.name + "(");
  if (begin == std::string::npos)
    return mutantsOfText(subject.ptx);
  size_t end = subject.ptx.find("\n}", begin);
  std::string head = subject.ptx.substr(0, begin), tail = subject.ptx.substr(end);
  std::vector<Mutant> mutants = mutantsOfText(subject.ptx.substr(begin, end - begin));
  for (Mutant &mutant : mutants)
    mutant.ptx = head + mutant.ptx + tail;
  return mutants;
}

} // namespace tile::vgpu
