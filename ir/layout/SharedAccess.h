// How threads that hold a tile in registers reach it in shared memory: vectors, addresses,
// ldmatrix, bank conflicts. Everything follows from composing the register layout with the shared
// layout, which is linear over GF(2) again.
#pragma once

#include "ir/layout/Shared.h"

#include <vector>

namespace tile::layout {

/// Registers that one vector access moves, in address order.
using VectorGroup = std::vector<int32_t>;

/// Splits all registers into vectors of consecutive, aligned shared-memory elements: the widest
/// equal power of two, at most maxVectorBytes, that works for every thread. Groups come in the
/// order of their first register.
std::vector<VectorGroup> vectorGroups(const Layout &regs, const SharedLayout &shared,
                                      int elementBytes, int maxVectorBytes = kMaxVectorBytes);
/// The one of these vectors that moves register `reg`; all have its size.
VectorGroup vectorGroupOf(const Layout &regs, const SharedLayout &shared, int elementBytes,
                          int32_t reg, int maxVectorBytes = kMaxVectorBytes);

/// The element offset of every register of every thread in closed form:
///
///   offset(register, thread) = (toggle[register] ^ XOR of the toggles of the set thread bits)
///                            + addend[register] + sum of the addends of the set thread bits
///
/// so a thread computes its part once and each access is an XOR with a constant and a constant
/// offset (a plain constant offset where toggle[register] shares no bit with `threadToggleBits`).
struct SharedAddress {
  struct Term {
    int64_t toggle, addend;
    friend bool operator==(const Term &, const Term &) = default;
  };
  std::vector<Term> registers; ///< per register
  std::vector<Term> lanes;     ///< per lane bit
  std::vector<Term> warps;     ///< per warp bit

  /// Address bits that some thread bit toggles.
  [[nodiscard]] int64_t threadToggleBits() const;
  [[nodiscard]] int64_t offset(int32_t reg, int32_t lane, int32_t warp) const;
};

/// A part of what the threads add to an offset: `factor` times the XOR of what the set lane and
/// warp bits contribute. Within a part the contributions share no bit, so that their XOR is their
/// sum.
struct ThreadAddend {
  int64_t factor;
  std::vector<int64_t> lanes, warps; ///< per lane bit, per warp bit

  [[nodiscard]] int64_t of(int32_t lane, int32_t warp) const;
};

/// The sum of the addends of the set thread bits, as a machine computes it with the fewest
/// operations. It is one part wherever no two addends share a bit; rows of an odd width (24, 48, 96
/// elements apart) are another, 3 * (8, 16, 32).
std::vector<ThreadAddend> threadAddends(const std::vector<SharedAddress::Term> &lanes,
                                        const std::vector<SharedAddress::Term> &warps);

/// How a register's term joins what its thread has computed: what is XOR-ed to the thread's
/// toggles, and what is added as a constant because no thread bit toggles it.
struct RegisterPart {
  int64_t toggle, addend;
};
RegisterPart registerPart(const SharedAddress::Term &term, int64_t threadToggleBits);

/// Nothing only if two input bits move the same digit of a narrow panel (never for linear shared
/// layouts).
std::optional<SharedAddress> sharedAddress(const Layout &regs, const SharedLayout &shared);

/// An ldmatrix (or stmatrix) that fills a fragment. Lane l of the address-giving lanes (8 per
/// matrix) points at row l & 7 of matrix l >> 3; its row offset follows from `rows` as in
/// SharedAddress.
struct MatrixAccess {
  bool transposed = false;
  int matrices = 1;          ///< per instruction: 1, 2 or 4
  int elementsPerMatrix = 2; ///< registers (elements) of a thread in one matrix
  /// Per matrix: how far its first register is from the instruction's.
  std::vector<int32_t> matrixRegisters;
  std::vector<SharedAddress::Term>
      rows; ///< per bit of the address-giving lane, 5 (unused ones are zero)
  std::vector<SharedAddress::Term> warps; ///< per warp bit
  struct Instruction {
    int32_t firstRegister;
    SharedAddress::Term term;
  };
  std::vector<Instruction> instructions;

  [[nodiscard]] int64_t rowOffset(size_t instruction, int32_t lane, int32_t warp) const;
};

/// Does ldmatrix (plain, or .trans for 16-bit elements) deliver exactly the registers of `regs`?
std::optional<MatrixAccess> matchMatrixAccess(const Layout &regs, const SharedLayout &shared,
                                              int elementBytes);

/// What one warp-wide transfer of the whole tile costs in shared-memory cycles.
struct Wavefronts {
  int64_t instructions = 0; ///< warp-wide accesses
  int64_t ideal = 0;        ///< wavefronts without conflicts
  int64_t actual = 0;
  [[nodiscard]] bool conflictFree() const { return actual == ideal; }
};

/// Wavefronts of all vector accesses of all warps, by the hardware's rule.
Wavefronts bankWavefronts(const Layout &regs, const SharedLayout &shared, int elementBytes,
                          int maxVectorBytes = kMaxVectorBytes);
/// Wavefronts of one vector access of one warp. (Where the shared layout is linear all accesses of
/// all warps cost the same: they differ by an XOR of the address.)
Wavefronts groupWavefronts(const Layout &regs, const SharedLayout &shared, int elementBytes,
                           const VectorGroup &group, int32_t warp);
/// Wavefronts of all ldmatrix accesses of all warps.
Wavefronts matrixWavefronts(const MatrixAccess &access, int numWarps, int elementBytes);

/// The shared layout through which to convert from `source` to `target`: vectors as wide as both
/// sides allow and, for tiles whose linear part fills the banks, no conflicts beyond what differing
/// vector widths force. Both layouts have the same shape.
SharedLayout scratchSwizzle(const Layout &source, const Layout &target, int elementBytes);

} // namespace tile::layout
