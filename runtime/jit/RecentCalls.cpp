#include "runtime/jit/RecentCalls.h"

#include <utility>

namespace tile::jit {

RecentCalls &RecentCalls::ofThread() {
  static thread_local RecentCalls calls;
  return calls;
}

size_t RecentCalls::slotOf(llvm::ArrayRef<uint64_t> call) {
  return llvm::xxh3_64bits(
             {reinterpret_cast<const uint8_t *>(call.data()), call.size() * sizeof(uint64_t)}) %
         kSlots;
}

RecentCall *RecentCalls::find(llvm::ArrayRef<uint64_t> call) {
  Slot &slot = slots_[slotOf(call)];
  return call == llvm::ArrayRef<uint64_t>(slot.call) ? &slot.known : nullptr;
}

RecentCall *RecentCalls::add(llvm::ArrayRef<uint64_t> call, RecentCall known) {
  Slot &slot = slots_[slotOf(call)];
  slot.call.assign(call.begin(), call.end());
  slot.known = std::move(known);
  return &slot.known;
}

} // namespace tile::jit
