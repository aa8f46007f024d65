// The tensor maps that a kernel takes behind its other parameters: how the copy engine sees its arguments.
#pragma once

#include "codegen/compiled/CompiledKernel.h"
#include "runtime/device/Device.h"

#include <tile/HostArg.h>
#include <tile/detail/FunctionRef.h>

#include <unordered_map>
#include <vector>

namespace tile::launch {

/// A kernel for messages, the device that it runs on, and where 16 bytes on that are 0, which is asked for when needed.
struct MapContext {
  const std::string &kernel;
  device::Device &device;
  detail::FunctionRef<device::DevicePtr()> zeros;
};

/// The maps of the calls of one kernel that differ in the addresses of their arguments alone, such as those of a model's
/// layers: they are kept, since to encode one takes longer than the rest of a launch.
class TensorMaps {
public:
  TensorMaps() = default;
  explicit TensorMaps(size_t recipes) : byRecipe_(recipes) {}

  /// The map of recipe number `index`, for this argument; valid until it is asked for again with another. A tensor without
  /// elements reads as zeros, as all that is outside of one. Throws InvalidArgument, naming the kernel and the argument,
  /// where a tensor breaks a rule of the device.
  const device::TensorMap &encode(size_t index, const codegen::TensorMapRecipe &recipe,
                                  const detail::HostArg &arg, const MapContext &context);

private:
  using ByAddress = std::unordered_map<uint64_t, device::TensorMap>;
  struct Known {
    uint64_t address = 0; ///< asked for last, since most callers ask for one alone
    const device::TensorMap *map = nullptr;
    ByAddress byAddress;
  };
  static ByAddress::iterator made(ByAddress &maps, const codegen::TensorMapRecipe &recipe,
                                  const detail::HostArg &arg, const MapContext &context);

  std::vector<Known> byRecipe_;
};

} // namespace tile::launch
