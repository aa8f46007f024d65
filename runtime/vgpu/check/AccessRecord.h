// The record of an access, 8 bytes: its epoch (who, when), lane, instruction and kind.
#pragma once

#include <bit>
#include <cstdint>

namespace tile::vgpu {

/// Kinds of accesses. Strong ones do not race with each other if their scopes cover both; narrow
/// ones have cta scope.
enum class AccessKind : uint8_t {
  Read,
  Write,
  Atomic,
  StrongRead,
  StrongWrite,
  NarrowAtomic,
  NarrowRead,
  NarrowWrite,
  CopyWrite,      // cp.async in flight
  ProxyRead,      // through the async proxy, ordered by the actor that completes it
  ProxyWrite,     // the same
  ProxyReduction, // the same, and atomic: reductions and strong accesses do not race
};
bool isWrite(AccessKind kind);
bool isStrong(AccessKind kind);
/// Strong between the threads of a block alone.
bool isNarrow(AccessKind kind);
/// Strong between all threads of the device, not those of a block alone.
bool isStrongOnDevice(AccessKind kind);
/// Through the async proxy.
bool isProxied(AccessKind kind);

/// One access: `actor` and `clock` are its epoch, `clock` being the actor's time. Empty while it is
/// all zeros.
struct AccessRecord {
  static constexpr unsigned kSeveralLanes = 32;
  static constexpr uint32_t kLastInstruction = (1u << 18) - 1;
  static constexpr uint32_t kLastActor = (1u << 12) - 1;

  uint64_t clock : 24 = 0;
  uint64_t instruction : 18 = 0;
  uint64_t actor : 12 = 0;
  uint64_t lane : 6 = 0;
  uint64_t kindBits : 4 = 0;

  AccessKind kind() const { return static_cast<AccessKind>(kindBits); }
  explicit operator bool() const { return clock != 0; }
  bool operator==(const AccessRecord &other) const { return bits() == other.bits(); }
  uint64_t bits() const { return std::bit_cast<uint64_t>(*this); }
};
static_assert(sizeof(AccessRecord) == 8);

/// Values of kindBits that mark something else in a record's stead: cells that are split, reads
/// that are a list, reads that are ManyReads, chunks that are ChunkParts.
constexpr unsigned kSplit = 15, kPooled = 14, kMany = 13, kInParts = 12;

/// Reads of several warps of one cluster at equal times: the common case of tiles that all warps
/// read. Instruction and kind are where a record has them.
struct ManyReads {
  uint64_t clock : 23 = 0;
  uint64_t proxy : 1 = 0; // all are ProxyRead, else all are Read
  uint64_t instruction : 18 = 0;
  uint64_t mask : 16 = 0; // of actors group * 16 ...
  uint64_t group : 2 = 0;
  uint64_t kindBits : 4 = kMany;
};
static_assert(sizeof(ManyReads) == 8);
/// Makes two single reads one of many if they are alike.
bool mergeReads(AccessRecord &slot, AccessRecord record);

} // namespace tile::vgpu
