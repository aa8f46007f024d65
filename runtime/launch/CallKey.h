// A call as words, by which a thread knows it again: RecentCalls.h. Whatever the code of a call is chosen by is among them.
#pragma once

#include "base/StackArray.h"
#include "runtime/launch/Layouts.h"

#include <cstddef>
#include <initializer_list>
#include <span>

namespace tile::launch {

/// What the first word of a key says beside the number of a kernel: keys of different origin are never alike.
enum class KeyOrigin : uint64_t {
  Jit = 0,
  DependentJit = uint64_t{1} << 61, ///< waits itself for the launches before it
  Tuned = uint64_t{1} << 62,
  Archive = uint64_t{1} << 63
};

class CallKey {
public:
  /// `head` are words of the caller's own. The arguments are those of markSameViews. The values of numbers are part of it if `hasNumbers`.
  CallKey(KeyOrigin origin, uint64_t number, std::initializer_list<uint64_t> head,
          std::span<const int64_t> constants, std::span<const detail::HostArg> args,
          bool hasNumbers = false)
      : words_(1 + head.size() + constants.size() + args.size() * (hasNumbers ? 2 : 1) +
               layoutWords(args)) {
    uint64_t *next = words_.data();
    *next++ = number | static_cast<uint64_t>(origin);
    next = std::ranges::copy(head, next).out;
    next = std::ranges::copy(constants, next).out;
    for (const detail::HostArg &arg : args)
      *next++ = typeWord(arg);
    next = writeLayouts(next, args);
    if (hasNumbers)
      for (const detail::HostArg &arg : args)
        *next++ = arg.bits;
  }

  std::span<const uint64_t> words() const { return words_; }

private:
  static constexpr size_t kUsual = 128; ///< of ten tensors of three dimensions
  base::StackArray<uint64_t, kUsual> words_;
};

} // namespace tile::launch
