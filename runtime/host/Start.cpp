#include "runtime/host/Start.h"

#include "base/StackArray.h"
#include "runtime/host/Capture.h"
#include "runtime/host/Room.h"
#include "runtime/launch/Grid.h"
#include "runtime/trace/Span.h"

#include <cstddef>
#include <cstring>
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

} // namespace

void start(const Named &record, const Prepared &prepared, detail::StreamState &stream,
           std::span<const HostArg> args, const detail::LaunchOptions &options, trace::Span &span) {
  const LoadedKernel &kernel = prepared.kernel;
  std::array<int64_t, 3> grid = gridOf(record, kernel, args, options);
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
    return;
  device::Device &device = *stream.owner->device;
  // Little-endian words: a narrow parameter is the low bytes of its word.
  size_t count = kernel.parameters.size();
  base::StackArray<uint64_t, kUsualParameters> words(count);
  base::StackArray<device::Arg, kUsualParameters> block(count + kernel.tensorMaps.size());
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(&words[i], reinterpret_cast<const std::byte *>(args.data()) + kernel.offsets[i],
                sizeof words[i]);
    block[i] = {&words[i], static_cast<size_t>(kernel.parameters[i].bytes)};
  }
  auto zeros = [&] { return stream.owner->zeros(); };
  const MapContext context{record.name, device, zeros};
  for (size_t i = 0; i < kernel.tensorMaps.size(); ++i) {
    const codegen::TensorMapRecipe &recipe = kernel.tensorMaps[i];
    block[count + i] = {
        &prepared.maps.encode(i, recipe, args[static_cast<size_t>(recipe.arg)], context),
        sizeof(device::TensorMap)};
  }
  device::LaunchConfig config =
      shapeOf(kernel, {static_cast<uint32_t>(grid[0]), static_cast<uint32_t>(grid[1]),
                       static_cast<uint32_t>(grid[2])});
  config.programmaticDependent = kernel.waits && stream.overlapsLaunches;
  config.where = options.call;
  if (detail::Capture *capture = detail::captureOf(stream))
    return capture->launch(
        stream, {kernel.function, record.name, config, device::GraphArguments(block)}, args);
  if (span) [[unlikely]]
    describe(span, config, stream.handle);
  detail::withRoom(*stream.owner,
                   [&] { device.launch(kernel.function, config, block, stream.handle); });
}

} // namespace tile::launch
