// Targets, versions, and what they lack.
#include "runtime/vgpu/ptx/Requirements.h"

#include <algorithm>
#include <cstdlib>

namespace tile::vgpu {
namespace {

// Whether the words of `wanted`, with dots between, stand in `modifiers` in this order.
bool hasAll(std::span<const std::string_view> modifiers, std::string_view wanted) {
  size_t at = 0;
  while (!wanted.empty()) {
    std::string_view word = wanted.substr(0, wanted.find('.'));
    wanted.remove_prefix(std::min(wanted.size(), word.size() + 1));
    while (at < modifiers.size() && modifiers[at] != word)
      ++at;
    if (at++ == modifiers.size())
      return false;
  }
  return true;
}

} // namespace

std::string versionText(int version) {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

int archOfTarget(std::string_view target) {
  return target.starts_with("sm_") ? std::atoi(std::string(target.substr(3)).c_str()) : 0;
}

int versionOfTarget(std::string_view target) {
  constexpr std::pair<std::string_view, int> kVersions[] = {
      {"sm_30", 30}, {"sm_32", 40},  {"sm_35", 31},  {"sm_37", 41}, {"sm_50", 40}, {"sm_52", 41},
      {"sm_53", 42}, {"sm_60", 50},  {"sm_61", 50},  {"sm_62", 50}, {"sm_70", 60}, {"sm_72", 61},
      {"sm_75", 63}, {"sm_80", 70},  {"sm_86", 71},  {"sm_87", 74}, {"sm_88", 90}, {"sm_89", 78},
      {"sm_90", 78}, {"sm_90a", 80}, {"sm_120f", 88}};
  const auto *row =
      std::ranges::find(kVersions, target, [](const auto &pair) { return pair.first; });
  return row == std::end(kVersions) ? 0 : row->second;
}

std::optional<std::string> missingFor(int arch, int version, std::string_view target, int has) {
  if (archOfTarget(target) < arch)
    return "it needs .target sm_" + std::to_string(arch) + " or newer, the file has " +
           std::string(target);
  if (has < version)
    return "it needs .version " + versionText(version) + " or later, the file has " +
           versionText(has);
  return std::nullopt;
}

std::optional<std::string> missingFor(std::initializer_list<Requirement> requirements,
                                      std::span<const std::string_view> modifiers,
                                      std::string_view target, int version) {
  for (const Requirement &row : requirements) {
    if (!hasAll(modifiers, row.modifiers))
      continue;
    if (row.specific && (archOfTarget(target) != row.arch || !target.ends_with('a')))
      return "it needs .target sm_" + std::to_string(row.arch) + "a, the file has " +
             std::string(target);
    if (row.orArch && !missingFor(row.orArch, row.orVersion, target, version))
      continue;
    if (auto missing = missingFor(row.arch, row.version, target, version))
      return missing;
  }
  return std::nullopt;
}

} // namespace tile::vgpu
