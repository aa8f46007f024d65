#include "runtime/host/LaunchWorkspace.h"

#include "runtime/host/Capture.h"
#include "runtime/host/Room.h"

namespace tile::launch {

LaunchWorkspace::LaunchWorkspace(const Named &named, const LoadedKernel &kernel, uint64_t programs,
                                 detail::StreamState &stream)
    : kernel_(kernel), stream_(stream) {
  const codegen::Workspace &needed = kernel.workspace;
  if (needed.counters == 0) [[likely]]
    return;
  size_t bytes = static_cast<size_t>(needed.bytes) * programs,
         counterBytes = static_cast<size_t>(needed.counters) * programs * sizeof(uint32_t);
  if (detail::Capture *capture = detail::captureOf(stream))
    takeOfCapture(*capture, bytes, counterBytes);
  else
    takeOfStream(named, bytes, counterBytes);
}

void LaunchWorkspace::takeOfCapture(detail::Capture &capture, size_t bytes, size_t counterBytes) {
  counters_ = capture.takeCounters(stream_, counterBytes);
  capture.take(stream_, ofGraph_, bytes);
  bytes_ = ofGraph_.base;
}

void LaunchWorkspace::takeOfStream(const Named &named, size_t bytes, size_t counterBytes) {
  device::Device &device = *stream_.owner->device;
  bool isThere = stream_.memory.hasKept(device, bytes) && stream_.counters.hasRoomFor(counterBytes);
  if (!isThere)
    detail::refuseIfOthersCapture(
        stream_, "memory for the programs of kernel '" + named.name + "' would be allocated",
        "call it once before", named.where);
  detail::withRoom(*stream_.owner, [&] {
    counters_ = stream_.counters.take(device, stream_.handle, counterBytes);
    block_ = stream_.memory.take(device, stream_.handle, bytes);
  });
  bytes_ = block_.base;
  if (block_.isTakenAgain)
    device.discard(block_.base, block_.bytes, stream_.handle);
}

LaunchWorkspace::~LaunchWorkspace() {
  if (block_.base)
    stream_.memory.giveBack(block_);
  else if (ofGraph_.base)
    ofGraph_.giveBack();
}

void LaunchWorkspace::writeParameters(device::Arg *parameters) const {
  if (kernel_.workspace.counters == 0) [[likely]]
    return;
  parameters[kernel_.workspaceAt] = {&bytes_, sizeof bytes_};
  parameters[kernel_.countersAt] = {&counters_, sizeof counters_};
}

} // namespace tile::launch
