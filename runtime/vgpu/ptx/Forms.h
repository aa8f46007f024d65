// Which modifiers of PTX go together. The functions that decode take what they understand in any order and combination;
// what the assembler would refuse is refused here, so that a kernel that runs on the virtual GPU assembles too.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tile::vgpu {

/// Why an instruction cannot have these modifiers, in words; nothing if no rule says so.
std::optional<std::string> brokenRule(std::string_view opcode,
                                      std::span<const std::string_view> modifiers);

/// Why these modifiers cannot follow each other so.
std::optional<std::string> brokenOrder(std::string_view opcode,
                                       std::span<const std::string_view> modifiers);

} // namespace tile::vgpu
