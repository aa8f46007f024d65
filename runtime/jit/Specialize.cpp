#include "runtime/jit/Specialize.h"

#include "base/Environment.h"

#include <algorithm>

namespace tile::jit {

// A field that is not named here does not compile: a setting that is not in the key would give calls the code of others.
// Numbers have all their bits, each field a place of its own.
std::array<uint64_t, 2> wordsOf(const detail::CompileSettings &settings) {
  auto &[warps, maxRegisters, occupancy, fpFusion, flushDenormals, checked, assume] = settings;
  auto pair = [](uint64_t high, int low) { return high << 32 | static_cast<uint32_t>(low); };
  uint64_t flags = uint64_t(fpFusion) | uint64_t(flushDenormals) << 1 | uint64_t(checked) << 2 |
                   uint64_t(assume) << 3;
  return {pair(static_cast<uint32_t>(warps), maxRegisters), pair(flags, occupancy)};
}

/// What decides of how an argument is read: its kind, dtype and rank, and whether it is the view of another.
static uint64_t typeWord(const detail::HostArg &arg) {
  return uint64_t(arg.sameAs) << 24 | uint64_t(arg.kind) << 16 | uint64_t(arg.dtype) << 8 |
         arg.rank;
}

detail::CompileSettings withEnvironment(detail::CompileSettings settings) {
  static const bool isChecked = base::environmentFlag("TILE_CHECKED");
  settings.checked |= isChecked;
  return settings;
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
    *next++ = typeWord(arg);
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
