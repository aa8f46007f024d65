// Declarations of all passes; what each guarantees is said in Passes.td.
#pragma once

#include "ir/TileDialect.h"
#include "ir/TileGpuDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace tile::passes {

/// Attributes that LowerViews leaves for what follows.
inline constexpr llvm::StringLiteral kParamAttr = "tile.param";
inline constexpr llvm::StringLiteral kDivisibilityAttr = "tile.divisibility";
inline constexpr llvm::StringLiteral kOrderAttr = "tilegpu.order";
inline constexpr llvm::StringLiteral kVectorAttr = "tilegpu.vector";
inline constexpr llvm::StringLiteral kBoundsAttr = "tilegpu.bounds";
/// Of a loop: nothing is computed before it that an iteration computes.
inline constexpr llvm::StringLiteral kNoLicmAttr = "tile.no_licm";

/// Values of `tilegpu.bounds`, per dimension.
enum class Bounds : int32_t { None = 0, WholeTile = 1, EachElement = 2 };

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

} // namespace tile::passes
