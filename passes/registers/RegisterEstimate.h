// How many registers a thread of a kernel in dialect tilegpu needs, before anything is assembled:
// the words that are alive at the worst place, counted backward over structured control flow, and
// what every kernel has besides.
//
// The assembler schedules anew, so this is an estimate:
// docs/decisions/0025-registers-are-estimated.md has its error. Two things it does are modelled. A
// product's fragments are loaded as the steps along K need them, a step ahead if there is room; and
// where the registers of a multiprocessor are left to it, it is sparing with those for addresses.
// It is near for kernels with products, and no measure of elementwise ones, of which the assembler
// does a part at a time. What functions that are called, and code in PTX or CUDA C++, take by
// themselves is not counted.
#pragma once

#include "ir/target/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace tile::passes {

/// Of threads that do the same.
struct RegisterEstimate {
  int64_t needed = 0;               ///< with fewer, values are spilled
  int64_t expected = 0;             ///< what the assembler is expected to take: at most `limit`
  int64_t limit = 0;                ///< the most that a thread can have
  mlir::Operation *worst = nullptr; ///< where most are needed; null in an empty kernel
};

struct KernelRegisters {
  RegisterEstimate compute;                 ///< of the threads that share the tiles
  std::optional<RegisterEstimate> producer; ///< of those that fill rings, if others do
  std::optional<int64_t> launched;          ///< of all at the launch, if they hand registers over

  /// What the assembler is expected to report: of kernels whose warps hand registers over, those at
  /// the launch.
  int64_t reported() const;
};

/// Of a kernel after the memory pipeline.
KernelRegisters estimateRegisters(mlir::func::FuncOp kernel, const ir::Target &target);

} // namespace tile::passes
