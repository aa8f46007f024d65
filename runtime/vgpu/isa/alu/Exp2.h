// 2^x of single precision in a form that loops over lanes are vectorised with: kernels of attention spend as much time in
// it as in products.
//
// x is split into the nearest integer and a rest of at most a half, whose power is the start of a Chebyshev series:
//   2^r = e^(r ln 2) = I_0(z) + 2 sum_k I_k(z) T_k(2r),  z = ln(2) / 2,  I_k the modified Bessel functions.
// Its error, below 2^-39.7, changes the result of the rounding to f32 about once in 2^17 numbers, by the last bit.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace tile::vgpu {

namespace exp2_detail {
constexpr size_t kDegree = 8;
using Polynomial = std::array<double, kDegree + 1>; // by power

/// I_order(z) for small z, by its power series.
constexpr double besselI(size_t order, double z) {
  double term = 1;
  for (size_t i = 1; i <= order; ++i)
    term *= z / 2 / static_cast<double>(i);
  double sum = 0;
  for (size_t i = 1; i < 16; ++i) {
    sum += term;
    term *= z * z / 4 / static_cast<double>(i * (i + order));
  }
  return sum;
}

constexpr Polynomial kCoefficients = [] {
  constexpr double kLn2 = 0.693147180559945309417;
  Polynomial sum{}, before{1}, chebyshev{0, 2}; // T_0(2r), T_1(2r)
  sum[0] = besselI(0, kLn2 / 2);
  for (size_t k = 1; k <= kDegree; ++k) {
    Polynomial next{}; // 2 * 2r * T_k - T_(k-1)
    for (size_t power = 0; power <= kDegree; ++power) {
      sum[power] += 2 * besselI(k, kLn2 / 2) * chebyshev[power];
      next[power] = (power ? 4 * chebyshev[power - 1] : 0) - before[power];
    }
    before = chebyshev;
    chebyshev = next;
  }
  return sum;
}();
} // namespace exp2_detail

inline double exp2OfSingle(float x) {
  constexpr float kLimit = 200;         // beyond which f32 has only infinity and zero
  constexpr double kRounder = 0x1.8p52; // leaves the nearest integer in the low bits of a sum
  double value = x > kLimit ? kLimit : x < -kLimit ? -kLimit : x;
  double sum = value + kRounder, rest = value - (sum - kRounder),
         power = exp2_detail::kCoefficients.back();
  for (size_t k = exp2_detail::kCoefficients.size() - 1; k-- > 0;)
    power = std::fma(power, rest, exp2_detail::kCoefficients[k]);
  return power * std::bit_cast<double>((std::bit_cast<uint64_t>(sum) + 1023) << 52);
}

} // namespace tile::vgpu
