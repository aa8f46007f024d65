// Numbers by which kernels and callables are told apart for as long as the process runs.
#pragma once

#include "base/ForkLocks.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

namespace tile::frontend {

/// A number that nothing else has.
inline uint64_t freshId() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

/// Gives equal keys equal numbers. `Key` is a type that no other caller uses, since the numbers belong to the type.
template <class Key> uint64_t idOfKey(const Key &key) {
  static auto &mutex = *new base::ForkMutex;
  static auto &ids = *new std::map<Key, uint64_t>;
  std::lock_guard lock(mutex);
  uint64_t &id = ids[key];
  if (id == 0)
    id = freshId();
  return id;
}

} // namespace tile::frontend
