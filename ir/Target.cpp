#include "ir/Target.h"

#include <array>

using tile::ir::Target;

// Shared memory: Programming Guide table "Technical Specifications per Compute Capability": an SM has 164 / 100 / 100 /
// 228 KB, of which one block may use 163 / 99 / 99 / 227 KB (1 KB is reserved for the system).
// PTX 8.4 brought mma of 8-bit floats.
static constexpr std::array<Target, 4> kTargets = {{
    {"sm_80", 80, 80, 163 * 1024, 164 * 1024, 65536, 2048, 1024, 32},
    {"sm_86", 86, 80, 99 * 1024, 100 * 1024, 65536, 1536, 1024, 16},
    {"sm_89", 89, 84, 99 * 1024, 100 * 1024, 65536, 1536, 1024, 24},
    {"sm_90a", 90, 84, 227 * 1024, 228 * 1024, 65536, 2048, 1024, 32},
}};

std::optional<Target> tile::ir::findTarget(std::string_view name) {
  for (const Target &target : kTargets)
    if (name == target.name)
      return target;
  return std::nullopt;
}

std::string tile::ir::knownTargets() {
  std::string names;
  for (const Target &target : kTargets)
    names += (names.empty() ? "" : ", ") + std::string(target.name);
  return names;
}
