// A module on the device: its variables have memory.
#pragma once

#include "runtime/vgpu/Memory.h"
#include "runtime/vgpu/Ptx.h"

namespace tile::vgpu {

struct LoadedModule {
  std::shared_ptr<const Module> ptx;              // null once it is unloaded
  std::map<std::string_view, uint64_t> addresses; // of module variables
};

/// Gives the variables memory and their initial values, in which addresses of others may occur.
void placeVariables(LoadedModule &module, GlobalMemory &memory);
/// Gives their memory back, also where not all have some.
void releaseVariables(LoadedModule &module, GlobalMemory &memory);

} // namespace tile::vgpu
