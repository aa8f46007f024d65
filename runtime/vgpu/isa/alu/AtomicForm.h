// The form of atomic operations.
#pragma once

#include "runtime/vgpu/machine/OpForm.h"
#include "runtime/vgpu/machine/access/Access.h"

namespace tile::vgpu {

struct AtomicForm {
  Space space = Space::Generic;
  MemoryOrder order = MemoryOrder::Relaxed;
  bool isNarrow = false;   // of the scope of the block
  bool isWide = false;     // the address has 64 bits
  bool isExchange = false; // the old value does not matter
  uint8_t vectorBytes = 0; // of all elements together
  uint8_t element = 0;     // of the vector

  AccessKind kind() const { return isNarrow ? AccessKind::NarrowAtomic : AccessKind::Atomic; }
};

} // namespace tile::vgpu
