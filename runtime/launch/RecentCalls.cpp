#include "runtime/launch/RecentCalls.h"

#include "frontend/call/Arguments.h"
#include "runtime/launch/Overlap.h"

#include <utility>

namespace tile::launch {
namespace {

using detail::HostArg;

/// Whether each address can be that of such a tensor on this device, and views that were one are one.
bool areAddresses(std::span<const Footprint> tensors, std::span<const HostArg> args,
                  uint64_t device) {
  for (const Footprint &tensor : tensors) {
    const HostArg &arg = args[tensor.argument];
    if (!frontend::isAddress(arg, tensor.elementBytes, device))
      return false;
    if (tensor.view != tensor.argument && args[tensor.view].pointer != arg.pointer)
      return false;
  }
  return true;
}

} // namespace

RecentCalls &RecentCalls::ofThread() {
  static thread_local RecentCalls calls;
  return calls;
}

RecentCall *RecentCalls::find(const CallForm &form, uint64_t device) {
  return calls_.find(form, [&](const RecentCall &known) {
    return areAddresses(known.footprints, form.args, device) &&
           areApart(form.args, known.footprints, known.kernel->aliases);
  });
}

RecentCall &RecentCalls::add(const CallForm &form, RecentCall known) {
  if (known.kernel->isForNumbers)
    return passing_ = std::move(known);
  return calls_.add(form, std::move(known));
}

} // namespace tile::launch
