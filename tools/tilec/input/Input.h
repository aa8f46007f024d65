// What `build` and `explain` compile: op:NAME, FILE.cpp, LIB.so or FILE.mlir, with settings.
#pragma once

#include "codegen/CompileOptions.h"
#include "codegen/compiled/CompiledKernel.h"
#include "tools/tilec/input/InputOptions.h"

#include <string>
#include <vector>

namespace tile::tilec {

/// Compiles the one input that `input.words` name, among which are settings; an op's settings are told on standard error.
/// Throws Error for words that are no input, unknown settings, and whatever the compile says.
codegen::CompiledKernel compileInput(const InputOptions &input,
                                     const codegen::CompileOptions &options);

/// The file an input's first word names, empty if it is none: what a reproducer must hold.
std::string inputFileOf(const std::vector<std::string> &words);

} // namespace tile::tilec
