#include "frontend/call/ArgFacts.h"

#include <algorithm>
#include <numeric>

namespace tile::frontend {
namespace {

constexpr int64_t kNarrowLimit = int64_t(1) << 31;

// Most steps are powers of two: a division takes as long as all the rest of a fact.
bool isPowerOfTwo(int64_t step) { return (step & (step - 1)) == 0; }
bool isMultiple(int64_t value, int64_t step) {
  return isPowerOfTwo(step) ? (value & (step - 1)) == 0 : value % step == 0;
}
int64_t roundedUp(int64_t value, int64_t step) {
  if (isPowerOfTwo(step))
    return (value + step - 1) & -step;
  return (value + step - 1) / step * step;
}

/// What the tiles of one argument say of its dimensions.
struct TileFacts {
  int64_t divisors[kMaxRank]; ///< of the extents
  int64_t largest[kMaxRank];  ///< how far a masked access computes addresses beyond the extent
};

TileFacts tileFactsOf(const detail::HostArg &arg, int index, std::span<const TileUse> uses) {
  TileFacts facts;
  for (int dim = 0; dim < arg.rank; ++dim) {
    int64_t extent = arg.extents[dim];
    facts.divisors[dim] = extent % 16 == 0 ? 16 : extent % 8 == 0 ? 8 : 1;
    facts.largest[dim] = 1;
  }
  for (const TileUse &use : uses) {
    if (use.arg != index || use.dim >= arg.rank)
      continue;
    int64_t &divisor = facts.divisors[use.dim], &largest = facts.largest[use.dim];
    largest = std::max(largest, use.extent);
    if (isMultiple(arg.extents[use.dim], use.extent)) // most tiles are multiples: lcm is slow
      divisor = isMultiple(use.extent, divisor) ? use.extent : std::lcm(divisor, use.extent);
  }
  return facts;
}

bool needsWide(const detail::HostArg &arg, const TileFacts &tiles) {
  int64_t last = 0;
  for (int dim = 0; dim < arg.rank; ++dim) {
    int64_t reach = roundedUp(std::max<int64_t>(arg.extents[dim], 1), tiles.largest[dim]) - 1;
    int64_t stride = arg.strides[dim], term;
    if (stride >= kNarrowLimit || __builtin_mul_overflow(reach, stride, &term) ||
        __builtin_add_overflow(last, term, &last) || last >= kNarrowLimit)
      return true;
  }
  return false;
}

bool isTensor(const detail::HostArg &arg) { return arg.kind == detail::HostArg::Tensor; }

} // namespace

uint64_t valueOf(std::span<const detail::HostArg> args, ValueUse use) {
  const detail::HostArg &arg = args[use.arg];
  return use.dim < 0 ? arg.bits : static_cast<uint64_t>(arg.extents[use.dim]);
}

ArgFacts factsOf(const detail::HostArg &arg, int index, std::span<const TileUse> uses,
                 bool assume) {
  ArgFacts facts;
  facts.dtype = arg.dtype;
  if (!isTensor(arg))
    return facts;
  facts.rank = arg.rank;
  facts.sameAs = arg.sameAs - 1;
  TileFacts tiles = tileFactsOf(arg, index, uses);
  facts.isWide = needsWide(arg, tiles);
  uint64_t element = sizeOf(arg.dtype);
  facts.alignment = static_cast<int>(assume && isAligned(arg) ? kAlignment : element);
  for (int dim = 0; dim < arg.rank; ++dim) {
    bool isAlignedStride = static_cast<uint64_t>(arg.strides[dim]) * element % kAlignment == 0;
    facts.strideBytesDivisible[dim] =
        static_cast<int64_t>(assume && isAlignedStride ? kAlignment : element);
    facts.extentDivisible[dim] = assume ? tiles.divisors[dim] : 1;
    if (assume && arg.strides[dim] == 1)
      facts.unitStrides |= 1 << dim;
  }
  return facts;
}

} // namespace tile::frontend
