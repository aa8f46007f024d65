// The one place that registers dialects and extensions.
#pragma once

#include <memory>

namespace mlir {
class DialectRegistry;
class MLIRContext;
} // namespace mlir

namespace tile::ir {

/// Registers every dialect and extension a kernel meets on its way to PTX.
void registerDialects(mlir::DialectRegistry &registry);

/// A context with all dialects loaded and MLIR's own threading off: a compile uses one thread and
/// one context.
std::unique_ptr<mlir::MLIRContext> makeContext();

} // namespace tile::ir
