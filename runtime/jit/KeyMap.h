// A flat hash map from keys made of words, so that a launch looks its kernel up without an
// allocation.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/xxhash.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace tile::jit {

/// A key being built; the inline space holds those of eight arguments of rank three.
using KeyWords = llvm::SmallVector<uint64_t, 64>;

/// Maps keys to values that stay where they are. Not synchronised.
template <class T> class KeyMap {
public:
  /// The value, or null.
  T *find(llvm::ArrayRef<uint64_t> key) const {
    auto found = map_.find_as(Probe{key, hash(key)});
    return found == map_.end() ? nullptr : found->second.get();
  }

  /// The value, made by default if there is none.
  T &get(llvm::ArrayRef<uint64_t> key) {
    if (T *found = find(key))
      return *found;
    auto &words =
        keys_.emplace_back(std::make_unique<std::vector<uint64_t>>(key.begin(), key.end()));
    auto &value = map_[Stored{words.get(), hash(key)}];
    value = std::make_unique<T>();
    return *value;
  }

private:
  struct Stored {
    const std::vector<uint64_t> *words; ///< null in slots without a key
    uint64_t hash;
  };
  struct Probe {
    llvm::ArrayRef<uint64_t> words;
    uint64_t hash;
  };
  struct Info {
    static Stored getEmptyKey() { return {nullptr, 0}; }
    static Stored getTombstoneKey() { return {nullptr, 1}; }
    static unsigned getHashValue(const Stored &key) { return static_cast<unsigned>(key.hash); }
    static unsigned getHashValue(const Probe &key) { return static_cast<unsigned>(key.hash); }
    static bool isEqual(const Stored &a, const Stored &b) {
      return a.words == b.words && a.hash == b.hash;
    }
    static bool isEqual(const Probe &a, const Stored &b) {
      return b.words && a.hash == b.hash && a.words == llvm::ArrayRef<uint64_t>(*b.words);
    }
  };

  static uint64_t hash(llvm::ArrayRef<uint64_t> key) {
    return llvm::xxh3_64bits(
        {reinterpret_cast<const uint8_t *>(key.data()), key.size() * sizeof(uint64_t)});
  }

  std::vector<std::unique_ptr<std::vector<uint64_t>>> keys_;
  llvm::DenseMap<Stored, std::unique_ptr<T>, Info> map_;
};

} // namespace tile::jit
