// What a kernel is compiled for: dtypes, constants, and facts about its arguments that make better
// code. Two calls share code exactly if their keys are equal, so every fact handed to the compiler
// is in the key.
#pragma once

#include "frontend/trace/Binding.h"
#include "runtime/jit/KeyMap.h"

#include <array>
#include <span>

namespace tile::jit {

using frontend::factsOf, frontend::isAligned, frontend::valueOf;

/// The settings of a launch and those of the environment: TILE_CHECKED=1 checks every kernel.
detail::CompileSettings withEnvironment(detail::CompileSettings settings);

// The parts of keys.

std::array<uint64_t, 2> wordsOf(const detail::CompileSettings &settings);
/// Kernel, constants, settings, and of each argument dtype and rank.
void appendSignature(KeyWords &key, uint64_t kernel, std::span<const detail::HostArg> args,
                     std::span<const int64_t> consts, const detail::CompileSettings &settings);
/// What is known of an argument beyond its dtype and rank.
void appendFacts(KeyWords &key, const frontend::ArgFacts &facts);

} // namespace tile::jit
