// A call as words, by which a thread knows it again: RecentCalls.h. Whatever the code of a call is chosen by is among them.
#pragma once

#include "runtime/launch/Layouts.h"

#include <array>
#include <cstddef>
#include <initializer_list>
#include <memory_resource>
#include <span>
#include <vector>

namespace tile::launch {

/// What the first word of a key says beside the number of a kernel: keys of different origin are never alike.
enum class KeyOrigin : uint64_t { Jit = 0, Tuned = uint64_t{1} << 62, Archive = uint64_t{1} << 63 };

class CallKey {
public:
  /// `head` are words of the caller's own. The arguments have been marked where they are one view, and have ranks that
  /// tensors have.
  CallKey(KeyOrigin origin, uint64_t number, std::initializer_list<uint64_t> head,
          std::span<const int64_t> constants, std::span<const detail::HostArg> args) {
    words_.resize(1 + head.size() + constants.size() + args.size() + layoutWords(args));
    uint64_t *next = words_.data();
    *next++ = number | static_cast<uint64_t>(origin);
    next = std::ranges::copy(head, next).out;
    next = std::ranges::copy(constants, next).out;
    for (const detail::HostArg &arg : args)
      *next++ = uint64_t(arg.sameAs) << 24 | uint64_t(arg.kind) << 16 | uint64_t(arg.dtype) << 8 |
                arg.rank;
    writeLayouts(next, args);
  }
  CallKey(const CallKey &) = delete;
  CallKey &operator=(const CallKey &) = delete;

  /// Adds the values of the numbers among the arguments.
  void addNumbers(std::span<const detail::HostArg> args) {
    for (const detail::HostArg &arg : args)
      if (arg.kind == detail::HostArg::Scalar)
        words_.push_back(arg.bits);
  }

  std::span<const uint64_t> words() const { return words_; }

private:
  static constexpr size_t kUsualBytes =
      1024; ///< of eight tensors of three dimensions; more are on the heap
  std::array<std::byte, kUsualBytes> room_;
  std::pmr::monotonic_buffer_resource memory_{room_.data(), room_.size()};
  std::pmr::vector<uint64_t> words_{&memory_};
};

} // namespace tile::launch
