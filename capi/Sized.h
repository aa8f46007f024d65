// Structures that grow at their end: a caller compiled with an older header has a shorter one.
#pragma once

#include "capi/Guard.h"

#include <algorithm>
#include <cstring>

namespace tile::capi {

/// What a caller's structure must have at least: its size, to be asked.
template <class T> size_t checkedSize(const T *structure, const char *argument) {
  size_t size = required(structure, argument)->size;
  if (size < sizeof(size_t) || size > (size_t(1) << 16))
    refuse(ErrorCode::InvalidArgument, std::string("'") + argument + "' says that its size is " +
                                           std::to_string(size) +
                                           ": set .size to sizeof of the structure");
  return size;
}

/// Writes what the caller's structure has room for, but its size; what we do not know becomes zeros.
template <class T> void writeSized(T *target, const char *argument, const T &value) {
  size_t size = checkedSize(target, argument);
  auto *bytes = reinterpret_cast<char *>(target);
  std::memset(bytes + sizeof(size_t), 0, size - sizeof(size_t));
  size_t known = std::min(size, sizeof(T));
  std::memcpy(bytes + sizeof(size_t), reinterpret_cast<const char *>(&value) + sizeof(size_t),
              known - sizeof(size_t));
}

/// What a caller gives, zeros where its structure ends. Error: InvalidArgument for fields that we do not know and that
/// are not zero.
template <class T> T readSized(const T *source, const char *argument) {
  T value = {};
  if (!source)
    return value;
  size_t size = checkedSize(source, argument);
  const auto *bytes = reinterpret_cast<const char *>(source);
  std::memcpy(&value, bytes, std::min(size, sizeof(T)));
  if (size > sizeof(T) &&
      std::any_of(bytes + sizeof(T), bytes + size, [](char byte) { return byte != 0; }))
    refuse(ErrorCode::Unsupported, std::string("'") + argument +
                                       "' has fields that this library, version " +
                                       std::to_string(TILE_ABI_VERSION) + ", does not know");
  return value;
}

} // namespace tile::capi
