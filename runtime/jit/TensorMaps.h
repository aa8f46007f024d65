// The tensor maps that a kernel takes behind its other parameters: how the copy engine sees its arguments.
#pragma once

#include "codegen/CompiledKernel.h"
#include "runtime/device/Device.h"

#include <tile/HostArg.h>

#include <llvm/ADT/STLFunctionalExtras.h>

#include <span>
#include <vector>

namespace tile::jit {

/// A kernel for messages, the device that it runs on, and where 16 bytes on that are 0, which is asked for when needed.
struct MapContext {
  const std::string &kernel;
  device::Device &device;
  llvm::function_ref<device::DevicePtr()> zeros;
};

/// The maps of the calls of one kernel that differ in the addresses of their arguments alone: they are kept, since to
/// encode one takes longer than the rest of a launch.
class TensorMaps {
public:
  /// One map a recipe, for these arguments. A tensor without elements reads as zeros, as all that is outside of one.
  /// Throws InvalidArgument, naming the kernel and the argument, where a tensor breaks a rule of the device.
  std::span<const device::TensorMap> encode(std::span<const codegen::TensorMapRecipe> recipes,
                                            std::span<const detail::HostArg> args,
                                            const MapContext &context);

private:
  std::vector<const void *> addresses_; ///< of the arguments that `maps_` are for
  std::vector<device::TensorMap> maps_;
};

} // namespace tile::jit
