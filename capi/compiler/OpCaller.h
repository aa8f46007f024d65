// What reports of the virtual GPU say of an op by name: the caller's line, and the names of its tensors.
#pragma once

#include "runtime/device/Caller.h"

#include <tile/Registry.h>

namespace tile::capi {

/// The caller of an op whose launches come next, or null where nothing reports.
std::shared_ptr<const device::Caller> callerOf(const OpEntry &op, const Device &device,
                                               std::span<const Tensor> inputs,
                                               std::span<const Tensor> outputs);

} // namespace tile::capi
