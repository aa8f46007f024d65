// One specialisation of a kernel: what the runtime knows of its arguments before it is traced. No
// MLIR here.
#pragma once

#include <tile/Kernel.h>
#include <tile/Ops.h>

#include <array>
#include <optional>
#include <utility>
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

/// One specialisation of a kernel.
struct Binding {
  std::vector<ArgFacts> args;
  std::vector<int64_t> consts;
  detail::CompileSettings settings;
  TargetInfo target;
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

/// The uses that a kernel made of its arguments while it was traced.
struct ArgumentUses {
  std::vector<TileUse> tiles;               ///< each once, by argument, dimension, extent
  std::vector<ValueUse> values;             ///< each once, in the order in which the kernel asked
  std::vector<int> strides;                 ///< arguments with a stride among the kernel's values
  std::vector<std::pair<int, int>> aliases; ///< that may overlap, sorted, the lower one first
};

/// The number that a scalar argument's bits are.
int64_t integerOf(DType dtype, uint64_t bits);
double floatOf(DType dtype, uint64_t bits);

/// Throws tile::Error, InvalidArgument, where constants, arguments or settings are not those of the kernel.
void checkBinding(const detail::KernelRecord &record, const Binding &binding);

/// The binding of these constants with nothing assumed of the arguments beyond the dtypes and ranks
/// the kernel declares.
Binding bindingFor(const detail::KernelRecord &record, std::span<const int64_t> consts,
                   const detail::CompileSettings &settings = {});

} // namespace tile::frontend
