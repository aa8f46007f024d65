#include "ir/target/Target.h"

#include <algorithm>
#include <array>
#include <charconv>

using tile::ir::Feature;
using tile::ir::Target;

// Shared memory: Programming Guide table "Technical Specifications per Compute Capability": an SM has 164 / 100 / 100 /
// 228 KB, of which one block may use 163 / 99 / 99 / 227 KB (1 KB is reserved for the system).
// PTX 8.4 brought mma of 8-bit floats.
// Features: PTX ISA, the target notes of the instructions.
static constexpr bool yes = true, no = false;
// clang-format off
static constexpr std::array<Target, 4> kTargets = {{
    //                                                                cp.async float8 stmatrix atomics clusters tma  wgmma
    {"sm_80", 80, 80, 163 * 1024, 164 * 1024, 65536, 2048, 1024, 32,  yes,     no,    no,      no,     no,      no,  no},
    {"sm_86", 86, 80, 99 * 1024, 100 * 1024, 65536, 1536, 1024, 16,   yes,     no,    no,      no,     no,      no,  no},
    {"sm_89", 89, 84, 99 * 1024, 100 * 1024, 65536, 1536, 1024, 24,   yes,     yes,   no,      no,     no,      no,  no},
    {"sm_90a", 90, 84, 227 * 1024, 228 * 1024, 65536, 2048, 1024, 32, yes,     yes,   yes,     yes,    yes,     yes, yes},
}};
// clang-format on

std::optional<Target> tile::ir::findTarget(std::string_view name) {
  for (const Target &target : kTargets)
    if (name == target.name)
      return target;
  return std::nullopt;
}

static int numberIn(std::string_view name) {
  constexpr std::string_view kPrefix = "sm_";
  int number = 0;
  if (name.starts_with(kPrefix))
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), number);
  return number;
}

Target tile::ir::targetForGpu(std::string_view name) {
  if (std::optional<Target> own = findTarget(name))
    return *own;
  const Target *best = kTargets.begin();
  for (const Target &target : kTargets) {
    char last = std::string_view(target.name).back();
    if (last >= '0' && last <= '9' && target.smVersion <= numberIn(name) &&
        target.smVersion > best->smVersion)
      best = &target;
  }
  return *best;
}

const char *tile::ir::firstTargetWith(Feature feature) {
  const Target *first = std::ranges::find_if(kTargets, feature);
  return first == kTargets.end() ? "" : first->name;
}

std::string tile::ir::knownTargets() {
  std::string names;
  for (const Target &target : kTargets)
    names += (names.empty() ? "" : ", ") + std::string(target.name);
  return names;
}
