// Registers that no thread needs at the same time share rows of the register file.
//
// Compilers write PTX in single assignment form: thousands of registers, few of them in use at a time. One row each is
// hundreds of kilobytes a warp, which the host's caches do not hold; shared rows are tens.
#pragma once

#include "runtime/vgpu/machine/Program.h"

namespace tile::vgpu {

/// The kind of value in a row. Lanes that are apart can use one row for different registers if these are of one kind, which
/// keeps each lane's value at its own place.
enum class RowKind : uint8_t { Predicate, Word, Wide };

/// Renumbers the rows of a decoded kernel, of its batches of products as well. `kinds` are by row / kRowBytes.
///
/// A row may hold several registers afterwards, so this is not for programs that track what is initialised.
void shareRows(Program &program, const std::vector<RowKind> &kinds);

} // namespace tile::vgpu
