// The 8-bit floats in registers: i8, four to a word while they are converted.
#pragma once

#include "codegen/lower/Lowering.h"
#include "ir/tile/TileDialect.h"

namespace tile::codegen {

/// Exactly, to f16 or f32.
Registers widenFloat8(Lowering &l, mlir::Location loc, mlir::ValueRange bytes, mlir::Type format,
                      mlir::Type to);

/// From f32, rounded once; saturates, NaN becomes 0x7f.
Registers narrowToFloat8(Lowering &l, mlir::Location loc, mlir::ValueRange floats,
                         mlir::Type format, ir::Rounding rounding);

} // namespace tile::codegen
