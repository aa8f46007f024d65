// Compiled kernels as files (TILE_DUMP): all stages of those that are compiled, or the PTX alone of all that are loaded.
#pragma once

#include "codegen/CompileOptions.h"

#include <string>

namespace tile::jit {

/// Whether each kernel is to be compiled for its stages: TILE_DUMP is set, and TILE_DUMP_STAGES does not say `ptx`.
bool dumpsAllStages();

/// If TILE_DUMP names a folder, writes the kernel's stages, or its PTX if no others were kept, to
/// <folder>/<kernel>-<hash of the PTX>/. Failures are a warning on stderr: looking at a compile must not break it.
void dumpIfAsked(const codegen::CompiledKernel &kernel);

} // namespace tile::jit
