// Room on a device that is full: what streams keep for tensors to come is given back once, and what failed is tried again.
#pragma once

#include "runtime/host/State.h"

namespace tile::detail {

/// Frees what the streams of a device keep for tensors to come, waiting for their work; not of those that are captured. False if
/// there was nothing to free.
bool makeRoom(DeviceState &device);

/// Calls `act`, which allocates on the device or has its driver do so, once more if it finds no memory and there is some to be
/// freed. A compiler that lacks memory is not helped by that.
template <class Act> decltype(auto) withRoom(DeviceState &device, Act act) {
  try {
    return act();
  } catch (const Error &error) {
    if (error.code() != ErrorCode::OutOfMemory || error.fault() == Fault::Compiler ||
        !makeRoom(device))
      throw;
  }
  return act();
}

} // namespace tile::detail
