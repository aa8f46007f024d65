// What a kernel is compiled for: dtypes, constants, and facts about its arguments that make better
// code. Two calls share code exactly if their keys are equal, so every fact handed to the compiler
// is in the key.
#pragma once

#include "frontend/trace/Binding.h"
#include "runtime/jit/KeyMap.h"

#include <span>
#include <vector>

namespace tile::jit {

/// Whether the pointer is divisible by 16.
bool isAligned(const detail::HostArg &arg);

/// What is known of one tensor argument.
struct Facts {
  bool isAligned = false;
  bool isWide = false;                   ///< offsets may reach 2^31 elements: 64-bit addressing
  uint8_t unitStrides = 0;               ///< bit d: stride d is 1
  uint8_t alignedStrides = 0;            ///< bit d: stride d is divisible by 16 bytes
  int64_t extentDivisors[kMaxRank] = {}; ///< what the extents are divisible by
};

/// The facts of argument `index`. `uses` are the tiles in which the kernel addresses its arguments:
/// an extent counts as divisible by those of its dimension that divide it, and by 16 or 8.
Facts factsOf(const detail::HostArg &arg, int index, std::span<const frontend::TileUse> uses,
              bool assume = true);

/// What a kernel that asks for a value gets of these arguments: the bits of a scalar, or an extent.
uint64_t valueOf(std::span<const detail::HostArg> args, frontend::ValueUse use);

/// The settings of a launch and those of the environment: TILE_CHECKED=1 checks every kernel.
detail::CompileSettings withEnvironment(detail::CompileSettings settings);

/// The part of the key known before the first trace: kernel, constants, warps, dtypes and ranks.
void appendSignature(KeyWords &key, uint64_t kernel, std::span<const detail::HostArg> args,
                     std::span<const int64_t> consts, const detail::CompileSettings &settings);

/// The rest of the key. `uses` are in the order of arguments.
void appendFacts(KeyWords &key, std::span<const detail::HostArg> args,
                 std::span<const frontend::TileUse> uses, bool assume = true);

/// The same for the frontend. Without `uses` known, nothing is claimed of extents beyond 16 and 8.
frontend::Binding bindingOf(std::span<const detail::HostArg> args,
                            std::span<const frontend::TileUse> uses,
                            std::span<const int64_t> consts,
                            const detail::CompileSettings &settings, const TargetInfo &target);

} // namespace tile::jit
