#include "runtime/aot/Needs.h"

#include "frontend/call/Arguments.h"

namespace tile::aot {
namespace {

using detail::HostArg;
using frontend::ArgFacts;

bool isMultiple(int64_t value, int64_t step) { return step <= 1 || value % step == 0; }

/// What one tensor lacks of what is needed of it, without its name.
std::string lack(const ArgFacts &needed, const ArgFacts &actual, const HostArg &arg) {
  auto dimension = [](int dim) { return " of dimension " + std::to_string(dim); };
  if (actual.isWide && !needed.isWide)
    return "reaches beyond 2^31 elements, for which the code has no addresses";
  if (!isMultiple(actual.alignment, needed.alignment))
    return "its address must be a multiple of " + std::to_string(needed.alignment) + " bytes";
  for (int dim = 0; dim < needed.rank; ++dim) {
    if ((needed.unitStrides >> dim & 1) && arg.strides[dim] != 1)
      return "stride" + dimension(dim) + " must be 1, it is " + std::to_string(arg.strides[dim]);
    if (!isMultiple(actual.strideBytesDivisible[dim], needed.strideBytesDivisible[dim]))
      return "stride" + dimension(dim) + " must be a multiple of " +
             std::to_string(needed.strideBytesDivisible[dim]) + " bytes, it is " +
             std::to_string(arg.strides[dim]) + " elements";
    if (!isMultiple(arg.extents[dim], needed.extentDivisible[dim]))
      return "extent" + dimension(dim) + " must be a multiple of " +
             std::to_string(needed.extentDivisible[dim]) + ", it is " +
             std::to_string(arg.extents[dim]);
  }
  return "";
}

/// Arguments that are one view, where the kernel writes it, need code that knows. Such code is for all others as well, and for all
/// arguments of one dtype and rank.
std::string unlikeView(const detail::KernelRecord &record, const ArgFacts &needed, int sameAs) {
  if (sameAs < 0 || needed.sameAs >= 0)
    return "";
  return "is the same view as " + frontend::argumentName(record, sameAs) +
         ", and the code is for tensors of their own: give it memory of its own, or compile the "
         "function without --no-in-place";
}

std::string unlikeValue(const NeededValue &needed, const detail::KernelRecord &record,
                        std::span<const HostArg> args) {
  uint64_t actual = frontend::valueOf(args, needed.use);
  if (actual == needed.value)
    return "";
  std::string name = frontend::argumentName(record, needed.use.arg);
  auto text = [&](uint64_t bits) {
    DType dtype = args[static_cast<size_t>(needed.use.arg)].dtype;
    if (needed.use.dim < 0 && isFloat(dtype))
      return std::to_string(frontend::floatOf(dtype, bits));
    return std::to_string(needed.use.dim < 0 ? frontend::integerOf(dtype, bits)
                                             : static_cast<int64_t>(bits));
  };
  if (needed.use.dim >= 0)
    name += ": extent of dimension " + std::to_string(needed.use.dim);
  return name + " is " + text(actual) + ", and the code is for " + text(needed.value) +
         ": let `tilec aot` compile a function for this one, too";
}

} // namespace

std::string unmetNeed(const Needs &needs, const detail::KernelRecord &record,
                      std::span<const HostArg> args) {
  for (const NeededValue &value : needs.values)
    if (std::string unlike = unlikeValue(value, record, args); !unlike.empty())
      return unlike;
  for (int index = 0; const HostArg &arg : args) {
    const ArgFacts &needed = needs.args[static_cast<size_t>(index)];
    std::string missing = unlikeView(record, needed, arg.sameAs - 1);
    if (missing.empty() && arg.kind == HostArg::Tensor)
      missing = lack(needed, frontend::factsOf(arg, index, needs.tiles), arg);
    if (!missing.empty())
      return frontend::argumentName(record, index) + ": " + missing;
    ++index;
  }
  return "";
}

} // namespace tile::aot
