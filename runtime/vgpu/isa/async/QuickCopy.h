// cp.async where nothing is checked, and what helps it in any case.
#pragma once

#include "runtime/vgpu/machine/Launch.h"
#include "runtime/vgpu/machine/OpForm.h"
#include "runtime/vgpu/machine/Warp.h"

namespace tile::vgpu {

/// The operand form of cp.async. Rows: target address, source address{, source size or ignore predicate}.
struct CopyForm {
  enum class Third : uint8_t { None, SourceSize, IgnoresSource };
  uint8_t bytes = 0;
  bool wideSource = false, wideTarget = false; // addresses of 64 bits
  Third third = Third::None;
};

/// Copies for all lanes at once, if no checker and no counter is on and each copies all its bytes. False: it has done nothing.
bool copyUnchecked(Warp &warp, const Op &op);

/// Asks for what all lanes will read, `bytes` at `hostAddressOf(lane)` in the memory of the host. Guesses cost little and never
/// fault.
template <class HostAddressOf>
void prefetchLanes(Warp &warp, uint32_t bytes, HostAddressOf hostAddressOf) {
  constexpr uint32_t kLineBytes = 64;
  const GlobalMemory &memory = warp.cta->launch->memory();
  uintptr_t begin = memory.origin() + kGlobalBase;
  uintptr_t line = 0;
  // Neighbours mostly read what adjoins.
  for (unsigned lane = 0; lane < kLanes; lane += kLineBytes / bytes) {
    uintptr_t where = hostAddressOf(lane);
    if (where / kLineBytes == line)
      continue;
    line = where / kLineBytes;
    __builtin_prefetch(reinterpret_cast<const void *>(where));
    if (warp.shadow)
      memory.valid().prefetch(where - begin);
  }
}

} // namespace tile::vgpu
