#include "runtime/jit/Specialize.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <string_view>

namespace tile::jit {
namespace {

constexpr uint64_t kAlignment = 16;
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

TileFacts tileFactsOf(const detail::HostArg &arg, int index,
                      std::span<const frontend::TileUse> uses) {
  TileFacts facts;
  for (int dim = 0; dim < arg.rank; ++dim) {
    int64_t extent = arg.extents[dim];
    facts.divisors[dim] = extent % 16 == 0 ? 16 : extent % 8 == 0 ? 8 : 1;
    facts.largest[dim] = 1;
  }
  for (const frontend::TileUse &use : uses) {
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

/// A field that is not named here does not compile: a setting that is not in the key would give calls the code of
/// others. Numbers have all their bits, each field a place of its own.
std::array<uint64_t, 2> wordsOf(const detail::CompileSettings &settings) {
  auto &[warps, maxRegisters, occupancy, fpFusion, flushDenormals, checked, assume] = settings;
  auto pair = [](uint64_t high, int low) { return high << 32 | static_cast<uint32_t>(low); };
  uint64_t flags = uint64_t(fpFusion) | uint64_t(flushDenormals) << 1 | uint64_t(checked) << 2 |
                   uint64_t(assume) << 3;
  return {pair(static_cast<uint32_t>(warps), maxRegisters), pair(flags, occupancy)};
}

bool isTensor(const detail::HostArg &arg) { return arg.kind == detail::HostArg::Tensor; }

} // namespace

uint64_t valueOf(std::span<const detail::HostArg> args, frontend::ValueUse use) {
  const detail::HostArg &arg = args[use.arg];
  return use.dim < 0 ? arg.bits : static_cast<uint64_t>(arg.extents[use.dim]);
}

detail::CompileSettings withEnvironment(detail::CompileSettings settings) {
  static const bool isChecked = [] {
    const char *value = std::getenv("TILE_CHECKED");
    return value && *value && std::string_view(value) != "0";
  }();
  settings.checked |= isChecked;
  return settings;
}

bool isAligned(const detail::HostArg &arg) {
  return reinterpret_cast<uintptr_t>(arg.pointer) % kAlignment == 0;
}

frontend::ArgFacts factsOf(const detail::HostArg &arg, int index,
                           std::span<const frontend::TileUse> uses, bool assume) {
  frontend::ArgFacts facts;
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

void appendSignature(KeyWords &key, uint64_t kernel, std::span<const detail::HostArg> args,
                     std::span<const int64_t> consts, const detail::CompileSettings &settings) {
  std::array<uint64_t, 2> words = wordsOf(settings);
  size_t size = key.size();
  key.resize_for_overwrite(size + 2 + words.size() + consts.size() + args.size());
  uint64_t *next = key.data() + size;
  *next++ = kernel;
  *next++ = uint64_t(consts.size()) << 32 | args.size();
  next = std::ranges::copy(words, next).out;
  next = std::ranges::copy(consts, next).out;
  for (const detail::HostArg &arg : args)
    *next++ =
        uint64_t(arg.sameAs) << 24 | uint64_t(arg.kind) << 16 | uint64_t(arg.dtype) << 8 | arg.rank;
}

void appendLayouts(KeyWords &key, std::span<const detail::HostArg> args) {
  size_t size = key.size(), words = 0;
  for (const detail::HostArg &arg : args)
    words += 1 + 2 * size_t(arg.rank);
  key.resize_for_overwrite(size + words);
  uint64_t *next = key.data() + size;
  for (const detail::HostArg &arg : args) {
    *next++ = isTensor(arg) && isAligned(arg);
    next = std::copy_n(arg.extents, arg.rank, next);
    next = std::copy_n(arg.strides, arg.rank, next);
  }
}

void appendFacts(KeyWords &key, const frontend::ArgFacts &facts) {
  // As with settings; dtype, rank and sameAs are in the signature, values where the kernel asks for them.
  [[maybe_unused]] auto &[dtype, rank, sameAs, alignment, isWide, unitStrides, strideBytes, extents,
                          bits, values] = facts;
  key.push_back(uint64_t(isWide) | uint64_t(unitStrides) << 8 | uint64_t(alignment) << 32);
  for (int dim = 0; dim < rank; ++dim) {
    key.push_back(static_cast<uint64_t>(strideBytes[dim]));
    key.push_back(static_cast<uint64_t>(extents[dim]));
  }
}

} // namespace tile::jit
