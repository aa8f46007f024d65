#include "runtime/jit/Specialize.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string_view>

namespace tile::jit {
namespace {

constexpr int64_t kAlignment = 16;
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

Facts factsOf(const detail::HostArg &arg, int index, std::span<const frontend::TileUse> uses,
              bool assume) {
  Facts facts;
  TileFacts tiles = tileFactsOf(arg, index, uses);
  if (!assume) {
    facts.isWide = needsWide(arg, tiles);
    std::fill(std::begin(facts.extentDivisors), std::end(facts.extentDivisors), 1);
    return facts;
  }
  facts.isAligned = isAligned(arg);
  facts.isWide = needsWide(arg, tiles);
  uint64_t element = sizeOf(arg.dtype);
  for (int dim = 0; dim < arg.rank; ++dim) {
    facts.unitStrides |= (arg.strides[dim] == 1) << dim;
    facts.alignedStrides |= (static_cast<uint64_t>(arg.strides[dim]) * element % kAlignment == 0)
                            << dim;
    facts.extentDivisors[dim] = tiles.divisors[dim];
  }
  return facts;
}

void appendSignature(KeyWords &key, uint64_t kernel, std::span<const detail::HostArg> args,
                     std::span<const int64_t> consts, const detail::CompileSettings &settings) {
  key.push_back(kernel);
  key.push_back(static_cast<uint64_t>(settings.warps) << 32 | consts.size());
  key.push_back(static_cast<uint64_t>(settings.maxRegisters) << 32 |
                static_cast<uint64_t>(settings.occupancy) << 8 | uint64_t(settings.fpFusion) |
                uint64_t(settings.flushDenormals) << 2 | uint64_t(settings.checked) << 3 |
                uint64_t(settings.assume) << 4);
  for (int64_t constant : consts)
    key.push_back(static_cast<uint64_t>(constant));
  for (const detail::HostArg &arg : args)
    key.push_back(uint64_t(arg.sameAs) << 24 | uint64_t(arg.kind) << 16 | uint64_t(arg.dtype) << 8 |
                  arg.rank);
}

void appendFacts(KeyWords &key, std::span<const detail::HostArg> args,
                 std::span<const frontend::TileUse> uses, bool assume) {
  auto next = uses.begin(); // in the order of arguments
  for (size_t i = 0; i < args.size(); ++i) {
    int index = static_cast<int>(i);
    auto own = next;
    while (next != uses.end() && next->arg == index)
      ++next;
    if (!isTensor(args[i]))
      continue;
    Facts facts = factsOf(args[i], index, {own, next}, assume);
    key.push_back(uint64_t(facts.isAligned) | uint64_t(facts.isWide) << 1 |
                  uint64_t(facts.unitStrides) << 8 | uint64_t(facts.alignedStrides) << 16);
    for (int dim = 0; dim < args[i].rank; ++dim)
      key.push_back(static_cast<uint64_t>(facts.extentDivisors[dim]));
  }
}

frontend::Binding bindingOf(std::span<const detail::HostArg> args,
                            std::span<const frontend::TileUse> uses,
                            std::span<const int64_t> consts,
                            const detail::CompileSettings &settings, const TargetInfo &target) {
  frontend::Binding binding;
  binding.consts.assign(consts.begin(), consts.end());
  binding.settings = settings;
  binding.target = target;
  for (size_t i = 0; i < args.size(); ++i) {
    const detail::HostArg &arg = args[i];
    frontend::ArgFacts &out = binding.args.emplace_back();
    out.dtype = arg.dtype;
    if (!isTensor(arg)) {
      if (arg.hasValue)
        out.bits = arg.bits;
      continue;
    }
    out.extents.assign(arg.extents, arg.extents + arg.rank);
    Facts facts = factsOf(arg, static_cast<int>(i), uses, settings.assume);
    int64_t element = static_cast<int64_t>(sizeOf(arg.dtype));
    out.rank = arg.rank;
    out.sameAs = arg.sameAs - 1;
    out.alignment = static_cast<int>(facts.isAligned ? kAlignment : element);
    out.wide = facts.isWide;
    for (int dim = 0; dim < arg.rank; ++dim) {
      if (facts.unitStrides >> dim & 1)
        out.unitStrides.push_back(dim);
      out.strideBytesDivisible.push_back(facts.alignedStrides >> dim & 1 ? kAlignment : element);
      out.extentDivisible.push_back(facts.extentDivisors[dim]);
    }
  }
  return binding;
}

} // namespace tile::jit
