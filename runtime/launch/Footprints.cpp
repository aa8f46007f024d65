#include "runtime/launch/Footprints.h"

#include "frontend/call/Arguments.h"

namespace tile::launch {
namespace {

using detail::HostArg;

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
  frontend::forEachArgument(record, [&](const detail::ParamSpec &spec, int index) {
    const HostArg &arg = args[static_cast<size_t>(index)];
    if (arg.kind == HostArg::Tensor && !frontend::isEmpty(arg))
      footprints.push_back({index, arg.sameAs ? arg.sameAs - 1 : index, frontend::isWritten(spec),
                            static_cast<uint8_t>(sizeOf(arg.dtype)), bytesOf(arg)});
  });
  return footprints;
}

} // namespace tile::launch
