// The roofline model: operations and bytes against a card's peaks. A bound from above: latency, the mix of instructions and bytes
// that a cache has to bring again, which make a kernel slower, are left out.
#pragma once

#include "codegen/report/KernelReport.h"

#include <string_view>

namespace tile::codegen {

/// Units that floating-point operations are counted by.
inline constexpr const char *kUnitTensor8 = "tensor core, 8-bit";
inline constexpr const char *kUnitTensor16 = "tensor core, 16-bit";
inline constexpr const char *kUnitTensorTf32 = "tensor core, tf32";
inline constexpr const char *kUnitF32 = "f32";
inline constexpr const char *kUnitF64 = "f64";
inline constexpr const char *kUnitInteger = "integer";

/// Peak numbers of one card of an architecture; 0 where the unit is missing.
struct Peaks {
  const char *target;
  const char *card;
  const char *source;
  double tensor8, tensor16, tensorTf32, f32, f64; ///< 10^12 operations per second, dense
  double bytes;                                   ///< 10^9 bytes per second of device memory
  int multiprocessors;
  double gigahertz; ///< the clock to which the peaks belong
  double ofUnit(std::string_view unit) const;
};

/// The peaks of the card that stands for a target; null if there is none.
const Peaks *peaksOf(std::string_view target);

struct Roofline {
  /// Why there is none: how much is computed and read is not known; empty if it is.
  std::string unknown;
  double intensity = 0; ///< operations per byte
  double ridge = 0;     ///< the intensity above which the units are the limit
  double bound = 0;     ///< 10^12 operations per second at most
  double peak = 0;      ///< what the units allow
  bool isMemoryBound = false;
};

/// Of what KernelReport::launch is: its operations, and each byte of memory once, as with an ideal cache. Where bytes are known
/// only as a bound from above memory is no limit that can be claimed, and `bound` is `peak`.
Roofline rooflineOf(const KernelReport &report, const Peaks &peaks);

} // namespace tile::codegen
