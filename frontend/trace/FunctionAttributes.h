// The attributes of a function: how it is compiled, how many programs a launch has, what its arguments are.
#pragma once

#include "frontend/trace/Trace.h"

#include <mlir/IR/Builders.h>

namespace tile::frontend {

/// The attributes of a parameter's argument; `name` is empty if it has none.
mlir::DictionaryAttr argumentAttributes(mlir::OpBuilder &builder, const Trace &trace, int argument,
                                        const detail::ParamSpec &spec, const std::string &name);
/// The grid of a launch, as far as the kernel derives it, in extents and scalars of the call.
void setGrid(mlir::Operation *function, const Trace &trace);
/// Sets attributes for settings that differ from the defaults, so that the IR of most kernels says nothing.
void setSettings(mlir::Operation *function, const detail::CompileSettings &settings);

} // namespace tile::frontend
