// What a rule says of the modifiers of an instruction.
#include "runtime/vgpu/ptx/Forms.h"

#include "runtime/vgpu/ptx/ModifierLists.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

// The first modifier that is one of a list; empty if none is.
std::string_view oneOf(std::span<const std::string_view> modifiers, std::string_view list) {
  auto found = std::ranges::find_if(
      modifiers, [&](std::string_view modifier) { return isInList(modifier, list); });
  return found == modifiers.end() ? std::string_view() : *found;
}

// ".cta, .cluster, .gpu".
std::string spelled(std::string_view list) {
  std::string text;
  anyWord(list, [&](std::string_view word) {
    text += (text.empty() ? "." : ", .") + std::string(word);
    return false;
  });
  return text;
}

} // namespace

std::optional<std::string> brokenRule(std::initializer_list<FormRule> rules,
                                      std::string_view opcode,
                                      std::span<const std::string_view> modifiers) {
  for (const FormRule &rule : rules) {
    if (!isOf(opcode, modifiers, rule.of))
      continue;
    std::string_view where = oneOf(modifiers, rule.where);
    if (!rule.where.empty() && where.empty())
      continue;
    std::string subject = where.empty() ? std::string(opcode) : "." + std::string(where);
    if (!rule.needs.empty() && oneOf(modifiers, rule.needs).empty())
      return subject + " needs " + (rule.needs.find(' ') == rule.needs.npos ? "" : "one of ") +
             spelled(rule.needs);
    if (std::string_view extra = oneOf(modifiers, rule.never); !extra.empty())
      return subject + " does not go with ." + std::string(extra);
  }
  return std::nullopt;
}

} // namespace tile::vgpu
