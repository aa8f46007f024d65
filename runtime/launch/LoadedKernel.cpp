#include "runtime/launch/LoadedKernel.h"

#include "codegen/compiled/Occupancy.h"
#include "ir/target/Target.h"
#include "runtime/trace/Span.h"

#include <tile/HostArg.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace tile::launch {
namespace {

ParameterPlace placeOf(const codegen::Parameter &parameter) {
  using detail::HostArg;
  using Kind = codegen::Parameter::Kind;
  auto within = [&]() -> size_t {
    switch (parameter.kind) {
    case Kind::Pointer:
      return offsetof(HostArg, pointer);
    case Kind::Extent:
      return offsetof(HostArg, extents) + static_cast<size_t>(parameter.dim) * sizeof(int64_t);
    case Kind::Stride:
      return offsetof(HostArg, strides) + static_cast<size_t>(parameter.dim) * sizeof(int64_t);
    case Kind::Scalar:
    case Kind::Workspace:
    case Kind::Counters:
      break;
    }
    return offsetof(HostArg, bits);
  };
  if (parameter.isOfLaunch())
    return {0, 0};
  return {static_cast<size_t>(parameter.arg) * sizeof(HostArg) + within(),
          static_cast<size_t>(parameter.bytes)};
}

void placeParameters(LoadedKernel &kernel, const codegen::CompiledKernel &compiled) {
  using Kind = codegen::Parameter::Kind;
  kernel.workspace = compiled.workspace;
  for (const codegen::Parameter &parameter : compiled.parameters) {
    if (parameter.kind == Kind::Workspace)
      kernel.workspaceAt = kernel.parameters.size();
    else if (parameter.kind == Kind::Counters)
      kernel.countersAt = kernel.parameters.size();
    kernel.parameters.push_back(placeOf(parameter));
  }
}

void checkRegisters(device::Device &device, const LoadedKernel &kernel, const Named &named) {
  const device::DeviceProps &props = device.props();
  device::FunctionInfo info = device.functionInfo(kernel.function);
  int64_t registers = int64_t(info.registers) * kernel.threads;
  if (registers <= props.registersPerSm)
    return;
  throw Error(Fault::User, ErrorCode::ResourceExceeded,
              "the kernel needs " + std::to_string(info.registers) + " registers for each of " +
                  std::to_string(kernel.threads) + " threads, together " +
                  std::to_string(registers) + "; " + props.name + " has " +
                  std::to_string(props.registersPerSm) + ": use smaller tiles or fewer warps",
              named.where, {"in kernel '" + named.name + "'"});
}

// Blocks of a cluster run on neighbouring multiprocessors, of which some may be left over: the device knows how many clusters find
// room.
int64_t programsAtOnce(device::Device &device, const LoadedKernel &kernel,
                       const ir::Target &target) {
  device::FunctionInfo info = device.functionInfo(kernel.function);
  std::optional<int64_t> registers;
  if (info.registers > 0)
    registers = info.registers;
  codegen::Occupancy occupancy =
      codegen::occupancyOf(target, kernel.threads, registers,
                           kernel.sharedBytes + static_cast<int64_t>(info.staticSharedBytes));
  int64_t blocks =
      std::max<int64_t>(1, occupancy.blocksPerSm) * std::max(1, device.props().smCount);
  int64_t programs = blocks / kernel.blocks;
  if (kernel.blocks > 1 && kernel.hasClusters)
    programs = device.clustersAtOnce(kernel.function, shapeOf(kernel, {kernel.blocks, 1, 1}))
                   .value_or(programs);
  return std::max<int64_t>(1, programs);
}

} // namespace

std::unique_ptr<LoadedKernel> load(device::Device &device, codegen::CompiledKernel compiled,
                                   std::span<const std::byte> cubin, const Named &named) {
  trace::Span span("load", named.name);
  std::optional<ir::Target> target = ir::findTarget(compiled.target);
  if (!target)
    throw Error(Fault::User, ErrorCode::Unsupported,
                "the kernel is compiled for '" + compiled.target + "', which is none of " +
                    ir::knownTargets(),
                named.where, {"in kernel '" + named.name + "'"});
  auto kernel = std::make_unique<LoadedKernel>();
  kernel->threads = static_cast<uint32_t>(compiled.threads);
  device::Module module = device.loadModule(compiled.ptx, cubin, compiled.name + ".ptx");
  try {
    kernel->function = device.getFunction(module, compiled.name);
    checkRegisters(device, *kernel, named);
  } catch (...) {
    device.unloadModule(module);
    throw;
  }
  kernel->name = std::move(compiled.name);
  placeParameters(*kernel, compiled);
  kernel->tensorMaps = std::move(compiled.tensorMaps);
  kernel->grid = std::move(compiled.grid);
  kernel->sharedBytes = static_cast<uint32_t>(compiled.sharedBytes);
  kernel->blocks = static_cast<uint32_t>(compiled.cluster);
  kernel->hasClusters = target->hasClusters;
  kernel->waits = compiled.waits;
  if (compiled.persistent)
    kernel->mostPrograms = programsAtOnce(device, *kernel, *target);
  kernel->remarks = std::move(compiled.remarks);
  return kernel;
}

device::LaunchConfig shapeOf(const LoadedKernel &kernel, device::Dim3 grid) {
  device::LaunchConfig config;
  config.grid = grid;
  config.block = {kernel.threads, 1, 1};
  if (kernel.hasClusters)
    config.cluster = {kernel.blocks, 1, 1};
  config.dynamicSharedBytes = kernel.sharedBytes;
  return config;
}

} // namespace tile::launch
