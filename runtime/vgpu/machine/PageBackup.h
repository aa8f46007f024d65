// Pages of global memory as they were before a launch, for launches that may have to start again.
#pragma once

#include "runtime/vgpu/check/Footprints.h"
#include "runtime/vgpu/machine/Memory.h"

#include <mutex>
#include <unordered_map>

namespace tile::vgpu {

class PageBackup {
public:
  explicit PageBackup(GlobalMemory &memory) : memory_(memory) {}
  /// Called before any write to a page, by any thread. Saves it the first time.
  void keep(uint64_t page);
  /// Puts all saved pages back. Nothing may run meanwhile.
  void restore();

private:
  struct Page {
    std::array<uint8_t, kShadowPageBytes> bytes;
    PageBits valid;
  };

  GlobalMemory &memory_;
  std::mutex mutex_;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
};

} // namespace tile::vgpu
