// One specialisation of a kernel: what the runtime knows of its arguments before it is traced. No
// MLIR here.
#pragma once

#include <tile/Kernel.h>
#include <tile/Ops.h>

#include <optional>
#include <utility>
#include <vector>

namespace tile::frontend {

/// What is known of one run-time argument (parameters without Const, in order). For scalars only
/// `dtype` counts.
struct ArgFacts {
  DType dtype = any;
  int rank = 0;
  int alignment = 0;                         ///< bytes the pointer is divisible by; 0 = unknown
  std::vector<int> unitStrides;              ///< dimensions of stride 1
  std::vector<int64_t> strideBytesDivisible; ///< per dimension; empty = unknown
  std::vector<int64_t> extentDivisible;      ///< per dimension, 1 = unknown; empty = all unknown
  bool wide = false;                         ///< 64-bit addressing
  int sameAs = -1; ///< the first argument that is this very view, where one of them is written
  // What `specialize` may ask for; what it did ask for is in the key of the specialisation.
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

/// What a kernel did with its arguments while it was traced.
struct ArgumentUses {
  std::vector<TileUse> tiles;               ///< each once, by argument, dimension, extent
  std::vector<ValueUse> values;             ///< each once, in the order in which the kernel asked
  std::vector<std::pair<int, int>> aliases; ///< that may overlap, sorted, the lower one first
};

/// "arg 2 'b'", or "arg 2" if the kernel does not name its parameters. Counts arguments of the call
/// from 1.
std::string argumentName(const detail::KernelRecord &record, int index);
/// Throws what is wrong with an argument of a call, at the line of the call if that is known.
[[noreturn]] void refuseArgument(const detail::KernelRecord &record, const std::string &what,
                                 ErrorCode code = ErrorCode::InvalidArgument, Loc call = {});

/// The number that a scalar argument's bits are.
int64_t integerOf(DType dtype, uint64_t bits);
double floatOf(DType dtype, uint64_t bits);

/// The binding of these constants with nothing assumed of the arguments beyond the dtypes and ranks
/// the kernel declares.
Binding bindingFor(const detail::KernelRecord &record, std::span<const int64_t> consts,
                   const detail::CompileSettings &settings = {});

} // namespace tile::frontend
