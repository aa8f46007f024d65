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

/// What is tuned of a call, as it is chosen.
struct Chosen {
  std::vector<int64_t> constants;
  detail::CompileSettings settings;

  Chosen(const detail::KernelRecord &record, const Device &device,
         std::span<const detail::HostArg> args, detail::TunedConstants given, Loc where)
      : constants(given.values.begin(), given.values.end()) {
    detail::chooseTuned(record, device, args, {constants, given.given}, settings, where);
  }
};

/// The kernel for what is chosen.
launch::RecentCall kernelFor(const detail::KernelRecord &record, const Chosen &chosen,
                             detail::StreamState &state, std::span<const detail::HostArg> args) {
  jit::Call call(record, args, chosen.constants, chosen.settings, jit::startsEarly(state));
  return jit::kernelFor(call, *state.owner, &state);
}

} // namespace
} // namespace tile::tune

void tile::detail::launchTuned(const KernelRecord &record, const Stream &stream,
                               std::span<const HostArg> args, TunedConstants constants, Loc call) {
  launch::forCall(call, [&] {
    trace::Span span("launch", record.name);
    StreamState &state = stream.state();
    auto choose = [&] { return tune::Chosen(record, stream.device(), args, constants, call); };
    if (state.taker) [[unlikely]] {
      tune::Chosen chosen = choose();
      return (*state.taker)(record, args, chosen.constants, chosen.settings);
    }
    const uint64_t device = state.owner->id;
    const launch::CallForm form{
        launch::Origin::Tuned, record.id, {device, constants.given, jit::startsEarly(state)},
        constants.values,      args,
        /*hasNumbers=*/true}; // by which the kernel's own choice may go
    launch::RecentCalls &recent = launch::RecentCalls::ofThread();
    launch::RecentCall *known = recent.find(form, device);
    if (!known)
      known = &recent.add(form, tune::kernelFor(record, choose(), state, args));
    LaunchOptions options;
    options.call = call;
    launch::start({record.name, record.where}, *known, state, args, options, span);
  });
}

void tile::detail::prepareTuned(const KernelRecord &record, const CallPlace &place,
                                std::span<const HostArg> args, TunedConstants constants) {
  LaunchOptions options;
  chooseTuned(record, place.device, args, constants, options.compile, {});
  prepare(record, place, args, constants.values, options);
}
