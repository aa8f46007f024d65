// The way into the frontend for the runtime and tools: bind a kernel to dtypes, constants and
// facts, and trace it.
#pragma once

#include "frontend/trace/Binding.h"
#include "frontend/trace/Contexts.h"

#include <mlir/IR/BuiltinOps.h>
#include <mlir/IR/MLIRContext.h>
#include <mlir/IR/OwningOpRef.h>

#include <memory>
#include <string>
#include <vector>

namespace tile::frontend {

struct TracedKernel {
  KernelContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string name;
  ArgumentUses uses;

  TracedKernel() = default;
  TracedKernel(TracedKernel &&) = default;
  /// The old module goes before the context it lives in.
  TracedKernel &operator=(TracedKernel &&other) {
    module = std::move(other.module);
    context = std::move(other.context);
    name = std::move(other.name);
    uses = std::move(other.uses);
    return *this;
  }
};

/// Runs the kernel's lambda and returns its verified tile IR, in an order that does not depend on
/// the host compiler. Throws tile::Error: the user's mistakes at their line, ours as
/// Fault::Compiler.
TracedKernel trace(const detail::KernelRecord &record, const Binding &binding);

/// Gives a traced kernel other facts of its arguments than it was traced with: those that follow from its own tiles.
/// False, and nothing has changed, if the lambda read a stride that these facts make wider: then it has to run again.
bool rebind(TracedKernel &traced, std::span<const ArgFacts> args);

} // namespace tile::frontend
