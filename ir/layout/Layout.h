// Layout: which element of a tile each register of each thread holds. One algebra for everything.
//
// The idea. Number the registers of a thread, the lanes of a warp, the warps of a block and the
// blocks of a cluster in binary. Nearly every distribution a GPU wants - vectors per thread,
// coalesced rows, tensor core fragments, replicated copies - is then *linear over GF(2)*: every
// input bit, when set, flips a fixed set of coordinate bits, and the element held at (register,
// lane, warp, block) is the XOR of the contributions of the set bits. The contribution of a bit is
// its *basis vector* (one coordinate per tile dimension). A layout is just these vectors, and
// questions about layouts are linear algebra.
//
// First worked table: a 4x8 tile, rows of 4 consecutive elements per thread, 8 lanes.
//
//   input bit    basis (row, column)     what it says
//   register 0   (0, 1)                  the next register holds the next column
//   register 1   (0, 2)
//   lane 0       (0, 4)                  lane 1 continues the row
//   lane 1       (1, 0)
//   lane 2       (2, 0)
//
//   Register 3 of lane 5 = 0b101: (0,1) ^ (0,2) ^ (0,4) ^ (2,0) = row 2, column 7.
//   A zero basis means that the bit only duplicates data: with a lane bit 3 of basis (0, 0), lanes
//   8..15 would hold what lanes 0..7 hold. Stores and atomics are done by the threads whose *free*
//   bits are 0.
//
// Sizes that are not powers of two. Each dimension is 2^k * r with r odd. The linear map serves the
// 2^k parts (the "linear tile"); the odd digits are outermost, live in registers only, and are
// numbered row-major over the dimensions, identically in every layout:
//
//   register R    = oddIndex << registerBits | linear register
//   coordinate[d] = oddDigit[d] << k[d] | linear coordinate[d]
//
// Second worked table: a tile of 6 = 2^1 * 3 elements over 2 lanes; lane bit 0 has basis (1).
//
//               lane 0   lane 1
//   register 0     0        1        odd digit 0
//   register 1     2        3        odd digit 1
//   register 2     4        5        odd digit 2
//
// Because odd digits are the same everywhere, permuting, broadcasting, reducing and converting
// never leave the form; reshape does only if an odd factor would stop being outermost in its
// dimension, and says so.
//
// Conventions. Dimension 0 is the outermost (row-major). An `order` lists dimensions from the
// fastest varying to the slowest: {1, 0} is row-major for a matrix. "Flat" words concatenate the
// linear parts of all dimensions, last dimension in the low bits; functions with Flat in their name
// use them.
#pragma once

#include "base/Refusal.h"
#include "ir/layout/LinearMap.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tile::layout {

/// One entry per tile dimension.
using Shape = std::vector<int64_t>;
using Coords = std::vector<int32_t>;

/// The four kinds of input bits.
enum class In : uint8_t { Register, Lane, Warp, Block };
inline constexpr int kNumIns = 4;
inline constexpr int kLanesPerWarp = 32;
inline constexpr int kLaneBits = 5;

/// Basis vectors per input kind, lowest bit first.
using Bases = std::array<std::vector<Coords>, kNumIns>;

/// A holder of an element.
struct Place {
  int32_t reg = 0, lane = 0, warp = 0, block = 0;
  friend bool operator==(const Place &, const Place &) = default;
};

/// Splits a size into its power of two (as a bit count) and its odd factor.
struct SizeParts {
  int bits;
  int64_t odd;
  friend bool operator==(const SizeParts &, const SizeParts &) = default;
};
SizeParts splitSize(int64_t size);

/// What `Layout::blocked` distributes, per dimension: powers of two (others are rounded down).
struct BlockedSpec {
  std::vector<int64_t> sizePerThread; ///< consecutive elements of a thread
  std::vector<int64_t> lanes;         ///< lanes along each dimension; their product is at most 32
  std::vector<int64_t> warps;         ///< warps along each dimension
  std::vector<int32_t> order;         ///< fastest dimension first
};

class Layout {
public:
  /// The layout of a single element, rank 0, no threads.
  Layout() = default;

  // --- Construction
  // -------------------------------------------------------------------------------

  /// Checks and builds. Refuses (with a sentence in *why) sizes below 1, tiles of more than 2^30
  /// elements, basis vectors of the wrong rank, and coordinates outside the linear part of their
  /// dimension.
  static std::optional<Layout> create(Shape shape, Bases bases, Refusal *why = nullptr);

  /// Spread as asked, for a tile of any size: a dimension smaller than the spec replicates over the
  /// lanes and warps that are left over, a larger one continues in registers. Always 5 lane bits,
  /// and log2(product of warps) warp bits.
  static Layout blocked(const Shape &shape, const BlockedSpec &spec);

  /// The layout for global accesses: along the fastest dimension first a vector of
  /// elementsPerVector per thread, then lanes, then warps, then registers, continuing with the next
  /// dimension of `order`. The vector shrinks while threads would otherwise stay idle. numWarps is
  /// rounded down to a power of two.
  static Layout coalesced(const Shape &shape, const std::vector<int32_t> &order,
                          int64_t elementsPerVector, int64_t numWarps);

  /// Every thread holds the whole tile, registers row-major.
  static Layout replicated(const Shape &shape, int64_t numWarps);

  // --- Queries
  // ------------------------------------------------------------------------------------

  [[nodiscard]] const Shape &shape() const { return dims_; }
  [[nodiscard]] int rank() const { return static_cast<int>(dims_.size()); }
  [[nodiscard]] const Bases &bases() const { return basis_; }
  [[nodiscard]] const std::vector<Coords> &bases(In in) const {
    return basis_[static_cast<size_t>(in)];
  }
  /// log2 of the power-of-two part of each dimension.
  [[nodiscard]] std::vector<int> linearBits() const;
  /// Power-of-two part of each dimension.
  [[nodiscard]] Shape pow2Shape() const;
  /// Odd part of each dimension.
  [[nodiscard]] Shape oddShape() const;
  /// Product of the odd parts: how often the linear tile repeats in registers.
  [[nodiscard]] int32_t oddCount() const;
  [[nodiscard]] int bits(In in) const { return static_cast<int>(bases(in).size()); }
  [[nodiscard]] int registerBits() const { return bits(In::Register); }
  [[nodiscard]] int laneBits() const { return bits(In::Lane); }
  [[nodiscard]] int warpBits() const { return bits(In::Warp); }
  [[nodiscard]] int blockBits() const { return bits(In::Block); }
  [[nodiscard]] int32_t numWarps() const { return int32_t(1) << warpBits(); }
  /// Registers (tile elements) a thread holds, odd repeats included.
  [[nodiscard]] int32_t numRegisters() const { return oddCount() << registerBits(); }

  /// The element held there. Bits beyond the layout's are ignored.
  [[nodiscard]] Coords apply(int32_t reg, int32_t lane = 0, int32_t warp = 0,
                             int32_t block = 0) const;
  /// Contribution of one kind of input to the linear coordinates (no odd digits).
  [[nodiscard]] Coords applyLinear(In in, int32_t value) const;
  /// Odd digits of a register, scaled: what `apply` adds to the linear coordinates.
  [[nodiscard]] Coords oddOffset(int32_t reg) const;
  /// A holder of the element with all free bits zero; nothing if no thread holds it.
  [[nodiscard]] std::optional<Place> locate(const Coords &coords) const;
  /// The register of this thread that holds the element, or nothing. Register maps of any tile
  /// operation follow from it: take the coordinates of the result register, map them back, ask for
  /// the operand's.
  [[nodiscard]] std::optional<int32_t> registerAt(const Coords &coords, int32_t lane = 0,
                                                  int32_t warp = 0, int32_t block = 0) const;

  /// Every element is held by someone.
  [[nodiscard]] bool isSurjective() const;
  /// No element is held twice.
  [[nodiscard]] bool isInjective() const;
  /// Bits that only duplicate data, given all lower bits of the same kind and all bits of the kinds
  /// before it (register < lane < warp < block). The threads whose free lane, warp and block bits
  /// are all zero hold every element exactly once per non-free register.
  [[nodiscard]] uint32_t freeMask(In in) const;
  /// Bits whose basis vector moves along dimension `dim`.
  [[nodiscard]] uint32_t bitsAlong(In in, int dim) const;
  /// Longest power-of-two run of registers 0, 1, 2.. that holds consecutive elements along `dim`,
  /// aligned to the run's length, in every thread: the vector width for memory accesses.
  [[nodiscard]] int32_t consecutiveElements(int dim) const;

  /// "128x64 register[(0,1) (0,2)] lane[...] warp[...]"; empty block lists are left out.
  [[nodiscard]] std::string toString() const;
  friend bool operator==(const Layout &, const Layout &) = default;

  // --- The same map on flat words (for other parts of the algebra)
  // ----------------------------------

  [[nodiscard]] int flatBits() const;
  [[nodiscard]] uint64_t flatten(const Coords &linearCoords) const;
  [[nodiscard]] Coords unflatten(uint64_t word) const;
  /// Columns of one input kind.
  [[nodiscard]] const LinearMap &flatMap(In in) const { return flat_[static_cast<size_t>(in)]; }
  /// All columns: register bits lowest, then lane, warp, block.
  [[nodiscard]] LinearMap flatMap() const;

private:
  /// A coordinate as odd index and flat linear word.
  struct CoordParts {
    int32_t oddIndex;
    uint64_t linear;
  };
  [[nodiscard]] std::optional<CoordParts> splitCoords(const Coords &coords) const;
  [[nodiscard]] uint64_t threadPart(int32_t lane, int32_t warp, int32_t block) const;

  Shape dims_;
  Bases basis_;
  // Derived from the two above, kept because everything asks for them.
  std::vector<SizeParts> parts_;
  std::array<LinearMap, kNumIns> flat_;
};

} // namespace tile::layout
