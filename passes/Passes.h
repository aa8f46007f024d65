// Declarations of all passes; what each guarantees is said in Passes.td.
#pragma once

#include "ir/gpu/TileGpuDialect.h"
#include "ir/tile/TileDialect.h"
#include "passes/Pipeline.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace tile::passes {

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

} // namespace tile::passes
