// The bound on a process's address space, by which a compile that needs too much memory ends by
// itself.
#pragma once

#include <sys/resource.h>

namespace tile::base {

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TILE_HAS_ADDRESS_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define TILE_HAS_ADDRESS_SANITIZER 1
#endif

/// May the address space be bounded? The address sanitizer reserves terabytes of it.
#ifdef TILE_HAS_ADDRESS_SANITIZER
inline constexpr bool kCanBoundAddressSpace = false;
#undef TILE_HAS_ADDRESS_SANITIZER
#else
inline constexpr bool kCanBoundAddressSpace = true;
#endif

/// Bounds the address space of this process. May be called between fork and exec.
inline void boundAddressSpace(rlim_t bytes) {
  rlimit bounds = {bytes, bytes};
  if (kCanBoundAddressSpace)
    setrlimit(RLIMIT_AS, &bounds);
}

} // namespace tile::base
