// Sums as tensor cores make them.
#include "runtime/vgpu/isa/tensor/TensorSum.h"

#include "runtime/vgpu/isa/alu/HalfFormat.h"

#include <algorithm>
#include <array>

namespace tile::vgpu {
namespace {

constexpr FloatFormat kFloatFormat{8, 23, true};
constexpr int kLeastExponent = -126; // of f32, bf16, tf32; also what a zero counts as

int leastExponent(TensorElement element) {
  switch (element) {
  case TensorElement::F16:
  case TensorElement::E5M2:
    return -14;
  case TensorElement::E4M3:
    return -6;
  default:
    return kLeastExponent;
  }
}

// significand * 2^exponent; the significand of subnormal numbers is less than 1.
struct Term {
  double significand = 0;
  int exponent = kLeastExponent;
};

// As std::ldexp, which takes many times as long. Exact, since exponents here are far from the ends of double's.
double scaled(double value, int exponent) {
  return value * std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

// As std::ilogb, but for subnormal numbers, of which `least`, which is no less than -126, is the exponent.
int exponentOf(float value, int least) {
  return std::max(static_cast<int>(std::bit_cast<uint32_t>(value) >> 23 & 0xff) - 127, least);
}

Term termOf(float value, int least) {
  if (value == 0)
    return {value, least};
  int exponent = exponentOf(value, least);
  return {scaled(value, -exponent), exponent};
}

Term product(Term a, Term b) {
  Term result{a.significand * b.significand, a.exponent + b.exponent};
  return result.significand == 0 ? Term{} : result;
}

// Rounds the exact value of a sum to its format, as the tensor core does at the end of a chain.
uint32_t roundSum(double value, int fractionBits, SumResult result) {
  if (result == SumResult::F16)
    return encodeFloat(value, kHalfFormat, Rounding::NearestEven);
  if (std::fabs(value) >= 0x1p128)
    return std::bit_cast<uint32_t>(std::copysign(INFINITY, static_cast<float>(value)));
  FloatFormat format{kFloatFormat.exponentBits, fractionBits, true};
  return encodeFloat(value, format, Rounding::Zero) << (kFloatFormat.mantissaBits - fractionBits);
}

uint32_t specialSum(double value, SumResult result) {
  if (std::isnan(value))
    return result == SumResult::F16 ? 0x7fff : 0x7fffffff;
  return result == SumResult::F16 ? encodeFloat(value, kHalfFormat, Rounding::NearestEven)
                                  : std::bit_cast<uint32_t>(static_cast<float>(value));
}

float valueOf(uint32_t bits, SumResult result) {
  return result == SumResult::F16 ? halfToFloat(static_cast<uint16_t>(bits))
                                  : std::bit_cast<float>(bits);
}

struct Factors {
  TensorElement element;
  std::span<const float> values;
};

uint32_t sumOnce(const SumRule &rule, Factors a, Factors b, float c, SumResult result) {
  double plain = c;
  for (size_t k = 0; k < a.values.size(); ++k)
    plain += double{a.values[k]} * b.values[k];
  if (!std::isfinite(plain))
    return specialSum(plain, result);
  int leastC = result == SumResult::F16 ? leastExponent(TensorElement::F16) : kLeastExponent;
  auto term = [&](size_t k) {
    return product(termOf(a.values[k], leastExponent(a.element)),
                   termOf(b.values[k], leastExponent(b.element)));
  };
  Term start = c == 0 ? Term{} : termOf(c, leastC);
  int highest = start.exponent;
  for (size_t k = 0; k < a.values.size(); ++k)
    highest = std::max(highest, term(k).exponent);
  double sum = 0;
  auto add = [&](Term part) {
    sum += std::trunc(scaled(part.significand, part.exponent - highest + rule.fractionBits));
  };
  add(start);
  for (size_t k = 0; k < a.values.size(); ++k)
    add(term(k));
  return roundSum(scaled(sum, highest - rule.fractionBits), rule.resultFractionBits, result);
}

// C beside the sum of the products, to nearest.
uint32_t addToNearest(float sum, float c, SumResult result) {
  double exact = double{sum} + c;
  if (!std::isfinite(exact))
    return specialSum(exact, result);
  return result == SumResult::F16 ? encodeFloat(exact, kHalfFormat, Rounding::NearestEven)
                                  : std::bit_cast<uint32_t>(sum + c);
}

uint32_t widenedSum(const SumRule &rule, std::span<const float> a, std::span<const float> b,
                    float c, SumResult result) {
  constexpr size_t kMost = 32, kPeriod = 4, kFirst = 2; // of each four elements the first two
  float sum = 0;
  for (bool isSecond : {false, true}) {
    std::array<float, kMost> partA, partB;
    size_t count = 0;
    for (size_t k = 0; k < std::min(a.size(), kMost); ++k)
      if ((k % kPeriod >= kFirst) == isSecond) {
        partA[count] = a[k];
        partB[count++] = b[k];
      }
    Factors factorsA{TensorElement::F16, std::span(partA.data(), count)},
        factorsB{TensorElement::F16, std::span(partB.data(), count)};
    sum = valueOf(sumOnce(rule, factorsA, factorsB, sum, result), result);
  }
  return addToNearest(sum, c, result);
}

} // namespace

SumRule sumRule(int arch, TensorElement element, bool isWgmma) {
  constexpr int kAda = 89, kHopper = 90;
  bool isFp8 = element == TensorElement::E4M3 || element == TensorElement::E5M2;
  SumRule rule;
  if (arch < kHopper) {
    rule.fractionBits = 24;
    rule.termBytes = 16;
  }
  if (isFp8 && (arch == kAda || isWgmma)) {
    rule.fractionBits = 13;
    rule.resultFractionBits = 13;
  }
  rule.isWidened = isFp8 && arch == kHopper && !isWgmma;
  return rule;
}

uint32_t tensorSum(const SumRule &rule, TensorElement elementA, TensorElement elementB,
                   std::span<const float> a, std::span<const float> b, float c, SumResult result) {
  size_t terms = rule.termBytes / 4 * elementsPerWord(elementA);
  uint32_t bits = 0;
  for (size_t begin = 0; begin < a.size(); begin += terms) {
    size_t count = std::min(terms, a.size() - begin);
    std::span<const float> partA = a.subspan(begin, count), partB = b.subspan(begin, count);
    bits = rule.isWidened ? widenedSum(rule, partA, partB, c, result)
                          : sumOnce(rule, {elementA, partA}, {elementB, partB}, c, result);
    c = valueOf(bits, result);
  }
  return bits;
}

} // namespace tile::vgpu
