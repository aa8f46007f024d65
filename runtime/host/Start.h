// The last step of every launch: a loaded kernel and arguments that have been checked go to a stream, or to the graph that
// is captured of it.
#pragma once

#include "runtime/host/State.h"
#include "runtime/launch/LoadedKernel.h"
#include "runtime/launch/RecentCalls.h"

#include <tile/Kernel.h>

#include <span>

namespace tile::trace {
class Span;
} // namespace tile::trace

namespace tile::launch {

/// Launches; nothing for an empty grid. What is worked out for later calls of the form is kept in `call`. `span` is told how.
/// Errors: those of gridOf, of TensorMaps and of the device.
void start(const Named &named, RecentCall &call, detail::StreamState &stream,
           std::span<const detail::HostArg> args, const detail::LaunchOptions &options,
           trace::Span &span);

} // namespace tile::launch
