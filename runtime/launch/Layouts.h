// The layouts of a call's arguments as words, for keys.
#pragma once

#include "frontend/call/ArgFacts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tile::launch {

/// What decides of how an argument is read: its kind, dtype and rank, and whether it is the view of another.
inline uint64_t typeWord(const detail::HostArg &arg) {
  return uint64_t(arg.sameAs) << 24 | uint64_t(arg.kind) << 16 | uint64_t(arg.dtype) << 8 |
         arg.rank;
}

/// How many words writeLayouts writes.
inline size_t layoutWords(std::span<const detail::HostArg> args) {
  size_t words = 0;
  for (const detail::HostArg &arg : args)
    words += 1 + 2 * size_t(arg.rank);
  return words;
}

/// Extents and strides of each argument, and whether its address is aligned; returns the end.
inline uint64_t *writeLayouts(uint64_t *to, std::span<const detail::HostArg> args) {
  for (const detail::HostArg &arg : args) {
    *to++ = arg.kind == detail::HostArg::Tensor && frontend::isAligned(arg);
    to = std::copy_n(arg.extents, arg.rank, to);
    to = std::copy_n(arg.strides, arg.rank, to);
  }
  return to;
}

} // namespace tile::launch
