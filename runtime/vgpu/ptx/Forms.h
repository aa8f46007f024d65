// Which modifiers of PTX go together. The functions that decode take what they understand in any order and combination;
// what the assembler would refuse is refused here, so that a kernel that runs on the virtual GPU assembles too.
//
// The rules stand in the rows of the opcodes (decode/OpcodeTable.h). Lists of modifiers are words with blanks between; "L1::*"
// is any word that begins so. A rule's `of` restricts it, where several opcodes share a list: to these, or to those whose first
// modifier is the one behind the dot.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tile::vgpu {

/// The syntax of PTX ISA, as ptxas applies it: which modifiers need which.
struct FormRule {
  std::string_view where = {}; // the rule is for instructions with one of these; empty: for all
  std::string_view needs = {}; // one of these must be there; empty: none need be
  std::string_view never = {}; // and none of these
  std::string_view of = {};
};

/// Where modifiers stand. The lists have `|` between, and of each one modifier can be there. Between ">" are those that may
/// stand in any order, after all those before the sign; modifiers in no list may stand anywhere.
struct FormOrder {
  std::string_view lists;
  std::string_view of = {};
};

/// Why an instruction cannot have these modifiers, in words; nothing if no rule says so.
std::optional<std::string> brokenRule(std::initializer_list<FormRule> rules,
                                      std::string_view opcode,
                                      std::span<const std::string_view> modifiers);

/// Why these modifiers cannot follow each other so.
std::optional<std::string> brokenOrder(std::initializer_list<FormOrder> orders,
                                       std::string_view opcode,
                                       std::span<const std::string_view> modifiers);

} // namespace tile::vgpu
