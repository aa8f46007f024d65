// 2^x of single precision in a form that loops over lanes are vectorised with: kernels of attention spend as much time in
// it as in products.
//
// x is split into the nearest integer and a rest of at most a half, whose power is a Taylor sum. Its error, below 2^-41,
// changes the result of the rounding to f32 about once in 2^17 numbers, by the last bit.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace tile::vgpu {

namespace exp2_detail {
/// ln(2)^k / k!
constexpr auto kCoefficients = [] {
  constexpr double kLn2 = 0.693147180559945309417;
  std::array<double, 11> coefficients{1};
  for (size_t k = 1; k < coefficients.size(); ++k)
    coefficients[k] = coefficients[k - 1] * kLn2 / static_cast<double>(k);
  return coefficients;
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
