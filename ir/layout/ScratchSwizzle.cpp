// The conflict-free scratch layout of a conversion, constructed rather than searched.
//
// Address bits are a choice of basis of the tile's coordinate space. The lowest ones enumerate a
// vector; the next ones select the bank; the rest ("rows" of 128 bytes) are free of conflicts
// however many are touched. One phase of a side's access touches the span Q of its vector and of
// the lanes of one phase. It meets no bank twice exactly if no difference of two of its elements
// lies in the row space H (elements of one 4-byte word aside). So H has to be a complement of both
// Q's at once, and over a field two subspaces of equal dimension always have a common complement:
// with Q1 = I + <a_i>, Q2 = I + <b_i> it is spanned by the a_i + b_i and whatever lies outside Q1 +
// Q2. (H must also stay clear of the vectors themselves; if the two sides move vectors of different
// width, that may leave no complement large enough, and the candidates are compared by their cost.)
#include "ir/layout/SharedAccess.h"

#include "ir/layout/Log2.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace tile::layout {

using Vectors = std::vector<uint64_t>;

static Vectors concatenate(std::initializer_list<const Vectors *> lists) {
  Vectors result;
  for (const Vectors *list : lists)
    result.insert(result.end(), list->begin(), list->end());
  return result;
}

/// The first vectors of `candidates` (at most `limit`) that are independent of `span` and each
/// other.
static Vectors extend(Subspace span, const Vectors &candidates, size_t limit = SIZE_MAX) {
  Vectors result;
  for (uint64_t vector : candidates)
    if (result.size() < limit && span.insert(vector))
      result.push_back(vector);
  return result;
}

/// Clears the leading bits of the vectors' span from all others, so that they do not start inside a
/// vector.
static Vectors clearOf(const Vectors &vectors, Vectors others) {
  for (uint64_t row : Subspace(vectors).basis())
    for (uint64_t &other : others)
      if (other & std::bit_floor(row))
        other ^= row;
  return others;
}

namespace {

/// One side of the round trip: the vector it moves and the lanes of one phase.
struct Side {
  Vectors vector, phase;

  Side(const Layout &layout, Vectors vectorBasis, int elementBytes)
      : vector(std::move(vectorBasis)) {
    int64_t words = std::max<int64_t>(1, (int64_t(elementBytes) << vector.size()) / kBankBytes);
    Vectors lanes = layout.flatMap(In::Lane).columns();
    auto count = std::min<size_t>(lanes.size(), static_cast<size_t>(kLaneBits - log2Of(words)));
    phase.assign(lanes.begin(), lanes.begin() + static_cast<std::ptrdiff_t>(count));
  }
  [[nodiscard]] Vectors touched() const { return concatenate({&vector, &phase}); }
};

} // namespace

/// A common complement of two subspaces (both inside the span of `space`, all given by bases), and
/// what is left of the larger one: `lines` + `rows` is a basis of the space.
struct Split {
  Vectors lines, rows;
};
static Split splitSpace(const Vectors &space, const Vectors &q1, const Vectors &q2) {
  Vectors common = intersect(q1, q2);
  Vectors a = extend(Subspace(common), q1), b = extend(Subspace(common), q2);
  Split split;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    split.rows.push_back(a[i] ^ b[i]);
  for (uint64_t outside : extend(Subspace(concatenate({&common, &a, &b})), space))
    split.rows.push_back(outside);
  split.lines = extend(Subspace(split.rows), concatenate({&common, &a, &b}));
  return split;
}

/// Address bits as flat words, lowest first. `large` is the wider of the two vectors and begins
/// with the narrower one.
static Vectors addressBasis(const Vectors &large, const Side &source, const Side &target,
                            int flatBits, int elementBytes) {
  Vectors units = LinearMap::identity(flatBits).columns();
  auto wordBits = static_cast<size_t>(log2Of(kBankBytes / elementBytes));
  Vectors common = intersect(source.phase, target.phase);
  Vectors inWord = concatenate({&large, &common, &source.phase, &target.phase, &units});
  Vectors low = extend(Subspace(), inWord, std::max(wordBits, large.size()));
  Vectors word(low.begin(),
               low.begin() + static_cast<std::ptrdiff_t>(std::min(wordBits, low.size())));

  // All higher address bits stay clear of the vector, or a thread would start in the middle of one.
  Vectors space = extend(Subspace(), clearOf(low, units));
  auto touchedAbove = [&](const Side &side) {
    Vectors touched = side.touched();
    return intersect(concatenate({&touched, &word}), space);
  };
  Split split = splitSpace(space, touchedAbove(source), touchedAbove(target));
  return concatenate({&low, &split.lines, &split.rows});
}

static SharedLayout fromAddressBasis(const Shape &shape, const Vectors &basis, int flatBits) {
  std::vector<int> panelBits;
  for (int64_t size : shape)
    panelBits.push_back(splitSize(size).bits);
  std::vector<int64_t> strides(shape.size());
  int64_t stride = int64_t(1) << flatBits;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= splitSize(shape[d]).odd;
  }
  std::optional<LinearMap> offsets = LinearMap(basis).invert(flatBits);
  assert(offsets && "address bits are a basis of the tile");
  auto result = SharedLayout::create(shape, panelBits, offsets.value_or(LinearMap()), strides);
  return result.value_or(SharedLayout());
}

/// Cycles of one warp for one side: accesses issued plus wavefronts served.
static int64_t warpCost(const Layout &layout, const SharedLayout &shared, int elementBytes) {
  VectorGroup group = vectorGroupOf(layout, shared, elementBytes, 0);
  Wavefronts one = groupWavefronts(layout, shared, elementBytes, group, 0);
  int64_t accesses = layout.numRegisters() / static_cast<int64_t>(group.size());
  return accesses * (one.instructions + one.actual);
}

/// Widens a vector that begins with `prefix` to at most `limit` bits of the layout's registers.
/// Bits along which the other side's lanes walk come first: those lanes then read neighbouring
/// words of one vector, which cannot conflict.
static Vectors widen(const Vectors &prefix, const Layout &layout, const Layout &other,
                     size_t limit) {
  Vectors registers = layout.flatMap(In::Register).columns();
  Vectors walked = intersect(registers, other.flatMap(In::Lane).columns());
  Vectors preferred = concatenate({&walked, &registers});
  Vectors more = extend(Subspace(prefix), preferred, limit - prefix.size());
  return concatenate({&prefix, &more});
}

SharedLayout scratchSwizzle(const Layout &source, const Layout &target, int elementBytes) {
  int flatBits = source.flatBits();
  auto maxVector = static_cast<size_t>(log2Of(kMaxVectorBytes / elementBytes));
  Vectors both = extend(
      Subspace(),
      intersect(source.flatMap(In::Register).columns(), target.flatMap(In::Register).columns()),
      maxVector);
  Vectors sourceWide = widen(both, source, target, maxVector);
  Vectors targetWide = widen(both, target, source, maxVector);
  struct Candidate {
    const Vectors *sourceVector, *targetVector, *large;
  };
  const Candidate candidates[] = {
      {&both, &both, &both}, {&sourceWide, &both, &sourceWide}, {&both, &targetWide, &targetWide}};
  std::optional<SharedLayout> best;
  int64_t bestCost = 0;
  for (const Candidate &candidate : candidates) {
    Side from(source, *candidate.sourceVector, elementBytes);
    Side to(target, *candidate.targetVector, elementBytes);
    Vectors basis = addressBasis(*candidate.large, from, to, flatBits, elementBytes);
    SharedLayout shared = fromAddressBasis(source.shape(), basis, flatBits);
    int64_t cost = warpCost(source, shared, elementBytes) + warpCost(target, shared, elementBytes);
    if (!best || cost < bestCost) {
      best = std::move(shared);
      bestCost = cost;
    }
  }
  return *std::move(best);
}

} // namespace tile::layout
