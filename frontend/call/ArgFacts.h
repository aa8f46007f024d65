// What is known of the arguments of a call when its kernel is compiled.
#pragma once

#include <tile/Kernel.h>

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace tile::frontend {

/// A number for each dimension of a tensor.
using PerDimension = std::array<int64_t, kMaxRank>;

/// What is known of one run-time argument (parameters without Const, in order). For scalars only
/// `dtype` and `bits` count.
struct ArgFacts {
  DType dtype = any;
  int rank = 0;
  int sameAs = -1;     ///< the first argument that is this very view, where one of them is written
  int alignment = 0;   ///< bytes the pointer is divisible by; 0 = unknown
  bool isWide = false; ///< offsets may reach 2^31 elements: 64-bit addressing
  uint8_t unitStrides = 0;                ///< bit d: stride d is 1
  PerDimension strideBytesDivisible = {}; ///< what strides, in bytes, are divisible by; 0 = unknown
  PerDimension extentDivisible = {};      ///< what extents are divisible by; 0 = unknown
  // Values that `specialize` may ask for; those it did ask for are in the key of the specialisation.
  std::optional<uint64_t> bits; ///< of a scalar
  std::vector<int64_t> extents; ///< of a tensor; empty = unknown
};

/// The kernel addresses dimension `dim` of argument `arg` in tiles of `extent`: if the tensor's
/// extent is divisible by it, masks vanish, so the runtime looks and says so in
/// ArgFacts::extentDivisible.
struct TileUse {
  int arg;
  int dim;
  int64_t extent;
  bool operator==(const TileUse &) const = default;
};

/// The kernel asked for the value of an argument: its code is for that value alone.
struct ValueUse {
  int arg;
  int dim; ///< of the extent; -1: the argument is a scalar
  bool operator==(const ValueUse &) const = default;
};

/// The widest access of a thread, in bytes, for which a pointer can be aligned.
constexpr uint64_t kAlignment = 16;
/// Whether the pointer is divisible by that.
inline bool isAligned(const detail::HostArg &arg) {
  return reinterpret_cast<uintptr_t>(arg.pointer) % kAlignment == 0;
}

/// What is known of argument `index`. `uses` are the tiles in which the kernel addresses its arguments: an extent counts
/// as divisible by those of its dimension that divide it, and by 16 or 8. Without `assume` only what decides whether the
/// code is right is told.
ArgFacts factsOf(const detail::HostArg &arg, int index, std::span<const TileUse> uses,
                 bool assume = true);

/// What a kernel that asks for a value gets of these arguments: the bits of a scalar, or an extent.
uint64_t valueOf(std::span<const detail::HostArg> args, ValueUse use);

/// The number that a scalar argument's bits are.
int64_t integerOf(DType dtype, uint64_t bits);
double floatOf(DType dtype, uint64_t bits);

} // namespace tile::frontend
