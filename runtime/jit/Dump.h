// The stages of a compile as files (TILE_DUMP).
#pragma once

#include "codegen/CompileOptions.h"

#include <string>

namespace tile::jit {

/// Writes the kernel's stages to <directory>/<kernel>-<hash of the first stage>/. Failures are a
/// warning on stderr: looking at a compile must not break it.
void dumpStages(const codegen::CompiledKernel &kernel, const std::string &directory);

} // namespace tile::jit
