// What a launch must know of a compiled kernel, as JSON text.
#pragma once

#include "codegen/compiled/CompiledKernel.h"

#include <optional>
#include <string>
#include <string_view>

namespace tile::codegen {

/// All but the PTX, stages, times and reports.
std::string factsOf(const CompiledKernel &kernel);

/// The kernel without its PTX; nothing if the text is none of factsOf.
std::optional<CompiledKernel> kernelOf(std::string_view facts);

} // namespace tile::codegen
