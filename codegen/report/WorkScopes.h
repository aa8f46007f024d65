// The parts of a kernel that are carried out differently often: the kernel itself, its loops and its branches.
#pragma once

#include "codegen/report/KernelReport.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include <map>
#include <string>
#include <vector>

namespace tile::codegen {

struct WorkScopes {
  std::vector<WorkScope> scopes; ///< the kernel first; their work is that of all teams and blocks
  llvm::DenseMap<mlir::Region *, int> ofRegion;
  /// The arithmetic of each scope for one team of one block.
  std::vector<std::map<std::string, double>> flops;
  /// So many carry out what a scope holds for each time that it counts.
  std::vector<int64_t> runners;
};

WorkScopes workScopesOf(mlir::func::FuncOp kernel);

} // namespace tile::codegen
