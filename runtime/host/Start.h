// The last step of every launch: a loaded kernel and arguments that have been checked go to a stream, or to the graph that
// is captured of it.
#pragma once

#include "runtime/host/State.h"
#include "runtime/launch/LoadedKernel.h"
#include "runtime/launch/TensorMaps.h"

#include <tile/Kernel.h>

#include <span>

namespace tile::trace {
class Span;
} // namespace tile::trace

namespace tile::launch {

/// A kernel and the tensor maps of its calls of this form.
struct Prepared {
  const LoadedKernel &kernel;
  TensorMaps &maps;
};

/// Launches; nothing for an empty grid. `span` is told how. Errors: those of gridOf, of TensorMaps and of the device.
void start(const Named &named, const Prepared &prepared, detail::StreamState &stream,
           std::span<const detail::HostArg> args, const detail::LaunchOptions &options,
           trace::Span &span);

} // namespace tile::launch
