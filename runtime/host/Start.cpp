#include "runtime/host/Start.h"

#include "base/StackArray.h"
#include "runtime/device/Caller.h"
#include "runtime/host/Capture.h"
#include "runtime/host/LaunchWorkspace.h"
#include "runtime/host/Room.h"
#include "runtime/launch/Grid.h"
#include "runtime/trace/Span.h"

#include <cstddef>
#include <string>

namespace tile::launch {
namespace {

using detail::HostArg;

/// Of a kernel with eight tensors.
constexpr size_t kUsualParameters = 64;

std::string textOf(device::Dim3 extents) {
  return std::to_string(extents.x) + " x " + std::to_string(extents.y) + " x " +
         std::to_string(extents.z);
}

/// Tells who listens how a kernel is launched.
void describe(trace::Span &span, const device::LaunchConfig &config, device::Stream stream) {
  span.note("blocks", textOf(config.grid));
  span.note("threads", int64_t{config.block.x});
  if (config.cluster.count() > 1)
    span.note("cluster", int64_t{config.cluster.x});
  span.note("shared bytes", int64_t{config.dynamicSharedBytes});
  span.note("stream", int64_t{stream.index});
  if (config.where.line)
    span.note("line", config.where.file + (":" + std::to_string(config.where.line)));
}

/// What the device reads: the bytes of the arguments where they are.
void writeParameters(std::span<const ParameterPlace> places, std::span<const HostArg> args,
                     device::Arg *to) {
  const std::byte *begin = std::as_bytes(args).data();
  for (size_t i = 0; i < places.size(); ++i)
    to[i] = {begin + places[i].offset, places[i].bytes};
}

} // namespace

void start(const Named &record, RecentCall &call, detail::StreamState &stream,
           std::span<const HostArg> args, const detail::LaunchOptions &options, trace::Span &span) {
  const LoadedKernel &kernel = *call.kernel;
  device::Dim3 grid = gridOf(record, kernel, args, options, call.grid);
  if (grid.x == 0 || grid.y == 0 || grid.z == 0)
    return;
  device::Device &device = *stream.owner->device;
  size_t count = kernel.parameters.size();
  base::StackArray<device::Arg, kUsualParameters> block(count + kernel.tensorMaps.size());
  writeParameters(kernel.parameters, args, block.data());
  const LaunchWorkspace workspace(record, kernel, grid.count(), stream);
  workspace.writeParameters(block.data());
  auto zeros = [&] { return stream.owner->zeros(); };
  const MapContext context{record.name, device, zeros};
  for (size_t i = 0; i < kernel.tensorMaps.size(); ++i) {
    const codegen::TensorMapRecipe &recipe = kernel.tensorMaps[i];
    block[count + i] = {
        &call.maps.encode(i, recipe, args[static_cast<size_t>(recipe.arg)], context),
        sizeof(device::TensorMap)};
  }
  device::LaunchConfig config = shapeOf(kernel, grid);
  config.programmaticDependent = kernel.waits && stream.overlapsLaunches;
  const std::shared_ptr<const device::Caller> &caller = device::CallerScope::current();
  config.where = caller ? caller->where : options.call;
  if (detail::Capture *capture = detail::captureOf(stream))
    return capture->launch(
        stream, {kernel.function, record.name, config, device::GraphArguments(block)}, args);
  if (span) [[unlikely]]
    describe(span, config, stream.handle);
  detail::withRoom(*stream.owner,
                   [&] { device.launch(kernel.function, config, block, stream.handle); });
}

} // namespace tile::launch
