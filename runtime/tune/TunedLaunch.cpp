// Launches of kernels with settings that are tuned. A call that a thread has made before is known by one key, which stands
// for its settings and for its kernel.
#include "runtime/jit/Call.h"
#include "runtime/jit/Jit.h"
#include "runtime/jit/Launch.h"
#include "runtime/launch/CallKey.h"
#include "runtime/launch/ForCall.h"
#include "runtime/launch/RecentCalls.h"
#include "runtime/trace/Span.h"

#include <tile/detail/Tuning.h>

namespace tile::tune {
namespace {

using detail::HostArg;
using launch::Prepared;

/// A call on its way to a launch.
struct TunedLaunch {
  const detail::KernelRecord &record;
  const Stream &stream;
  std::span<const HostArg> args;
  detail::TunedConstants constants;
  detail::LaunchOptions options;

  /// Settles constants and settings.
  void choose() {
    detail::chooseTuned(record, stream.device(), args, constants, options.compile, options.call);
  }
};

/// Of a call that is known: what depends on addresses is checked again.
Prepared recheck(TunedLaunch &call, std::span<const HostArg> marked, launch::RecentCall &known) {
  detail::DeviceState &device = *call.stream.state().owner;
  auto aliases = [&] {
    call.choose();
    jit::Call chosen(call.record, call.args, call.constants.values, call.options.compile,
                     jit::startsEarly(call.stream.state()));
    return jit::jitOf(device).aliases(chosen);
  };
  launch::recheck(known, call.record, marked, {device.id, device.name}, aliases);
  return {*known.kernel, known.maps};
}

/// Of any other: the kernel for what is chosen. It is remembered by `key`, unless it is for the values of numbers.
Prepared choose(TunedLaunch &call, std::span<const uint64_t> key, launch::TensorMaps &fresh) {
  call.choose();
  detail::StreamState &stream = call.stream.state();
  jit::Call chosen(call.record, call.args, call.constants.values, call.options.compile,
                   jit::startsEarly(stream));
  Prepared prepared = jit::kernelFor(chosen, *stream.owner, fresh, &stream);
  const launch::LoadedKernel &kernel = prepared.kernel;
  if (kernel.isForNumbers)
    return prepared;
  launch::RecentCall known{&kernel, launch::footprintsOf(call.record, call.args),
                           launch::TensorMaps(kernel.tensorMaps.size())};
  return {kernel, launch::RecentCalls::ofThread().add(key, std::move(known))->maps};
}

} // namespace
} // namespace tile::tune

void tile::detail::launchTuned(const KernelRecord &record, const Stream &stream,
                               std::span<const HostArg> args, TunedConstants constants, Loc call) {
  launch::forCall(call, [&] {
    trace::Span span("launch", record.name);
    tune::TunedLaunch launched{record, stream, args, constants, {}};
    launched.options.call = call;
    StreamState &state = stream.state();
    std::vector<HostArg> marks;
    std::span<const HostArg> marked = launch::markSameViews(record, args, marks);
    launch::CallKey key(launch::KeyOrigin::Tuned, record.id,
                        {state.owner->id, constants.given, jit::startsEarly(state)},
                        constants.values, marked,
                        /*hasNumbers=*/true); // by which the kernel's own choice may go
    launch::TensorMaps fresh;
    launch::RecentCall *known = launch::RecentCalls::ofThread().find(key.words());
    launch::Prepared prepared = known ? tune::recheck(launched, marked, *known)
                                      : tune::choose(launched, key.words(), fresh);
    launch::start({record.name, record.where}, prepared, state, args, launched.options, span);
  });
}
