// The memory that one launch gives its programs to hand each other what they have.
#pragma once

#include "runtime/host/State.h"
#include "runtime/launch/LoadedKernel.h"

namespace tile::launch {

/// Taken for a launch that is given to the stream, or to the graph that is captured of it, while this lives. Then it is there
/// for the work behind, which comes when the launch has ended.
class LaunchWorkspace {
public:
  /// Nothing for a kernel whose programs hand each other nothing. Throws OutOfMemory; NotPreparedForCapture where others capture
  /// the stream, whose driver allows no allocation.
  LaunchWorkspace(const Named &named, const LoadedKernel &kernel, uint64_t programs,
                  detail::StreamState &stream);
  ~LaunchWorkspace();
  LaunchWorkspace(const LaunchWorkspace &) = delete;
  LaunchWorkspace &operator=(const LaunchWorkspace &) = delete;

  /// The pointers, as parameters of the kernel.
  void writeParameters(device::Arg *parameters) const;

private:
  void takeOfStream(const Named &named, size_t bytes, size_t counterBytes);
  void takeOfCapture(detail::Capture &capture, size_t bytes, size_t counterBytes);

  const LoadedKernel &kernel_;
  detail::StreamState &stream_;
  detail::StreamMemory::Block block_; // of the stream
  detail::Memory ofGraph_;            // of a capture
  device::DevicePtr bytes_ = 0, counters_ = 0;
};

} // namespace tile::launch
