// A file in memory, for readers that take a path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace tile::fuzz {

class MemoryFile {
public:
  MemoryFile() : descriptor_(memfd_create("input", 0)) {}
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile &) = delete;

  /// Replaces what the file holds; whether that worked.
  bool write(const uint8_t *data, size_t size) {
    return ftruncate(descriptor_, 0) == 0 &&
           pwrite(descriptor_, data, size, 0) == static_cast<ssize_t>(size);
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

private:
  int descriptor_;
};

} // namespace tile::fuzz
