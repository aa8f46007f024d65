// Addresses as messages show them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace tile::vgpu {

/// "0x1000000100".
inline std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

} // namespace tile::vgpu
