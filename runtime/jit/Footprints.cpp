#include "runtime/jit/Footprints.h"

#include <algorithm>

namespace tile::jit {
namespace {

using detail::HostArg;
using detail::ParamSpec;

bool isEmpty(const HostArg &arg) {
  return std::find(arg.extents, arg.extents + arg.rank, 0) != arg.extents + arg.rank;
}

uintptr_t bytesOf(const HostArg &arg) {
  int64_t last = 0;
  for (int dim = 0; dim < arg.rank; ++dim)
    last += (arg.extents[dim] - 1) * arg.strides[dim];
  return static_cast<uintptr_t>(last + 1) * sizeOf(arg.dtype);
}

} // namespace

std::vector<Footprint> footprintsOf(const detail::KernelRecord &record,
                                    std::span<const HostArg> args) {
  std::vector<Footprint> footprints;
  size_t param = 0;
  for (const HostArg &arg : args) {
    while (record.params[param].kind == ParamSpec::Const)
      ++param;
    auto kind = record.params[param++].kind;
    if (arg.kind == HostArg::Tensor && !isEmpty(arg))
      footprints.push_back({static_cast<int>(&arg - args.data()),
                            kind == ParamSpec::Out || kind == ParamSpec::InOut, bytesOf(arg)});
  }
  return footprints;
}

} // namespace tile::jit
