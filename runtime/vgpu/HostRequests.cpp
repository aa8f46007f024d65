// The messages.
#include "runtime/vgpu/HostRequests.h"

namespace tile::vgpu {

void fail(ErrorCode code, const std::string &message) { throw Error(Fault::User, code, message); }

void requireRange(const GlobalMemory &memory, const char *what, device::DevicePtr pointer,
                  size_t bytes) {
  const GlobalMemory::Block *block = memory.find(pointer);
  if (bytes == 0 && (pointer == 0 || block))
    return;
  if (block && bytes <= block->base + block->bytes - pointer)
    return;
  const GlobalMemory::Block *near = memory.near(pointer);
  bool freed = near && !near->live && pointer - near->base <= near->bytes;
  fail(freed ? ErrorCode::UseAfterFree : ErrorCode::InvalidArgument,
       std::string(what) + " " + hex(pointer) + " with " + std::to_string(bytes) +
           " bytes is not inside a live allocation: " + memory.describe(pointer));
}

void requireHostPointer(const char *what, const void *pointer, size_t bytes) {
  if (bytes && !pointer)
    fail(ErrorCode::InvalidArgument,
         std::string(what) + " is null, with " + std::to_string(bytes) + " bytes to copy");
}

} // namespace tile::vgpu
