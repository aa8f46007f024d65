// Accesses of lanes to memory: alignment, bounds, translation to the host's memory, and the
// checkers that every access passes.
#pragma once

#include "runtime/vgpu/machine/Warp.h"

#include <optional>

namespace tile::vgpu {

/// The order that a strong access makes beyond its own word.
enum class MemoryOrder : uint8_t { Relaxed, Acquire, Release, AcquireRelease };

/// One memory operation of a warp in one state space.
struct Access {
  Space space = Space::Global;
  uint32_t mask = 0;  // lanes that take part
  uint32_t bytes = 0; // per lane, all elements of a vector together
  // What is counted for `bytes`: of a vector whose elements are accesses of their own all at the first, none at the others.
  std::optional<uint32_t> countedBytes;
  AccessKind kind = AccessKind::Read;
  MemoryOrder order = MemoryOrder::Relaxed; // of strong accesses
  uint64_t address[kLanes];                 // within the space; global addresses are absolute
  uint8_t *host[kLanes];                    // set by resolve() for the lanes of `mask`

  bool isWrite() const { return vgpu::isWrite(kind); }
};

/// Reads `row` (64-bit lanes if `wide`) plus `offset` into `address`.
void readAddresses(Warp &warp, uint32_t row, bool wide, int64_t offset,
                   uint64_t (&address)[kLanes]);

/// "offset 20 of allocation #3 (...)": where an address of the space lies, or what it is nearest
/// to.
std::string describeAddress(Warp &warp, Space space, uint64_t address);

/// Translates all lanes or stops the block with a finding (out of bounds, freed, misaligned).
/// Counts the access.
void resolve(Warp &warp, const Op &op, Access &access);

/// The resolved write has left memory as it was: it is not what another warp may be waiting for.
void takeBackWrite(Warp &warp, const Access &access);

/// For instructions that reach the shared memory of their own block alone: stops the block if a
/// lane of a resolved access names another's, and brings the addresses into the first window.
void requireOwnShared(Warp &warp, const Op &op, Access &access);

/// Stops the block unless [address, address + bytes) lies in one live allocation. Any size, no
/// alignment.
void requireGlobal(Warp &warp, const Op &op, unsigned lane, uint64_t address, uint32_t bytes);

/// Calls `visit(access)` once for each state space that occurs among generic addresses, with
/// resolved lanes.
template <class Visit> void forSpaces(Warp &warp, const Op &op, Access &access, Visit visit);

/// The variable of a block's shared memory that an address lies in, else its offset in all of it.
MemoryLocation sharedLocationOf(const Launch &launch, uint64_t address);

/// Splits off the lanes of `mask` that share the first lane's space, and makes their addresses
/// relative to it.
Space takeSpace(Access &access, uint32_t mask, uint32_t &taken);

/// The map of initialised bytes of a space and the bit of address[lane]; null where everything is
/// initialised.
ValidBits *validBits(Warp &warp, Space space, uint64_t address, unsigned lane, uint64_t &bit);

/// Checks an access for races and, if it is strong, releases and acquires, all before memory
/// changes. `same`: lanes that write what is there already.
void checkRaces(Warp &warp, const Op &op, const Access &access, uint32_t same);

template <class Visit> void forSpaces(Warp &warp, const Op &op, Access &access, Visit visit) {
  if (access.space != Space::Generic) {
    resolve(warp, op, access);
    visit(access);
    return;
  }
  for (uint32_t left = access.mask; left;) {
    access.space = takeSpace(access, left, access.mask);
    left &= ~access.mask;
    resolve(warp, op, access);
    visit(access);
  }
}

} // namespace tile::vgpu
