// detail::launch and detail::prepare, the way from a kernel's call to the device: check, look up,
// pack, go.
#include "runtime/host/Launch.h"

#include "runtime/host/Capture.h"
#include "runtime/jit/Call.h"
#include "runtime/jit/Jit.h"
#include "runtime/jit/Overlap.h"
#include "runtime/jit/RecentCalls.h"
#include "runtime/trace/Span.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace tile {
namespace {

using detail::HostArg;
using detail::KernelRecord;
using jit::LoadedKernel;

constexpr int64_t kMaxGrid[3] = {std::numeric_limits<int32_t>::max(), 65535, 65535};

int64_t symbolValue(codegen::GridExpression::Symbol symbol, std::span<const HostArg> args) {
  const HostArg &arg = args[symbol.arg];
  if (symbol.dim >= 0)
    return arg.extents[symbol.dim];
  return frontend::integerOf(arg.dtype, arg.bits);
}

/// The name and line by which messages know a kernel.
struct Named {
  const std::string &name;
  Loc where;
};

// Of a persistent kernel: no more than run at once, and of those as few as need no more rounds. Fewer contend less for memory.
int64_t fewestPrograms(int64_t tiles, int64_t atOnce) {
  if (tiles <= atOnce)
    return tiles;
  int64_t rounds = (tiles + atOnce - 1) / atOnce;
  return (tiles + rounds - 1) / rounds;
}

std::array<int64_t, 3> gridOf(const Named &record, const LoadedKernel &kernel,
                              std::span<const HostArg> args, const detail::LaunchOptions &options) {
  if (options.hasGrid)
    return {options.grid[0], options.grid[1], options.grid[2]};
  if (!kernel.grid.isDerived() && kernel.mostPrograms > 0)
    return {kernel.mostPrograms, 1, 1};
  if (!kernel.grid.isDerived())
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "kernel '" + record.name +
                    "' has no grid helper: give its grid, as in .grid(n)(stream, ...)",
                record.where);
  llvm::SmallVector<int64_t, 16> values;
  for (codegen::GridExpression::Symbol symbol : kernel.grid.symbols())
    values.push_back(symbolValue(symbol, args));
  std::array<int64_t, 3> grid = kernel.grid.evaluate(values);
  if (kernel.mostPrograms > 0)
    grid[0] = fewestPrograms(grid[0], kernel.mostPrograms);
  return grid;
}

void checkGrid(const Named &record, const std::array<int64_t, 3> &grid) {
  for (int axis = 0; axis < 3; ++axis)
    if (grid[axis] < 0 || grid[axis] > kMaxGrid[axis])
      throw Error(Fault::User, ErrorCode::InvalidShape,
                  "the grid of kernel '" + record.name + "' has " + std::to_string(grid[axis]) +
                      " programs along " + "xyz"[axis] + ", between 0 and " +
                      std::to_string(kMaxGrid[axis]) +
                      " are possible: use larger tiles, or fold this axis into x",
                  record.where);
}

/// A kernel and the tensor maps of its calls of this form.
struct Prepared {
  const LoadedKernel &kernel;
  jit::TensorMaps &maps;
};

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

void start(const Named &record, const Prepared &prepared, detail::StreamState &stream,
           std::span<const HostArg> args, const detail::LaunchOptions &options, trace::Span &span) {
  const LoadedKernel &kernel = prepared.kernel;
  std::array<int64_t, 3> grid = gridOf(record, kernel, args, options);
  grid[0] *= kernel.blocks;
  checkGrid(record, grid);
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
    return;
  device::Device &device = *stream.owner->device;
  // Little-endian words: a narrow parameter is the low bytes of its word.
  size_t count = kernel.parameters.size();
  llvm::SmallVector<uint64_t, 64> words;
  llvm::SmallVector<device::Arg, 64> block;
  words.resize_for_overwrite(count), block.resize_for_overwrite(count);
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(&words[i], reinterpret_cast<const std::byte *>(args.data()) + kernel.offsets[i],
                sizeof words[i]);
    block[i] = {&words[i], static_cast<size_t>(kernel.parameters[i].bytes)};
  }
  auto zeros = [&] { return stream.owner->jit->zeros(); };
  const jit::MapContext context{record.name, device, zeros};
  for (auto [i, recipe] : llvm::enumerate(kernel.tensorMaps))
    block.push_back(
        {&prepared.maps.encode(i, recipe, args[static_cast<size_t>(recipe.arg)], context),
         sizeof(device::TensorMap)});
  device::LaunchConfig config =
      shapeOf(kernel, {static_cast<uint32_t>(grid[0]), static_cast<uint32_t>(grid[1]),
                       static_cast<uint32_t>(grid[2])});
  config.where = options.call;
  if (detail::Capture *capture = detail::captureOf(stream))
    return capture->launch(
        stream, {kernel.function, record.name, config, device::GraphArguments(block)}, args);
  if (span) [[unlikely]]
    describe(span, config, stream.handle);
  device.launch(kernel.function, config, block, stream.handle);
}

// A compiled kernel says no more of its arguments than which parts of each it takes.
void checkParts(const codegen::CompiledKernel &kernel, std::span<const HostArg> args) {
  using Kind = codegen::Parameter::Kind;
  auto refuse = [&](int arg, const std::string &why) {
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "argument " + std::to_string(arg + 1) + " of '" + kernel.name + "': " + why);
  };
  int32_t expected = 0;
  for (const codegen::Parameter &parameter : kernel.parameters) {
    expected = std::max(expected, parameter.arg + 1);
    if (static_cast<size_t>(parameter.arg) >= args.size())
      refuse(parameter.arg, "is missing");
    const HostArg &arg = args[parameter.arg];
    bool isTensor = arg.kind == HostArg::Tensor;
    if (isTensor == (parameter.kind == Kind::Scalar))
      refuse(parameter.arg, isTensor ? "a number is expected" : "a tensor is expected");
    if (isTensor && parameter.kind != Kind::Pointer && parameter.dim >= arg.rank)
      refuse(parameter.arg, "more than " + std::to_string(arg.rank) + " dimensions are expected");
    if (!isTensor && sizeOf(arg.dtype) != static_cast<size_t>(parameter.bytes))
      refuse(parameter.arg,
             "a number of " + std::to_string(parameter.bytes) + " bytes is expected");
  }
  if (args.size() > static_cast<size_t>(expected))
    refuse(expected, "there is no such argument");
}

} // namespace

void jit::launchCompiled(const Device &device, const codegen::CompiledKernel &kernel,
                         std::span<const HostArg> args, const detail::LaunchOptions &options) {
  checkParts(kernel, args);
  Stream stream = device.stream();
  std::unique_ptr<LoadedKernel> loaded = device.state()->jit->load(kernel, kernel.name, {});
  jit::TensorMaps maps(loaded->tensorMaps.size());
  {
    trace::Span span("launch", kernel.name);
    start({kernel.name, {}}, {*loaded, maps}, stream.state(), args, options, span);
  }
  stream.synchronize();
}

/// Does what a call asks for. What is wrong with its arguments is at its line; what is wrong with the kernel is at a line
/// of the kernel, and says where the call is.
template <class Act> static void forCall(Loc call, Act act) {
  try {
    act();
  } catch (const Error &error) {
    if (!call.line)
      throw;
    std::vector<std::string> notes = error.notes();
    if (error.file().empty())
      throw Error(error.fault(), error.code(), error.message(), call, std::move(notes));
    notes.push_back("called at " + std::string(call.file) + ":" + std::to_string(call.line));
    throw Error(error.fault(), error.code(), error.message(), {error.file().c_str(), error.line()},
                std::move(notes));
  }
}

/// The kernel for a call, after all checks of its arguments; `fresh` are the maps of one that is not remembered.
/// `stream` is where it will be launched, if it will.
static Prepared kernelFor(jit::Call &call, detail::DeviceState &device, jit::TensorMaps &fresh,
                          const detail::StreamState *stream = nullptr) {
  jit::RecentCalls &recent = jit::RecentCalls::ofThread();
  auto aliases = [&] { return device.jit->aliases(call); };
  const frontend::CallDevice callDevice{device.id, device.name};
  if (jit::RecentCall *known = recent.find(call.layout(device.id))) {
    call.checkAddresses(known->footprints, callDevice);
    jit::refuseOverlap(call, known->footprints, aliases);
    return {*known->kernel, known->maps};
  }
  call.check(callDevice);
  std::vector<jit::Footprint> footprints = jit::footprintsOf(call.record(), call.args());
  jit::refuseOverlap(call, footprints, aliases);
  if (stream && stream->isExternal && !device.jit->isLoaded(call))
    detail::refuseIfOthersCapture(
        *stream, "kernel '" + call.record().name + "' would be compiled and loaded",
        "call it once before, or prepare() it");
  const LoadedKernel &kernel = device.jit->get(call);
  jit::TensorMaps maps(kernel.tensorMaps.size());
  if (!kernel.isForNumbers)
    return {kernel,
            recent.add(call.layout(device.id), {&kernel, std::move(footprints), std::move(maps)})
                ->maps};
  fresh = std::move(maps);
  return {kernel, fresh};
}

void detail::launch(const KernelRecord &record, const Stream &stream, std::span<const HostArg> args,
                    std::span<const int64_t> consts, const LaunchOptions &options) {
  forCall(options.call, [&] {
    trace::Span span("launch", record.name);
    StreamState &state = stream.state();
    jit::Call call(record, args, consts, options.compile);
    jit::TensorMaps fresh;
    Prepared prepared = kernelFor(call, *state.owner, fresh, &state);
    start({record.name, record.where}, prepared, state, args, options, span);
  });
}

void detail::prepare(const KernelRecord &record, const Device &device,
                     std::span<const HostArg> args, std::span<const int64_t> consts,
                     const LaunchOptions &options) {
  forCall(options.call, [&] {
    trace::Span span("prepare", record.name);
    jit::Call call(record, args, consts, options.compile);
    jit::TensorMaps fresh;
    kernelFor(call, *device.state(), fresh);
  });
}

} // namespace tile
