// What cards do in a second, by their makers' data sheets.
#pragma once

namespace tile::ir {

/// Peak numbers of a card: dense operations (without sparsity) at boost clock, in 10^12 a second, 0
/// where there is no unit for them; and the bandwidth of its memory. A multiply-add is two
/// operations.
struct Card {
  const char *name;
  const char *source;
  /// Products of the tensor cores, of f16 and bf16, of 8-bit floats, and of integers of 8 bits.
  /// Cards for games have half the rate where sums are f32.
  double f16, f16SumsOfF16, f8, f8SumsOfF16, i8, tf32;
  double f32, f64;  ///< the other arithmetic
  double gigabytes; ///< 10^9 bytes a second of device memory
  int l2Megabytes;  ///< 2^20 bytes of the second-level cache
  int multiprocessors;
  double gigahertz; ///< the clock to which the peaks belong
};

} // namespace tile::ir
