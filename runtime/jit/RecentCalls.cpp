#include "runtime/jit/RecentCalls.h"

#include <algorithm>
#include <utility>

namespace tile::jit {

void appendCall(KeyWords &key, uint64_t device, uint64_t kernel,
                std::span<const detail::HostArg> args, std::span<const int64_t> consts,
                const detail::CompileSettings &settings) {
  key.push_back(device);
  appendSignature(key, kernel, args, consts, settings);
  size_t size = key.size(), words = 0;
  for (const detail::HostArg &arg : args)
    words += 1 + 2 * size_t(arg.rank);
  key.resize_for_overwrite(size + words);
  uint64_t *next = key.data() + size;
  for (const detail::HostArg &arg : args) {
    *next++ = arg.kind == detail::HostArg::Tensor && isAligned(arg);
    next = std::copy_n(arg.extents, arg.rank, next);
    next = std::copy_n(arg.strides, arg.rank, next);
  }
}

RecentCalls &RecentCalls::ofThread() {
  static thread_local RecentCalls calls;
  return calls;
}

size_t RecentCalls::slotOf(llvm::ArrayRef<uint64_t> call) {
  return llvm::xxh3_64bits(
             {reinterpret_cast<const uint8_t *>(call.data()), call.size() * sizeof(uint64_t)}) %
         kSlots;
}

const RecentCall *RecentCalls::find(llvm::ArrayRef<uint64_t> call) const {
  const Slot &slot = slots_[slotOf(call)];
  return call == llvm::ArrayRef<uint64_t>(slot.call) ? &slot.known : nullptr;
}

void RecentCalls::add(llvm::ArrayRef<uint64_t> call, RecentCall known) {
  Slot &slot = slots_[slotOf(call)];
  slot.call.assign(call.begin(), call.end());
  slot.known = std::move(known);
}

} // namespace tile::jit
