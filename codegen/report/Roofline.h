// The roofline model: operations and bytes against a card's peaks. A bound for programs that share
// nothing: where caches serve bytes, a kernel may be faster than the memory part says. Latency and
// instruction mix, which make it slower, are left out.
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
  bool isWholeProgram =
      false;     ///< else one iteration of the loop in `scope`, or of what surrounds it
  int scope = 0; ///< index into KernelReport::work
  std::map<std::string, double> flops;
  int64_t bytes = 0;
  double intensity = 0; ///< operations per byte
  double ridge = 0;     ///< the intensity above which the units are the limit
  double bound = 0;     ///< 10^12 operations per second at most
  double peak = 0;      ///< what the units allow
  bool isMemoryBound = false;
};

/// The bound of a program whose loops have constant trip counts, else of the loop with most operations: what many
/// iterations come to. All bytes are counted as if no cache held them.
Roofline rooflineOf(const KernelReport &report, const Peaks &peaks);

} // namespace tile::codegen
