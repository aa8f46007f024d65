#include "runtime/tune/Key.h"

#include "runtime/cache/Entry.h"
#include "runtime/tune/Shape.h"

#include <tile/Device.h>

#include <bit>
#include <vector>

namespace tile::tune {
namespace {

constexpr int64_t kPieceBytes = 16; // of the widest copies

std::string layoutOf(const HostArg &view) {
  auto bytes = static_cast<int64_t>(sizeOf(view.dtype));
  int unit = -1;
  bool isAligned = reinterpret_cast<uintptr_t>(view.pointer) % kPieceBytes == 0;
  for (int dim = view.rank - 1; dim >= 0; --dim)
    if (view.strides[dim] == 1 && unit < 0)
      unit = dim;
    else if (view.extents[dim] > 1)
      isAligned &= view.strides[dim] * bytes % kPieceBytes == 0;
  return (unit < 0 ? "" : ":" + std::to_string(unit)) + (isAligned ? "+16" : "");
}

std::string wordOf(const HostArg &arg) {
  std::string text = nameOf(arg.dtype);
  if (arg.kind != HostArg::Tensor)
    return text;
  text += "[";
  for (int dim = 0; dim < arg.rank; ++dim)
    text += (dim ? "x" : "") + std::to_string(bucketOf(arg.extents[dim]));
  return text + "]" + layoutOf(arg);
}

} // namespace

int64_t bucketOf(int64_t extent) {
  constexpr int64_t kExact = 8;
  if (extent <= kExact)
    return extent;
  int64_t quarter = int64_t{1} << (std::bit_width(static_cast<uint64_t>(extent - 1)) - 3);
  return (extent + quarter - 1) / quarter * quarter;
}

std::string problemKey(const detail::KernelRecord &record, std::span<const HostArg> args,
                       std::span<const int64_t> constants) {
  std::string text;
  for (const HostArg &arg : args)
    text += (text.empty() ? "" : " ") + wordOf(arg);
  for (const auto &[name, value] : givenConstants(record, constants))
    text += " " + name + "=" + std::to_string(value);
  return text;
}

std::string versionOf(const detail::KernelRecord &record, std::span<const HostArg> args,
                      std::span<const int64_t> constants) {
  const TuningSpace &space = spaceOf(record);
  Config config;
  for (const TuningSpace::Setting &setting : space.settings)
    config.set(setting.name, setting.otherwise);
  std::vector<int64_t> values(constants.begin(), constants.end());
  detail::CompileSettings settings;
  apply(space, config, values, settings);
  // Of arguments without places and values the code does not tell how they are aligned.
  std::vector<HostArg> examples(args.begin(), args.end());
  for (HostArg &arg : examples)
    arg.pointer = nullptr;
  constexpr size_t kDigits = 16;
  try {
    return cache::digestOf(detail::tileIr(record, values, settings, examples)).substr(0, kDigits);
  } catch (const Error &) {
    return {}; // these values need not go together
  }
}

std::string deviceKey(const Device &device) {
  return device.product() + " " + device.target() + " " + std::to_string(device.multiprocessors());
}

} // namespace tile::tune
