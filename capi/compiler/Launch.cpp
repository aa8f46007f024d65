// Launches of kernels of libraries: constants and settings by name, arguments by the parameters that they are for.
#include "capi/Argument.h"
#include "capi/Handles.h"
#include "capi/Sized.h"
#include "capi/compiler/LoadedLibrary.h"
#include "runtime/tune/Space.h"

#include <tile/Device.h>
#include <tile/c/Library.h>

#include <algorithm>
#include <string_view>

using namespace tile;
using namespace tile::capi;
using detail::ParamSpec;

namespace {

/// What the constants of a call are.
struct Constants {
  static constexpr size_t kMost = 64;
  int64_t values[kMost] = {};
  uint64_t given = 0; ///< a bit for each

  bool has(size_t place) const { return given >> place & 1; }
};

[[noreturn]] void refuseLaunch(const LoadedKernel &kernel, const std::string &why) {
  refuse(ErrorCode::InvalidArgument, "kernel '" + kernel.record->name + "': " + why);
}

std::string listOf(const std::vector<std::string> &names) {
  std::string list;
  for (const std::string &name : names)
    list += (list.empty() ? "" : ", ") + name;
  return list.empty() ? "none" : list;
}

Constants constantsOf(const LoadedKernel &kernel, const tile_launch_options &options) {
  const std::vector<std::string> &names = kernel.constantNames;
  if (names.size() > Constants::kMost)
    refuseLaunch(kernel, "it has more than 64 constants, which the C API cannot give");
  Constants constants;
  required(options.constants, options.constant_count, "options.constants");
  for (size_t i = 0; i < options.constant_count; ++i) {
    std::string_view name = required(options.constants[i].name, "options.constants[].name");
    auto found = std::ranges::find(names, name);
    if (found == names.end())
      refuseLaunch(kernel, "it has no constant '" + std::string(name) +
                               "'; its constants: " + listOf(names));
    auto place = static_cast<size_t>(found - names.begin());
    if (constants.has(place))
      refuseLaunch(kernel, "constant '" + std::string(name) + "' is given twice");
    constants.values[place] = options.constants[i].value;
    constants.given |= uint64_t{1} << place;
  }
  return constants;
}

constexpr uint32_t kKnownFlags =
    TILE_NO_FP_FUSION | TILE_FLUSH_DENORMALS | TILE_CHECKED | TILE_NO_ASSUME;

detail::LaunchOptions settingsOf(const LoadedKernel &kernel, const tile_launch_options &options) {
  if (options.flags & ~kKnownFlags)
    refuseLaunch(kernel, "options.flags has bits that are none of tile_launch_flags: " +
                             std::to_string(options.flags & ~kKnownFlags));
  detail::LaunchOptions result;
  result.call = here();
  result.compile.maxRegisters = options.max_registers;
  result.compile.fpFusion = !(options.flags & TILE_NO_FP_FUSION);
  result.compile.flushDenormals = options.flags & TILE_FLUSH_DENORMALS;
  result.compile.checked = options.flags & TILE_CHECKED;
  result.compile.assume = !(options.flags & TILE_NO_ASSUME);
  const int64_t *grid = options.grid;
  result.hasGrid = grid[0] || grid[1] || grid[2];
  result.grid[0] = grid[0];
  for (int axis = 1; axis < 3; ++axis)
    result.grid[axis] = grid[axis] ? grid[axis] : 1;
  return result;
}

/// Those that the caller names, over what is tuned.
void applyGiven(detail::CompileSettings &settings, const tile_launch_options &options) {
  if (options.warps)
    settings.warps = options.warps;
  if (options.occupancy)
    settings.occupancy = options.occupancy;
  if (options.max_registers)
    settings.maxRegisters = options.max_registers;
}

/// Whether a constant is given that could have been tuned: then nothing is.
bool givesWhatIsTuned(const detail::TuningSpace &space, const Constants &constants) {
  return std::ranges::any_of(space.settings, [&](const auto &setting) {
    return setting.constant >= 0 && constants.has(static_cast<size_t>(setting.constant));
  });
}

void requireAll(const LoadedKernel &kernel, const Constants &constants) {
  std::vector<std::string> missing;
  for (size_t place = 0; place < kernel.constantNames.size(); ++place)
    if (!constants.has(place))
      missing.push_back(kernel.constantNames[place]);
  if (!missing.empty())
    refuseLaunch(kernel, "it needs its constants: " + listOf(missing));
}

std::vector<HostArg> argumentsOf(const LoadedKernel &kernel, const tile_argument *arguments,
                                 size_t count) {
  const std::vector<std::string> &names = kernel.argumentNames;
  if (count != names.size())
    refuseLaunch(kernel, "it takes " + std::to_string(names.size()) + " arguments (" +
                             listOf(names) + "), got " + std::to_string(count));
  required(arguments, count, "arguments");
  std::vector<HostArg> result;
  result.reserve(count);
  for (const ParamSpec &spec : kernel.record->params) {
    size_t index = result.size();
    if (spec.kind == ParamSpec::Scalar)
      result.push_back(scalarArgument(arguments[index], spec.dtype, names[index].c_str()));
    else if (spec.kind != ParamSpec::Const)
      result.push_back(tensorArgument(arguments[index], names[index].c_str()));
  }
  return result;
}

const Device &deviceOf(const Device &device) { return device; }
Device deviceOf(const Stream &stream) { return stream.device(); }

/// Calls `act(record, place, arguments, constants, options)` with all that a launch on this device or stream has.
template <class Place, class Act>
void withCall(const LoadedKernel &kernel, const Place &place, const tile_launch_options &options,
              std::span<const HostArg> arguments, Act act) {
  const detail::KernelRecord &record = *kernel.record;
  Constants constants = constantsOf(kernel, options);
  const std::span values(constants.values, kernel.constantNames.size());
  detail::LaunchOptions launch = settingsOf(kernel, options);
  if (record.tuning && !givesWhatIsTuned(*record.tuning, constants)) {
    detail::checkArguments(record, arguments);
    detail::chooseTuned(record, deviceOf(place), arguments, {values, constants.given},
                        launch.compile, launch.call);
  } else {
    requireAll(kernel, constants);
  }
  applyGiven(launch.compile, options);
  act(record, place, arguments, values, launch);
}

} // namespace

tile_status tile_kernel_launch(tile_kernel *kernel, tile_stream *stream,
                               const tile_launch_options *options, const tile_argument *arguments,
                               size_t argument_count) {
  return guarded([&] {
    auto object = at(kernel, "kernel");
    auto place = at(stream, "stream");
    withCall(*object, *place, readSized(options, "options"),
             argumentsOf(*object, arguments, argument_count), detail::launch);
  });
}

tile_status tile_kernel_prepare(tile_kernel *kernel, tile_device *device,
                                const tile_launch_options *options, const tile_argument *arguments,
                                size_t argument_count) {
  return guarded([&] {
    auto object = at(kernel, "kernel");
    auto place = at(device, "device");
    withCall(*object, *place, readSized(options, "options"),
             argumentsOf(*object, arguments, argument_count), detail::prepare);
  });
}

tile_status tile_kernel_prepare_for(tile_kernel *kernel, tile_stream *stream,
                                    const tile_launch_options *options,
                                    const tile_argument *arguments, size_t argument_count) {
  return guarded([&] {
    auto object = at(kernel, "kernel");
    auto place = at(stream, "stream");
    withCall(*object, *place, readSized(options, "options"),
             argumentsOf(*object, arguments, argument_count), detail::prepare);
  });
}
