// One specialisation of a kernel: what the runtime knows of its arguments before it is traced. No
// MLIR here.
#pragma once

#include "frontend/call/ArgFacts.h"

#include <tile/Kernel.h>
#include <tile/Ops.h>

#include <utility>
#include <vector>

namespace tile::frontend {

/// One specialisation of a kernel.
struct Binding {
  std::vector<ArgFacts> args;
  std::vector<int64_t> consts;
  detail::CompileSettings settings;
  TargetInfo target;
};

/// The uses that a kernel made of its arguments while it was traced.
struct ArgumentUses {
  std::vector<TileUse> tiles;               ///< each once, by argument, dimension, extent
  std::vector<ValueUse> values;             ///< each once, in the order in which the kernel asked
  std::vector<int> strides;                 ///< arguments with a stride among the kernel's values
  std::vector<std::pair<int, int>> aliases; ///< that may overlap, sorted, the lower one first
};

/// Throws tile::Error, InvalidArgument, where constants, arguments or settings are not those of the kernel.
void checkBinding(const detail::KernelRecord &record, const Binding &binding);

/// The binding of these constants with nothing assumed of the arguments beyond the dtypes and ranks
/// the kernel declares.
Binding bindingFor(const detail::KernelRecord &record, std::span<const int64_t> consts,
                   const detail::CompileSettings &settings = {});

} // namespace tile::frontend
