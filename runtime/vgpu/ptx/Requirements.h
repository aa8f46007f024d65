// What an instruction needs: the architecture and the version of PTX that brought it, or one of its modifiers, in. The
// assembler refuses code for less, so the virtual GPU does.
#pragma once

#include "runtime/vgpu/ptx/Ptx.h"

#include <initializer_list>
#include <optional>
#include <span>
#include <string>

namespace tile::vgpu {

/// PTX ISA, the target and version notes of an instruction. Where the assembler accepts more than they say, it does too.
struct Requirement {
  /// With dots between; all must be there, in this order, with others between them. Empty: whatever the modifiers.
  std::string_view modifiers;
  int arch = 0; // 0: any
  int version = 0;
  bool specific = false; // exists on that architecture alone, for its 'a' target
  int orArch = 0;        // or this architecture
  int orVersion = 0;     // with this version
};

/// Why a module for `target` and `version` (83 for 8.3) cannot have an instruction of these requirements and modifiers, in
/// words; nothing if it can.
std::optional<std::string> missingFor(std::initializer_list<Requirement> requirements,
                                      std::span<const std::string_view> modifiers,
                                      std::string_view target, int version);

/// The same for what operands and special registers ask for: at least this architecture, or any if 0, and this version.
std::optional<std::string> missingFor(int arch, int version, std::string_view target, int has);

/// The version of PTX that brought in `target`; 0 if it is not one the virtual GPU knows.
int versionOfTarget(std::string_view target);

/// "8.3" of 83.
std::string versionText(int version);

/// 80 of "sm_80" and "sm_80a"; 0 if it is no such name.
int archOfTarget(std::string_view target);

} // namespace tile::vgpu
