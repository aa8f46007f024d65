#include "runtime/jit/RecentCalls.h"

namespace tile::jit {

void appendCall(KeyWords &key, uint64_t device, uint64_t kernel,
                std::span<const detail::HostArg> args, std::span<const int64_t> consts,
                const detail::CompileSettings &settings) {
  key.push_back(device);
  appendSignature(key, kernel, args, consts, settings);
  size_t count = key.size();
  for (const detail::HostArg &arg : args)
    count += 1 + 2 * size_t(arg.rank);
  key.reserve(count);
  for (const detail::HostArg &arg : args) {
    if (arg.kind != detail::HostArg::Tensor)
      continue;
    key.push_back(uint64_t(isAligned(arg)));
    key.append(arg.extents, arg.extents + arg.rank);
    key.append(arg.strides, arg.strides + arg.rank);
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

const LoadedKernel *RecentCalls::find(llvm::ArrayRef<uint64_t> call) const {
  const Slot &slot = slots_[slotOf(call)];
  return slot.kernel && call == llvm::ArrayRef<uint64_t>(slot.call) ? slot.kernel : nullptr;
}

void RecentCalls::add(llvm::ArrayRef<uint64_t> call, const LoadedKernel &kernel) {
  Slot &slot = slots_[slotOf(call)];
  slot.call.assign(call.begin(), call.end());
  slot.kernel = &kernel;
}

} // namespace tile::jit
