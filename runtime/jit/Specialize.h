// What a kernel is compiled for: dtypes, constants, and facts about its arguments that make better
// code. Two calls share code exactly if their keys are equal, so every fact handed to the compiler
// is in the key.
#pragma once

#include "frontend/trace/Binding.h"
#include "runtime/jit/KeyMap.h"

#include <span>

namespace tile::jit {

/// Whether the pointer is divisible by 16.
bool isAligned(const detail::HostArg &arg);

/// What is known of argument `index`. `uses` are the tiles in which the kernel addresses its arguments: an extent counts
/// as divisible by those of its dimension that divide it, and by 16 or 8. Without `assume` only what decides whether the
/// code is right is told.
frontend::ArgFacts factsOf(const detail::HostArg &arg, int index,
                           std::span<const frontend::TileUse> uses, bool assume = true);

/// What a kernel that asks for a value gets of these arguments: the bits of a scalar, or an extent.
uint64_t valueOf(std::span<const detail::HostArg> args, frontend::ValueUse use);

/// The settings of a launch and those of the environment: TILE_CHECKED=1 checks every kernel.
detail::CompileSettings withEnvironment(detail::CompileSettings settings);

// The parts of keys.

/// Kernel, constants, settings, and of each argument dtype and rank.
void appendSignature(KeyWords &key, uint64_t kernel, std::span<const detail::HostArg> args,
                     std::span<const int64_t> consts, const detail::CompileSettings &settings);
/// Extents and strides of each argument, and whether its address is aligned.
void appendLayouts(KeyWords &key, std::span<const detail::HostArg> args);
/// What is known of an argument beyond its dtype and rank.
void appendFacts(KeyWords &key, const frontend::ArgFacts &facts);

} // namespace tile::jit
