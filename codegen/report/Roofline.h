// The roofline model: operations and bytes against a card's peaks. A bound from above: latency, the mix of instructions and bytes
// that a cache has to bring again, which make a kernel slower, are left out.
#pragma once

#include "codegen/report/KernelReport.h"
#include "ir/target/Card.h"

#include <string_view>

namespace tile::codegen {

/// Units that floating-point operations are counted by.
inline constexpr const char *kUnitTensorF8 = "tensor core, 8-bit floats";
inline constexpr const char *kUnitTensorI8 = "tensor core, 8-bit integers";
inline constexpr const char *kUnitTensor16 = "tensor core, 16-bit";
inline constexpr const char *kUnitTensor16SumsOfF16 = "tensor core, 16-bit, sums of f16";
inline constexpr const char *kUnitTensorTf32 = "tensor core, tf32";
inline constexpr const char *kUnitF32 = "f32";
inline constexpr const char *kUnitF64 = "f64";
inline constexpr const char *kUnitInteger = "integer";

/// What a card does at most of such operations, in 10^12 a second; 0 where it has no such unit.
double peakOf(const ir::Card &card, std::string_view unit);

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
Roofline rooflineOf(const KernelReport &report, const ir::Card &card);

} // namespace tile::codegen
