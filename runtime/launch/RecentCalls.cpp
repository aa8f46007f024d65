#include "runtime/launch/RecentCalls.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <utility>

namespace tile::launch {

void recheck(const RecentCall &known, const detail::KernelRecord &record,
             std::span<const detail::HostArg> args, const frontend::CallDevice &device,
             detail::FunctionRef<Pairs()> allowed) {
  for (const Footprint &tensor : known.footprints)
    frontend::checkAddress(record, args[static_cast<size_t>(tensor.argument)], tensor.argument,
                           device);
  refuseOverlap(record, args, known.footprints, allowed);
}

RecentCalls &RecentCalls::ofThread() {
  static thread_local RecentCalls calls;
  return calls;
}

size_t RecentCalls::slotOf(std::span<const uint64_t> call) {
  return XXH3_64bits(call.data(), call.size_bytes()) % kSlots;
}

RecentCall *RecentCalls::find(std::span<const uint64_t> call) {
  Slot &slot = slots_[slotOf(call)];
  return std::ranges::equal(call, slot.call) ? &slot.known : nullptr;
}

RecentCall *RecentCalls::add(std::span<const uint64_t> call, RecentCall known) {
  Slot &slot = slots_[slotOf(call)];
  slot.call.assign(call.begin(), call.end());
  slot.known = std::move(known);
  return &slot.known;
}

} // namespace tile::launch
