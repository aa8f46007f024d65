// Parses and prints the names of checks, and prints findings.
#include "runtime/vgpu/check/Checks.h"

#include <tile/Error.h>

#include <bit>

namespace tile::vgpu {

Checks parseChecks(std::string_view list) {
  if (list == "all" || list.empty())
    return {};
  Checks checks = Checks::none();
  if (list == "none")
    return checks;
  while (!list.empty()) {
    std::string_view word = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), word.size() + 1));
    if (word == "all") {
      Checks asked = checks;
      checks = {};
      checks.strict = asked.strict;
      checks.proxy = asked.proxy;
      continue;
    }
    checks.race |= word == "strict";
    checks.async |= word == "proxy";
    bool *which = word == "memory"   ? &checks.memory
                  : word == "init"   ? &checks.init
                  : word == "race"   ? &checks.race
                  : word == "sync"   ? &checks.sync
                  : word == "async"  ? &checks.async
                  : word == "strict" ? &checks.strict
                  : word == "proxy"  ? &checks.proxy
                                     : nullptr;
    if (!which)
      throw Error(
          Fault::User, ErrorCode::InvalidArgument,
          "unknown check '" + std::string(word) +
              "': use none or a comma list of all, memory, init, race, sync, async, strict, proxy");
    *which = true;
  }
  return checks;
}

std::vector<std::string> wordsOf(const Checks &checks) {
  std::vector<std::string> words;
  for (auto [word, runs] : {std::pair("memory", checks.memory), std::pair("init", checks.init),
                            std::pair("race", checks.race), std::pair("sync", checks.sync),
                            std::pair("async", checks.async), std::pair("strict", checks.strict),
                            std::pair("proxy", checks.proxy)})
    if (runs)
      words.push_back(word);
  return words;
}

const char *nameOf(Space space) {
  static constexpr const char *names[] = {"generic", "global", "shared", "local", "param", "const"};
  return names[static_cast<int>(space)];
}

const char *nameOf(FindingKind kind) {
  static constexpr const char *names[] = {
      "out of bounds", "use after free", "misaligned", "uninitialised", "race",     "warp race",
      "async race",    "proxy",          "async",      "divergence",    "deadlock", "barrier",
      "trap",          "assert",         "step limit", "undefined"};
  return names[static_cast<int>(kind)];
}

// "lane 3", "lanes 0-3,7".
static std::string laneText(uint32_t lanes) {
  std::string text = std::has_single_bit(lanes) ? "lane " : "lanes ";
  for (unsigned first = 0; first < 32; ++first) {
    if (!(lanes >> first & 1))
      continue;
    unsigned last = first;
    while (last < 31 && (lanes >> (last + 1) & 1))
      ++last;
    text += (text.back() == ' ' ? "" : ",") + std::to_string(first);
    if (last > first)
      text += "-" + std::to_string(last);
    first = last;
  }
  return text;
}

std::string textOf(const device::Dim3 &block) {
  return "(" + std::to_string(block.x) + "," + std::to_string(block.y) + "," +
         std::to_string(block.z) + ")";
}

std::string Finding::otherText() const {
  if (!other)
    return {};
  std::string text = "the other: ";
  if (other->isAsynchronous)
    text += "completed asynchronously";
  else
    text += (other->inEarlierLaunch ? "kernel " + other->kernel + ", " : "") +
            (other->inEarlierLaunch || other->ctaIndex != ctaIndex
                 ? "block " + textOf(other->cta) + ", "
                 : "") +
            "warp " + std::to_string(other->warp) +
            (other->lane ? ", lane " + std::to_string(*other->lane) : ", several lanes");
  if (other->ptxLine)
    text += ", line " + std::to_string(other->ptxLine) + " `" + other->ptxText + "`";
  return text;
}

static std::string sourceOf(const CodeLocation &location) {
  return location.sourceFile + ":" + std::to_string(location.sourceLine);
}

static std::string ptxOf(const CodeLocation &location) {
  return location.ptxFile + ":" + std::to_string(location.ptxLine);
}

// " inlined at file.cu:9, main.cu:3"
static std::string inlinedText(const CodeLocation &location) {
  std::string text;
  for (const SourceLocation &caller : location.inlinedAt)
    text += (&caller == location.inlinedAt.data() ? " inlined at " : ", ") + caller.file + ":" +
            std::to_string(caller.line);
  return text;
}

std::string Note::text() const {
  std::string text = ptxOf(*this) + ": " + message;
  if (!sourceFile.empty())
    text += ", from " + sourceOf(*this);
  return text + inlinedText(*this) + "; `" + ptxText + "`";
}

std::string Finding::text() const {
  if (!ptxLine) // of the host's program
    return std::string("[") + nameOf(kind) + "] " + message;
  bool hasSource = !sourceFile.empty();
  std::string text = (hasSource ? sourceOf(*this) : ptxOf(*this)) + ": [" + nameOf(kind) + "] " +
                     message + "\n  kernel " + kernel + ", block " + textOf(cta) + ", warp " +
                     std::to_string(warp) + ", " + laneText(lanes);
  if (other)
    text += "; " + otherText();
  if (count > 1)
    text += "; seen " + std::to_string(count) + " times";
  return text + "\n  " + (hasSource ? ptxOf(*this) + " " : "") + "`" + ptxText + "`" +
         inlinedText(*this) + "; seed " + std::to_string(seed);
}

} // namespace tile::vgpu
