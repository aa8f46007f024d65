// Fragment layouts: instruction bits first, the tile's remaining bits dealt above them.
#include "ir/layout/Fragments.h"

#include "ir/layout/Log2.h"

#include <algorithm>
#include <cassert>

namespace tile::layout {

std::optional<MmaShape> MmaShape::forElementBits(int bits) {
  switch (bits) {
  case 8:
    return MmaShape{16, 8, 32, 8};
  case 16:
    return MmaShape{16, 8, 16, 16};
  case 32:
    return MmaShape{16, 8, 8, 32};
  case 64:
    return MmaShape{8, 8, 4, 64};
  default:
    return std::nullopt;
  }
}

namespace {

/// Collects basis vectors of a two-dimensional tile.
class Fragment {
public:
  Fragment(int64_t rows, int64_t columns) : shape_{rows, columns} {}

  /// Bits 2^from .. 2^(to-1) along a dimension.
  void add(In in, int dim, int from, int to) {
    for (int bit = from; bit < to; ++bit)
      bases_[static_cast<size_t>(in)].push_back(unit(dim, bit));
  }
  /// What the instruction left of the dimension: first repetitions in registers, then `warpBits` of
  /// warps at the top; returns the warps' vectors, zero where the tile has no bits left.
  std::vector<Coords> addRepetitions(int dim, int instructionBits, int warpBits) {
    int total = splitSize(shape_[static_cast<size_t>(dim)]).bits;
    int used = std::min(warpBits, total - instructionBits);
    add(In::Register, dim, instructionBits, total - used);
    std::vector<Coords> warps;
    for (int bit = 0; bit < warpBits; ++bit)
      warps.push_back(bit < used ? unit(dim, total - used + bit) : Coords{0, 0});
    return warps;
  }
  void addWarps(const std::vector<Coords> &vectors) {
    auto &warps = bases_[static_cast<size_t>(In::Warp)];
    warps.insert(warps.end(), vectors.begin(), vectors.end());
  }
  void replicateWarps(int warpBits) {
    for (int bit = 0; bit < warpBits; ++bit)
      bases_[static_cast<size_t>(In::Warp)].push_back({0, 0});
  }
  std::optional<Layout> finish(Refusal *why) {
    return Layout::create(shape_, std::move(bases_), why);
  }

private:
  static Coords unit(int dim, int bit) {
    Coords vector{0, 0};
    vector[static_cast<size_t>(dim)] = int32_t(1) << bit;
    return vector;
  }
  Shape shape_;
  Bases bases_;
};

} // namespace

namespace {

/// A dimension of a dot, and what an instruction needs it to be a multiple of.
struct DotDim {
  const char *name;
  int64_t size;
  int needed;
};

} // namespace

/// Refuses a dimension whose power-of-two part is smaller than the instruction's.
static Refusal whyNotDivisible(std::initializer_list<DotDim> dims) {
  for (const DotDim &dim : dims)
    if (dim.size < 1 || dim.size % dim.needed != 0)
      return std::string("dot dimension ") + dim.name + " = " + std::to_string(dim.size) +
             " is not a multiple of " + std::to_string(dim.needed) +
             ", the size of one instruction";
  return {};
}

/// Where the bits of k go: those of lanes stand behind the bits of a K width, all others are
/// registers', in ascending order.
struct KBits {
  static constexpr int kOfLanes = 2;
  int packed;      ///< within a 32-bit register
  int instruction; ///< of an instruction's registers, the packed ones among them
  int lane;        ///< the first of the lanes'

  KBits(const MmaShape &mma, int64_t kWidth)
      : packed(mma.bits < 32 ? log2Of(32 / mma.bits) : 0), instruction(log2Of(mma.k) - kOfLanes),
        lane(std::max(packed, log2Of(kWidth))) {}

  /// What an extent of K must be a multiple of.
  [[nodiscard]] int least() const { return 1 << (std::max(instruction, lane) + kOfLanes); }
  /// Of the bits of k that are registers', those from `from` to `to`.
  void addRegisters(Fragment &fragment, int dim, int from, int to) const {
    fragment.add(In::Register, dim, from, std::min(to, lane));
    fragment.add(In::Register, dim, std::max(from, lane) + kOfLanes, to + kOfLanes);
  }
  /// What the instruction leaves of an extent of K.
  void addRepetitions(Fragment &fragment, int dim, int64_t extent) const {
    addRegisters(fragment, dim, instruction, splitSize(extent).bits - kOfLanes);
  }
  void addLanes(Fragment &fragment, int dim) const {
    fragment.add(In::Lane, dim, lane, lane + kOfLanes);
  }
};

/// A: k bits within a register, rows g and the upper half, k halves.
static void addInstructionA(Fragment &fragment, const MmaShape &mma, const KBits &k) {
  k.addRegisters(fragment, 1, 0, k.packed);
  fragment.add(In::Register, 0, 3, log2Of(mma.m));
  k.addRegisters(fragment, 1, k.packed, k.instruction);
  k.addLanes(fragment, 1);
  fragment.add(In::Lane, 0, 0, 3);
}

/// C: column pairs, the upper half of the rows.
static void addInstructionC(Fragment &fragment, int rowBits) {
  fragment.add(In::Register, 1, 0, 1);
  fragment.add(In::Register, 0, 3, rowBits);
  fragment.add(In::Lane, 1, 1, 3);
  fragment.add(In::Lane, 0, 0, 3);
}

std::optional<Layout> accumulatorLayout(const MmaShape &mma, int64_t m, int64_t n, WarpGrid warps,
                                        Refusal *why) {
  if (Refusal indivisible = whyNotDivisible({{"M", m, mma.m}, {"N", n, mma.n}}))
    return refuse(why, std::move(indivisible));
  Fragment fragment(m, n);
  addInstructionC(fragment, log2Of(mma.m));
  std::vector<Coords> columnWarps = fragment.addRepetitions(1, log2Of(mma.n), log2Of(warps.n));
  fragment.addWarps(fragment.addRepetitions(0, log2Of(mma.m), log2Of(warps.m)));
  fragment.addWarps(columnWarps);
  return fragment.finish(why);
}

std::optional<Layout> operandALayout(const MmaShape &mma, int64_t m, int64_t k, WarpGrid warps,
                                     Refusal *why, int64_t kWidth) {
  KBits bits(mma, kWidth);
  if (Refusal indivisible = whyNotDivisible({{"M", m, mma.m}, {"K", k, bits.least()}}))
    return refuse(why, std::move(indivisible));
  Fragment fragment(m, k);
  addInstructionA(fragment, mma, bits);
  bits.addRepetitions(fragment, 1, k);
  fragment.addWarps(fragment.addRepetitions(0, log2Of(mma.m), log2Of(warps.m)));
  fragment.replicateWarps(log2Of(warps.n));
  return fragment.finish(why);
}

std::optional<Layout> operandBLayout(const MmaShape &mma, int64_t k, int64_t n, WarpGrid warps,
                                     Refusal *why, int64_t kWidth) {
  KBits bits(mma, kWidth);
  if (Refusal indivisible = whyNotDivisible({{"K", k, bits.least()}, {"N", n, mma.n}}))
    return refuse(why, std::move(indivisible));
  Fragment fragment(k, n);
  bits.addRegisters(fragment, 0, 0, bits.instruction);
  bits.addLanes(fragment, 0);
  fragment.add(In::Lane, 1, 0, 3);
  bits.addRepetitions(fragment, 0, k);
  fragment.replicateWarps(log2Of(warps.m));
  fragment.addWarps(fragment.addRepetitions(1, log2Of(mma.n), log2Of(warps.n)));
  return fragment.finish(why);
}

// wgmma works on 64 rows, of which warp i of the group holds rows 16 i to 16 i + 15.
static constexpr int kWgmmaRowBits = 6;
static constexpr int kWarpRowBits = 4;

std::optional<Layout> wgmmaAccumulatorLayout(int64_t m, int64_t n, WarpGrid groups, Refusal *why) {
  if (Refusal indivisible = whyNotDivisible({{"M", m, 1 << kWgmmaRowBits}, {"N", n, 8}}))
    return refuse(why, std::move(indivisible));
  Fragment fragment(m, n);
  addInstructionC(fragment, kWarpRowBits);
  fragment.add(In::Warp, 0, kWarpRowBits, kWgmmaRowBits);
  std::vector<Coords> columnGroups = fragment.addRepetitions(1, 3, log2Of(groups.n));
  fragment.addWarps(fragment.addRepetitions(0, kWgmmaRowBits, log2Of(groups.m)));
  fragment.addWarps(columnGroups);
  return fragment.finish(why);
}

std::optional<Layout> wgmmaOperandALayout(int bits, int64_t m, int64_t k, WarpGrid groups,
                                          Refusal *why) {
  std::optional<MmaShape> mma = MmaShape::forElementBits(bits);
  if (!mma || bits == 64)
    return refuse(why, "wgmma has no operands of " + std::to_string(bits) + " bits");
  if (Refusal indivisible = whyNotDivisible({{"M", m, 1 << kWgmmaRowBits}, {"K", k, mma->k}}))
    return refuse(why, std::move(indivisible));
  Fragment fragment(m, k);
  addInstructionA(fragment, *mma, KBits(*mma, 0));
  fragment.add(In::Warp, 0, kWarpRowBits, kWgmmaRowBits);
  fragment.addRepetitions(1, log2Of(mma->k), 0);
  fragment.addWarps(fragment.addRepetitions(0, kWgmmaRowBits, log2Of(groups.m)));
  fragment.replicateWarps(log2Of(groups.n));
  return fragment.finish(why);
}

std::vector<int32_t> instructionStarts(const Layout &layout, int dim, int64_t instructionSize) {
  auto d = static_cast<size_t>(dim);
  uint32_t ofWarps = 0;
  for (const Coords &vector : layout.bases(In::Warp))
    ofWarps |= static_cast<uint32_t>(vector[d]);
  std::vector<int32_t> starts;
  for (int64_t start = 0; start < layout.shape()[d]; start += instructionSize)
    if ((static_cast<uint32_t>(start) & ofWarps) == 0)
      starts.push_back(static_cast<int32_t>(start));
  return starts;
}

// The coordinates along K of the first elements of the instructions of A's registers, in ascending
// order.
static std::vector<int32_t> depthStarts(const Layout &a, const MmaShape &mma) {
  auto k = static_cast<size_t>(a.rank()) - 1;
  std::vector<int32_t> starts;
  for (int32_t reg = 0; reg < a.numRegisters(); reg += mma.elementsA())
    starts.push_back(a.apply(reg)[k]);
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  return starts;
}

Layout batched(const Layout &matrix, int64_t batch, int64_t warps) {
  Bases bases = matrix.bases();
  for (std::vector<Coords> &vectors : bases)
    for (Coords &vector : vectors)
      vector.insert(vector.begin(), 0);
  auto unit = [&](int32_t step) {
    Coords vector(static_cast<size_t>(matrix.rank()) + 1, 0);
    vector[0] = step;
    return vector;
  };
  int total = splitSize(batch).bits, ofWarps = std::min(total, log2Of(warps));
  for (int bit = 0; bit < total - ofWarps; ++bit)
    bases[static_cast<size_t>(In::Register)].push_back(unit(1 << bit));
  for (int bit = 0; bit < log2Of(warps); ++bit)
    bases[static_cast<size_t>(In::Warp)].push_back(
        unit(bit < ofWarps ? 1 << (total - ofWarps + bit) : 0));
  Shape shape = matrix.shape();
  shape.insert(shape.begin(), batch);
  std::optional<Layout> result = Layout::create(std::move(shape), std::move(bases));
  assert(result && "one more dimension keeps a layout well formed");
  return result ? *std::move(result) : Layout();
}

/// Do the shapes belong to one product, of matrices or of batches of them?
static bool areOneDot(const Shape &a, const Shape &b, const Shape &c) {
  if (a.size() != b.size() || a.size() != c.size() || a.size() < 2 || a.size() > 3)
    return false;
  size_t row = a.size() - 2, column = row + 1;
  return a[row] == c[row] && b[column] == c[column] && a[column] == b[row] &&
         (row == 0 || (a[0] == b[0] && a[0] == c[0]));
}

std::optional<std::vector<MmaStep>> mmaSteps(const MmaShape &mma, const Layout &a, const Layout &b,
                                             const Layout &c) {
  if (!areOneDot(a.shape(), b.shape(), c.shape()))
    return std::nullopt;
  int first = c.rank() - 2;
  auto at = [&](int32_t batch, int32_t row, int32_t column) {
    return first ? Coords{batch, row, column} : Coords{row, column};
  };
  std::vector<MmaStep> steps;
  std::vector<int32_t> rows = instructionStarts(c, first, mma.m),
                       columns = instructionStarts(c, first + 1, mma.n),
                       depths = depthStarts(a, mma),
                       batches = first ? instructionStarts(c, 0, 1) : std::vector<int32_t>{0};
  for (int32_t batch : batches)
    for (int32_t k : depths)
      for (int32_t row : rows) {
        std::optional<int32_t> registerA = a.registerAt(at(batch, row, k));
        for (int32_t column : columns) {
          std::optional<int32_t> registerB = b.registerAt(at(batch, k, column));
          std::optional<int32_t> registerC = c.registerAt(at(batch, row, column));
          if (!registerA || !registerB || !registerC)
            return std::nullopt;
          steps.push_back({*registerA, *registerB, *registerC, row, column, k, batch});
        }
      }
  return steps;
}

} // namespace tile::layout
