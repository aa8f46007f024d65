// Launches of kernels with settings that are tuned. A call like one of before takes the short way of any other launch: its form
// stands for the settings as well as for the kernel.
#include "runtime/jit/Call.h"
#include "runtime/jit/Launch.h"
#include "runtime/launch/ForCall.h"
#include "runtime/launch/RecentCalls.h"
#include "runtime/trace/Span.h"

#include <tile/detail/Tuning.h>

namespace tile::tune {
namespace {

/// The kernel for what is chosen.
launch::RecentCall choose(const detail::KernelRecord &record, const Stream &stream,
                          std::span<const detail::HostArg> args, detail::TunedConstants given,
                          Loc where) {
  std::vector<int64_t> constants(given.values.begin(), given.values.end());
  detail::CompileSettings settings;
  detail::chooseTuned(record, stream.device(), args, {constants, given.given}, settings, where);
  detail::StreamState &state = stream.state();
  jit::Call chosen(record, args, constants, settings, jit::startsEarly(state));
  return jit::kernelFor(chosen, *state.owner, &state);
}

} // namespace
} // namespace tile::tune

void tile::detail::launchTuned(const KernelRecord &record, const Stream &stream,
                               std::span<const HostArg> args, TunedConstants constants, Loc call) {
  launch::forCall(call, [&] {
    trace::Span span("launch", record.name);
    StreamState &state = stream.state();
    const uint64_t device = state.owner->id;
    const launch::CallForm form{
        launch::Origin::Tuned, record.id, {device, constants.given, jit::startsEarly(state)},
        constants.values,      args,
        /*hasNumbers=*/true}; // by which the kernel's own choice may go
    launch::RecentCalls &recent = launch::RecentCalls::ofThread();
    launch::RecentCall *known = recent.find(form, device);
    if (!known)
      known = &recent.add(form, tune::choose(record, stream, args, constants, call));
    LaunchOptions options;
    options.call = call;
    launch::start({record.name, record.where}, *known, state, args, options, span);
  });
}
