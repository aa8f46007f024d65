// Global memory: one reserved range of addresses, in which allocations lie between red zones.
//
// Device addresses are not host addresses: they are translated by a constant offset after a bounds
// check, so no kernel can touch the host. Addresses start at the same value in every process, which
// keeps runs reproducible. Freed blocks are not reused until the range is exhausted, so a use after
// free is recognised.
#pragma once

#include "runtime/vgpu/check/AddressWindows.h"
#include "runtime/vgpu/check/Checks.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tile::vgpu {

/// The last gate before the host's memory: what a kernel can do is reported as a finding long
/// before, so it only stands here by a fault of the virtual GPU's own, which must not become an
/// access to memory that is not the kernel's.
[[noreturn]] void refuseHostAccess(uint64_t address, uint64_t bytes);

/// The host's memory behind a range of a kernel's addresses. Loops take a copy, which stays in
/// registers.
struct HostBytes {
  uint8_t *data;
  uint64_t begin, size; // of the addresses

  /// The bytes [address, address + bytes).
  uint8_t *at(uint64_t address, uint64_t bytes) const {
    uint64_t offset = address - begin;
    if (offset > size || bytes > size - offset) [[unlikely]]
      refuseHostAccess(address, bytes);
    return data + offset;
  }
  /// As above for a constant number of bytes, which leaves one comparison in a loop.
  template <uint64_t Bytes> uint8_t *at(uint64_t address) const {
    uint64_t offset = address - begin;
    if (size < Bytes || offset > size - Bytes) [[unlikely]]
      refuseHostAccess(address, Bytes);
    return data + offset;
  }
};

/// A bitmap with one bit per byte of a memory: set where the byte has been written.
class ValidBits {
public:
  explicit ValidBits(uint64_t *words = nullptr) : words_(words) {}
  /// Up to 16 bits from `at`, which is aligned to the number of bits (1, 2, 4, 8 or 16).
  uint32_t get(uint64_t at, unsigned count) const {
    return static_cast<uint32_t>(words_[at >> 6] >> (at & 63)) & ((1u << count) - 1);
  }
  /// True if all bits of a range of any length are set.
  bool holdsRange(uint64_t begin, uint64_t count) const {
    uint64_t missing = 0;
    for (uint64_t done = 0; done < count; done += 64) {
      uint64_t piece = count - done < 64 ? count - done : 64;
      missing |= getAcross(begin + done, piece) ^ ones(piece);
    }
    return missing == 0;
  }
  /// Atomic, since bytes of several host threads' blocks may share a word.
  void set(uint64_t at, unsigned count, bool valid);
  void setRange(uint64_t begin, uint64_t count, bool valid);
  /// set(at, count, true), where that is often so already.
  void mark(uint64_t at, unsigned count) {
    if (get(at, count) != (1u << count) - 1)
      set(at, count, true);
  }
  /// Asks for the bit at `at`, which may be anywhere.
  void prefetch(uint64_t at) const {
    __builtin_prefetch(reinterpret_cast<const void *>(reinterpret_cast<uint64_t>(words_) + at / 8));
  }
  /// The ranges may overlap.
  void copyRange(uint64_t target, const ValidBits &from, uint64_t source, uint64_t count);
  /// The words from bit `at` on, which begins one.
  uint64_t *words(uint64_t at) { return words_ + at / 64; }

private:
  // `count` ones from bit 0, which is 1 to 64.
  static uint64_t ones(uint64_t count) { return ~uint64_t{0} >> (64 - count); }
  // Up to 64 bits from anywhere.
  uint64_t getAcross(uint64_t at, uint64_t count) const {
    uint64_t bits = words_[at >> 6] >> (at & 63);
    if ((at & 63) + count > 64)
      bits |= words_[(at >> 6) + 1] << (64 - (at & 63));
    return bits & ones(count);
  }

  uint64_t *words_;
};

/// The allocations found last: a kernel goes round a few of them.
class RecentBlocks {
public:
  struct Range {
    uint64_t base = 1, end = 0;
  };
  /// The one that holds `address`; null if none does.
  const Range *of(uint64_t address) const {
    for (const Range &range : ranges_)
      if (address >= range.base && address < range.end)
        return &range;
    return nullptr;
  }
  /// True if [least, most + bytes) lies in one of them.
  bool hold(uint64_t least, uint64_t most, uint64_t bytes) const {
    for (const Range &range : ranges_)
      if (least >= range.base && most < range.end && range.end - most >= bytes)
        return true;
    return false;
  }
  void add(uint64_t base, uint64_t end) { ranges_[next_++ % kRanges] = {base, end}; }

private:
  static constexpr unsigned kRanges = 4;
  Range ranges_[kRanges];
  unsigned next_ = 0;
};

class GlobalMemory {
public:
  struct Block {
    uint64_t base = 0, bytes = 0;
    uint64_t id = 0;
    bool live = true;
    std::string name;        // empty: "allocation #ID"
    bool isVariable = false; // of a module
    std::string title() const;
  };

  explicit GlobalMemory(uint64_t limitBytes);
  ~GlobalMemory();
  GlobalMemory(const GlobalMemory &) = delete;
  GlobalMemory &operator=(const GlobalMemory &) = delete;

  /// Returns 0 if `bytes` do not fit. `variable`: the name of a module's variable, if that is what
  /// it is.
  uint64_t allocate(uint64_t bytes, std::string variable = {});
  /// Makes bytes of an allocation zero; whole pages of the host are given back for it.
  void clear(uint64_t address, uint64_t bytes);
  /// Sets the name that reports use for the live block at `base`. False if there is none.
  bool rename(uint64_t base, std::string name);
  /// The caller has looked the block up: it is live and starts at `base`.
  void release(uint64_t base);
  /// The block, live or freed, that holds `address` or whose red zone does; null far from any.
  const Block *near(uint64_t address) const;
  /// The live block that holds `address`, or null.
  const Block *find(uint64_t address) const;
  /// The bytes [address, address + bytes) in the host's memory.
  uint8_t *host(uint64_t address, uint64_t bytes) const {
    return HostBytes{bytes_, kGlobalBase, reserved_}.at(address, bytes);
  }
  /// Where address 0 would be, for sums with addresses that are known to lie in an allocation, and
  /// for hints.
  uintptr_t origin() const { return reinterpret_cast<uintptr_t>(bytes_) - kGlobalBase; }
  bool contains(uint64_t address) const { return address - kGlobalBase < reserved_; }
  /// Indexed by address - kGlobalBase.
  ValidBits &valid() { return valid_; }
  const ValidBits &valid() const { return valid_; }
  /// Marks bytes, which begin at kGlobalBase + offset, as not written; untouched pages of a huge
  /// range stay untouched.
  void invalidate(uint64_t offset, uint64_t bytes);
  uint64_t usedBytes() const { return used_; }
  uint64_t limitBytes() const { return limit_; }
  /// The size of the range of addresses, from kGlobalBase on.
  uint64_t reservedBytes() const { return reserved_; }

  /// "12 bytes past the end of allocation #3 (4096 bytes at 0x1000000100)".
  std::string describe(uint64_t address) const;
  /// The allocation that describe() names, and the offset in it.
  MemoryLocation locationOf(uint64_t address) const;

private:
  uint64_t findRoom(uint64_t span);

  uint8_t *bytes_ = nullptr;
  uint64_t *validWords_ = nullptr;
  ValidBits valid_;
  uint64_t reserved_ = 0, limit_ = 0, used_ = 0;
  uint64_t nextOffset_ = 256, nextId_ = 1;
  std::map<uint64_t, Block> blocks_; // by base
};

} // namespace tile::vgpu
