// Graphs of the virtual GPU: a replay gives the recorded work to streams, with all that is checked of other work.
#pragma once

#include "base/ForkLocks.h"
#include "runtime/device/GraphWork.h"
#include "runtime/device/Handles.h"

namespace tile::vgpu {

/// One graph. Its replays come after each other, as a driver has it.
class VgpuGraph {
public:
  VgpuGraph(device::Device &device, std::shared_ptr<const device::GraphWork> work)
      : device_(device), work_(std::move(work)), lanes_(device, *work_),
        replayed_(device.createEvent()) {}
  ~VgpuGraph() { device_.destroyEvent(replayed_); }
  VgpuGraph(const VgpuGraph &) = delete;
  VgpuGraph &operator=(const VgpuGraph &) = delete;

  void update(std::shared_ptr<const device::GraphWork> work) {
    std::lock_guard lock(mutex_);
    std::string difference = device::topologyDifference(*work_, *work);
    if (!difference.empty())
      throw Error(Fault::User, ErrorCode::InvalidArgument, "updateGraph: " + difference);
    work_ = std::move(work);
  }

  void replay(device::Stream stream) {
    std::lock_guard lock(mutex_);
    device_.wait(stream, replayed_);
    lanes_.give(*work_, stream);
    device_.record(replayed_, stream);
  }

private:
  device::Device &device_;
  std::shared_ptr<const device::GraphWork> work_;
  device::GraphLanes lanes_;
  device::Event replayed_;
  base::ForkMutex mutex_;
};

} // namespace tile::vgpu
