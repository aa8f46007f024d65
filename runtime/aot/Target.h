// Which of the targets that a function is compiled for a device runs.
#pragma once

#include "runtime/aot/Archive.h"
#include "runtime/device/Device.h"

#include <string>
#include <vector>

namespace tile::aot {

/// The targets of a function, each once, in the order of its variants.
std::vector<std::string> targetsOf(const Function &function);

/// The variants for a device: those of its own target, else of the best that it runs, in their order. Error: Unsupported
/// naming the targets there are.
std::vector<const Variant *> variantsFor(const Function &function,
                                         const device::DeviceProps &props);

} // namespace tile::aot
