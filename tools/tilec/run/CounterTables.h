// The virtual GPU's counters as tables for people.
#pragma once

#include "runtime/vgpu/machine/Counters.h"

#include <string>

namespace tile::tilec {

/// Totals, the instruction mix, and the lines of PTX that cost most: executions, bank conflicts, wasted sectors.
std::string counterTables(const vgpu::Counters &counters,
                          const std::vector<vgpu::LineCounters> &lines);

} // namespace tile::tilec
