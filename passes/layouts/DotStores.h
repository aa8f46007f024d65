// How the results of products by wgmma are stored, once layouts are known.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tile::passes {

/// Stores by the copy engine, and in quads, take their tile as threads hold it, or exchange it
/// within four lanes, instead of the layout of a store by vectors. Where that cannot be the next
/// variant takes their place.
void settleDotStores(mlir::func::FuncOp function);

} // namespace tile::passes
