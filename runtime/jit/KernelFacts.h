// What a launch must know of a compiled kernel, as JSON text.
#pragma once

#include "codegen/CompiledKernel.h"

#include <optional>
#include <string>
#include <string_view>

namespace tile::jit {

/// All but the PTX, stages, times and reports.
std::string factsOf(const codegen::CompiledKernel &kernel);

/// The kernel without its PTX; nothing if the text is none of factsOf.
std::optional<codegen::CompiledKernel> kernelOf(std::string_view facts);

} // namespace tile::jit
