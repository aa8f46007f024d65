// The contexts that kernels are traced into and compiled in. Making one and destroying it takes as long as a tenth of a small
// kernel's compile, so that one serves several kernels, one after the other.
#pragma once

#include <memory>

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace tile::frontend {

/// Leaves a context to later kernels, unless it has served many: it keeps every type, attribute and line it has met.
struct ContextReturn {
  int kernels = 0; ///< that it has served

  void operator()(mlir::MLIRContext *context) const;
};

using KernelContext = std::unique_ptr<mlir::MLIRContext, ContextReturn>;

/// A context for one kernel, with all dialects loaded: one that an earlier kernel has left, or a new one.
KernelContext takeContext();

} // namespace tile::frontend
