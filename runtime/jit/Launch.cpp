// detail::launch and detail::prepare, the way from a kernel's call to the device. A call like one of before takes the short way,
// from RecentCalls to launch::start; any other is checked, compiled if it has to be, and added there.
#include "runtime/jit/Launch.h"

#include "runtime/host/Capture.h"
#include "runtime/host/Room.h"
#include "runtime/host/Start.h"
#include "runtime/jit/Call.h"
#include "runtime/jit/Jit.h"
#include "runtime/jit/Specialize.h"
#include "runtime/launch/ForCall.h"
#include "runtime/launch/Overlap.h"
#include "runtime/launch/RecentCalls.h"
#include "runtime/trace/Span.h"

#include <algorithm>

namespace tile {
namespace {

using detail::HostArg;
using detail::KernelRecord;
using launch::LoadedKernel;

// A compiled kernel says no more of its arguments than which parts of each it takes.
void checkParts(const codegen::CompiledKernel &kernel, std::span<const HostArg> args) {
  using Kind = codegen::Parameter::Kind;
  auto refuse = [&](int arg, const std::string &why) {
    throw Error(Fault::User, ErrorCode::InvalidArgument,
                "argument " + std::to_string(arg + 1) + " of '" + kernel.name + "': " + why);
  };
  int32_t expected = 0;
  for (const codegen::Parameter &parameter : kernel.parameters) {
    if (parameter.isOfLaunch())
      continue;
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

jit::Jit &jit::jitOf(detail::DeviceState &device) {
  std::call_once(device.jitMade, [&] { device.jit = std::make_shared<Jit>(device.device); });
  return *device.jit;
}

void jit::launchCompiled(const Device &device, const codegen::CompiledKernel &kernel,
                         std::span<const HostArg> args, const detail::LaunchOptions &options) {
  checkParts(kernel, args);
  Stream stream = device.stream();
  std::unique_ptr<LoadedKernel> loaded = jitOf(*device.state()).load(kernel, kernel.name, {});
  launch::RecentCall call(*loaded, {});
  {
    trace::Span span("launch", kernel.name);
    launch::start({kernel.name, {}}, call, stream.state(), args, options, span);
  }
  stream.synchronize();
}

launch::RecentCall jit::kernelFor(Call &call, detail::DeviceState &device,
                                  const detail::StreamState *stream) {
  Jit &jit = jitOf(device);
  call.check({device.id, device.name});
  std::vector<launch::Footprint> footprints = launch::footprintsOf(call.record(), call.args());
  launch::refuseOverlap(call.record(), call.args(), footprints, [&] { return jit.aliases(call); });
  if (stream && stream->isExternal && !jit.isLoaded(call))
    detail::refuseIfOthersCapture(
        *stream, "kernel '" + call.record().name + "' would be compiled and loaded",
        "call it once before, or prepare() it");
  const LoadedKernel &kernel =
      detail::withRoom(device, [&]() -> const LoadedKernel & { return jit.get(call); });
  return {kernel, std::move(footprints)};
}

bool jit::canStartEarly(const detail::DeviceState &device) {
  return device.device->props().arch >= 90;
}

bool jit::startsEarly(const detail::StreamState &stream) {
  return stream.overlapsLaunches && canStartEarly(*stream.owner);
}

void detail::launch(const KernelRecord &record, const Stream &stream, std::span<const HostArg> args,
                    std::span<const int64_t> consts, const LaunchOptions &options) {
  launch::forCall(options.call, [&] {
    trace::Span span("launch", record.name);
    StreamState &state = stream.state();
    if (state.taker) [[unlikely]]
      return (*state.taker)(record, args, consts, options.compile);
    DeviceState &device = *state.owner;
    const bool isDependent = jit::startsEarly(state);
    auto [first, second] = jit::wordsOf(options.compile);
    const launch::CallForm form{
        jit::originOf(isDependent), record.id, {device.id, first, second}, consts, args};
    launch::RecentCalls &recent = launch::RecentCalls::ofThread();
    launch::RecentCall *known = recent.find(form, device.id);
    if (!known) {
      jit::Call call(record, args, consts, options.compile, isDependent);
      known = &recent.add(form, jit::kernelFor(call, device, &state));
    }
    launch::start({record.name, record.where}, *known, state, args, options, span);
  });
}

void detail::prepare(const KernelRecord &record, const CallPlace &place,
                     std::span<const HostArg> args, std::span<const int64_t> consts,
                     const LaunchOptions &options) {
  launch::forCall(options.call, [&] {
    trace::Span span("prepare", record.name);
    DeviceState &device = *place.device.state();
    refuseOfParent(device);
    bool isDependent = place.overlapsLaunches && jit::canStartEarly(device);
    jit::Call call(record, args, consts, options.compile, isDependent);
    jit::kernelFor(call, device);
  });
}

} // namespace tile
