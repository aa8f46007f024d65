// Tensor cores of each architecture sum floating-point products by a rule of their own. It was found by probing, since the ISA
// leaves it open (MMA-Sim, arXiv 2511.10909).
//
// A sum has several terms: C and some products. Each is cut off at a bit so far below the highest exponent among them; the
// rest is added exactly, and the result rounded toward zero to f32, or to nearest to f16. A long depth is a chain of such
// sums. The product's exponent is the sum of the factors' exponents, which are not normalised if subnormal.
#pragma once

#include <cstdint>
#include <span>

namespace tile::vgpu {

/// The types of elements of A and B.
enum class TensorElement : uint8_t { F16, BF16, TF32, E4M3, E5M2, U8, S8 };

constexpr unsigned elementsPerWord(TensorElement element) {
  return element == TensorElement::TF32                                    ? 1
         : element == TensorElement::F16 || element == TensorElement::BF16 ? 2
                                                                           : 4;
}

struct SumRule {
  int fractionBits = 25;       // kept below the highest exponent
  unsigned termBytes = 32;     // products of one sum, as bytes of A
  int resultFractionBits = 23; // of an f32 result
  /// fp8 only: hardware has no such sums and makes two of f16, from zero, over the elements k with k % 4 < 2 and on over the
  /// others. C is added to the result, to nearest.
  bool isWidened = false;
};

/// For `arch` 80 (Ampere) and up; wgmma sums fp8 otherwise than mma does.
SumRule sumRule(int arch, TensorElement element, bool isWgmma);

enum class SumResult : uint8_t { F32, F16 };

/// One element of D: c + the products of a and b, which hold values of those element types. The result is in the low
/// bits.
uint32_t tensorSum(const SumRule &rule, TensorElement elementA, TensorElement elementB,
                   std::span<const float> a, std::span<const float> b, float c, SumResult result);

} // namespace tile::vgpu
