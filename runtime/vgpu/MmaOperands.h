// The operands of mma.sync, converted once for the instructions that follow each other and use the same registers.
//
// Programs multiply a few fragments of A with a few of B in one long sequence. Within it nothing writes those registers,
// which the decoder finds out, so their converted form can be used again.
#pragma once

#include "runtime/vgpu/Program.h"
#include "runtime/vgpu/TensorCore.h"

#include <algorithm>
#include <span>

namespace tile::vgpu {

/// The conversions of one host thread. They are those of one warp, which ran the operations before `next`.
class MmaOperands {
public:
  /// Called by each mma before the others: forgets all unless `op` continues a sequence of this warp.
  void begin(const Warp &warp, const Op &op);

  template <class Prepared, unsigned Slots> class Cache {
  public:
    void clear() { count_ = oldest_ = 0; }
    /// The operand in these rows; `prepare(Prepared &)` makes it if it is not there. The oldest gives way.
    template <class Prepare> const Prepared &get(std::span<const uint32_t> rows, Prepare prepare) {
      Key key{};
      std::ranges::copy(rows, key.begin());
      for (unsigned slot = 0; slot < count_; ++slot)
        if (keys_[slot] == key)
          return values_[slot];
      unsigned slot = count_ < Slots ? count_++ : oldest_++ % Slots;
      keys_[slot] = key;
      prepare(values_[slot]);
      return values_[slot];
    }

  private:
    using Key = std::array<uint32_t, 2 * kMaxChunks>;
    unsigned count_ = 0, oldest_ = 0;
    Key keys_[Slots];
    Prepared values_[Slots];
  };
  Cache<PreparedA, 8> a;
  Cache<PreparedBlock, 16> b;

private:
  const Warp *warp_ = nullptr;
  const Op *next_ = nullptr;
};

/// Op::imm of an mma: the operation before it is another of the same types and shape, neither has a guard, and its A and B
/// have not been written since the first of the sequence.
constexpr int64_t kContinuesMma = 1;

/// Marks the operations of a decoded kernel with kContinuesMma. Jumps into a sequence need no care: what such a jump reaches
/// is not what the warp's last mma expects next.
void linkMmaSequences(Program &program);

/// The rows that an mma reads as A and B and those it writes; all empty for other operations.
struct MmaRows {
  std::span<const uint32_t> inputs, results;
};
MmaRows mmaRows(const Op &op);

} // namespace tile::vgpu
