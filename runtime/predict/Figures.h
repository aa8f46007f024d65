// What an assembler says of a kernel, for predictions.
#pragma once

#include "runtime/vgpu/time/Occupancy.h"

#include <string>
#include <string_view>

namespace tile::predict {

/// Registers and barriers of the one kernel in the text; nothing where there is no assembler.
/// Error: ToolFailed if it refuses the text.
vgpu::AssemblerFigures figuresOf(std::string_view ptx, const std::string &target);

} // namespace tile::predict
