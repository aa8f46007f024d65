// Files written whole: under a name of their own first, then renamed, so that nobody ever reads
// half of one.
#pragma once

#include "codegen/CompiledKernel.h"

#include <string>
#include <string_view>

namespace tile::jit {

/// Writes a file, replacing what was there; through links, and into devices and pipes. Throws Error, IoError, and leaves
/// the old file.
void writeFile(const std::string &path, std::string_view content);

/// Throws what writeFile would, as far as it can be told without writing.
void checkWritable(const std::string &path);

/// Writes the kernel's stages to <directory>/<kernel>-<hash of the first stage>/. Failures are a
/// warning on stderr: looking at a compile must not break it.
void dumpStages(const codegen::CompiledKernel &kernel, const std::string &directory);

} // namespace tile::jit
