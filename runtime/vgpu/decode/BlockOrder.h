// The order in which a function's basic blocks are laid out: every loop before its exits, otherwise reverse post-order.
//
// Warps run diverged lanes with the lowest program counter first, so this order alone makes lanes meet again at the first
// block all of them pass: lanes that left a loop wait for those still in it.
#pragma once

#include "runtime/vgpu/ptx/Ptx.h"

namespace tile::vgpu {

class Decoder;

struct BlockOrder {
  struct Block {
    uint32_t begin, end; // instruction range
    bool fallsThrough;   // the last instruction may continue at `end`
  };
  std::vector<Block> blocks;
};

BlockOrder orderBlocks(const Function &function);

/// Emits an unconditional jump to an instruction of the current function.
void emitJump(Decoder &decoder, uint32_t target);

} // namespace tile::vgpu
