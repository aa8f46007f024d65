// Numbers by which ops choose kernels, with where they come from: a row each, in one header per op.
#pragma once

#include <concepts>

namespace tile::ops {

template <class T> struct Threshold {
  T value;
  const char *unit;
  const char *evidence; ///< what was compared, and how much it differed
  const char *device;   ///< that it was timed on, or kNotTimed
  const char *date;     ///< since when it has this value
  /// To nothing else, so that `isSmall ? 1 : kRatio` does not round a ratio to an integer.
  template <std::same_as<T> U> constexpr operator U() const { return value; }
};
template <class T>
Threshold(T, const char *, const char *, const char *, const char *) -> Threshold<T>;

/// The device of an estimate: from counts, sizes or data sheets.
inline constexpr const char *kNotTimed = "estimated, not timed";
/// On an H100; the record does not say whether by the library's kernels or hand-written ones.
inline constexpr const char *kOnH100 = "H100";
/// Hand-written CUDA C++ kernels of the same structure on an H100.
inline constexpr const char *kHandWrittenOnH100 = "H100, hand-written kernels";

} // namespace tile::ops
