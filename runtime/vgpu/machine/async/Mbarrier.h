// mbarrier: barriers in shared memory that count arrivals of threads and bytes of asynchronous copies.
//
// A phase completes when no arrival is pending and no byte is outstanding; the next begins at once. The 8 bytes in memory
// are opaque: the state is kept beside them, so a kernel that reads or writes them as data is caught.
#pragma once

#include "runtime/vgpu/check/Clock.h"
#include "runtime/vgpu/check/ShadowCell.h"

#include <cstdint>
#include <map>
#include <string>

namespace tile::vgpu {

struct Cta;
struct Op;
struct Warp;

struct Mbarrier {
  static constexpr uint32_t kMaxCount = (1u << 20) - 1;

  uint64_t phase = 0;    // completed phases
  uint64_t seen = 0;     // of these, those that a wait has found complete
  uint32_t pending = 0;  // arrivals the phase still waits for
  uint32_t expected = 0; // of the phases to come
  int64_t outstanding = 0;
  unsigned actor = 0;       // what it completes is ordered by this actor, at time phase + 1
  ClockSet arriving;        // of the phase
  ClockSet completed;       // of all phases before
  AccessRecord initialised; // by whom and when
  Warp *lastWarp = nullptr; // who changed `outstanding` last, and how
  const Op *lastOp = nullptr;

  /// The time at which what completes in the present phase becomes known.
  uint32_t time() const { return static_cast<uint32_t>(phase) + 1; }
};

/// The barriers of a block, by shared address.
using Mbarriers = std::map<uint32_t, Mbarrier>;

/// Bytes have arrived. Stops the issuer's block if the barrier at `address` does not exist.
void completeBytes(Warp &issuer, const Op &op, unsigned lane, Cta &owner, uint32_t address,
                   uint32_t bytes);
/// PTX: somebody must have seen each phase end before anybody arrives in the next.
void checkSeen(Warp &warp, const Op &op, unsigned lane, uint32_t address, const Mbarrier &barrier);
/// One arrival, without order: cp.async.mbarrier.arrive.
void arriveSilently(Warp &warp, const Op &op, unsigned lane, Cta &owner, uint32_t address);
/// The barrier at `address`; stops the block if there is none.
Mbarrier &requireMbarrier(Warp &warp, const Op &op, unsigned lane, Cta &owner, uint32_t address);
/// At the end of a block: reports barriers for which bytes were expected that never came, or came unexpected.
void checkBytes(Cta &cta);
/// "mbarrier 0x400 (in phase 3, 1 of 2 arrivals pending, 4096 bytes outstanding)".
std::string describe(uint32_t address, const Mbarrier &barrier);

} // namespace tile::vgpu
