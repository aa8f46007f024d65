// Saving and restoring bytes, and which of them have been written.
#include "runtime/vgpu/machine/PageBackup.h"

#include <cstring>

namespace tile::vgpu {

// Every writer calls this before it writes, so while there is no copy the page is as it was before the launch.
void PageBackup::keep(uint64_t page) {
  std::lock_guard lock(mutex_);
  std::unique_ptr<Page> &saved = pages_[page];
  if (saved)
    return;
  saved = std::make_unique<Page>();
  uint64_t address = page * kShadowPageBytes;
  std::memcpy(saved->bytes.data(), memory_.host(address, kShadowPageBytes), kShadowPageBytes);
  std::memcpy(saved->valid.data(), memory_.valid().words(address - kGlobalBase), sizeof(PageBits));
}

void PageBackup::restore() {
  for (const auto &[page, saved] : pages_) {
    uint64_t address = page * kShadowPageBytes;
    std::memcpy(memory_.host(address, kShadowPageBytes), saved->bytes.data(), kShadowPageBytes);
    std::memcpy(memory_.valid().words(address - kGlobalBase), saved->valid.data(),
                sizeof(PageBits));
  }
}

} // namespace tile::vgpu
