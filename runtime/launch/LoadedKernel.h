// A kernel on a device, whoever has compiled it, and what a launch must know of it.
#pragma once

#include "codegen/compiled/CompiledKernel.h"
#include "runtime/device/Device.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tile::launch {

/// Where a call's HostArgs have the value of a parameter, whose bytes are in little-endian order. A parameter that is of no
/// argument has no place: LaunchWorkspace.h.
struct ParameterPlace {
  size_t offset; ///< of its first byte from that of the first argument
  size_t bytes;
};

struct LoadedKernel {
  device::Function function;
  std::string name;
  std::vector<ParameterPlace> parameters;
  std::vector<codegen::TensorMapRecipe> tensorMaps; ///< parameters behind those
  codegen::Workspace workspace;
  size_t workspaceAt = 0, countersAt = 0; ///< the parameters that point to it, if there is one
  codegen::GridExpression grid;
  std::vector<std::pair<int, int>> aliases; ///< arguments that may overlap, the lower one first
  bool isForNumbers = false;                ///< its code depends on the values of scalars
  int64_t mostPrograms = 0; ///< of a persistent kernel: how many run at once; 0: any number
  uint32_t threads = 0, sharedBytes = 0;
  uint32_t blocks = 1;     ///< that carry out a program, one after the other in the grid
  bool hasClusters = true; ///< Are these a cluster on the device?
  bool waits = false;      ///< itself, for the launches before it
  std::vector<codegen::Diagnostic> remarks;
};

/// The name and line by which messages know a kernel.
struct Named {
  const std::string &name;
  Loc where;
};

/// Loads a kernel, with machine code for the device where it has some. Errors: those of the device; ResourceExceeded where
/// its threads together want more registers than a multiprocessor has, which assemblers accept.
std::unique_ptr<LoadedKernel> load(device::Device &device, codegen::CompiledKernel compiled,
                                   std::span<const std::byte> cubin, const Named &named);

/// How a kernel is launched on a grid of blocks.
device::LaunchConfig shapeOf(const LoadedKernel &kernel, device::Dim3 grid);

} // namespace tile::launch
