// The form of a call: all that its kernel is chosen by, but for the addresses of its tensors. By it a thread knows a call again.
#pragma once

#include <tile/HostArg.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tile::launch {

/// What the first word of a form says beside the number of a kernel: forms of different origin are never alike.
enum class Origin : uint64_t {
  Jit = 0,
  DependentJit = uint64_t{1} << 61, ///< waits itself for the launches before it
  Tuned = uint64_t{1} << 62,
  Archive = uint64_t{1} << 63
};

/// Refers to a call that is going on. The values of numbers are part of the form if `hasNumbers`.
struct CallForm {
  Origin origin;
  uint64_t number;              ///< of the kernel, among those of its origin
  std::array<uint64_t, 3> head; ///< what the origin tells apart besides
  std::span<const int64_t> constants;
  std::span<const detail::HostArg> args;
  bool hasNumbers = false;

  /// Of kernel, constants and extents, which tell most calls apart.
  uint64_t hash() const;
};

/// A form as it was once.
class KeptForm {
public:
  KeptForm() = default;
  /// The arguments have passed detail::checkArguments.
  explicit KeptForm(const CallForm &form);
  bool operator==(const CallForm &form) const;

private:
  std::vector<uint64_t> words_;
};

} // namespace tile::launch
