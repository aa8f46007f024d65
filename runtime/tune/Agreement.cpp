#include "runtime/tune/Agreement.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

namespace tile::tune {
namespace {

double numberAt(const PrivateCall::Result &result, size_t index) {
  const std::byte *from = result.bytes.data() + index * sizeOf(result.dtype);
  auto as = [&]<class T>(T value) {
    std::memcpy(&value, from, sizeof value);
    return static_cast<double>(value);
  };
  auto asFloat = [&]<class T>(T value) {
    std::memcpy(&value, from, sizeof value);
    return static_cast<double>(static_cast<float>(value));
  };
  switch (result.dtype) {
  case f64:
    return as(double());
  case f32:
    return as(float());
  case f16:
    return asFloat(half());
  case bf16:
    return asFloat(bfloat16());
  case e4m3:
    return asFloat(float8_e4m3());
  case e5m2:
    return asFloat(float8_e5m2());
  default:
    return 0;
  }
}

/// The part of an element by which it may differ.
double toleranceOf(DType dtype) {
  switch (dtype) {
  case f64:
    return 0x1p-35;
  case f32:
    return 0x1p-9;
  case f16:
    return 0x1p-6;
  case bf16:
    return 0x1p-4;
  default:
    return 0x1p-2;
  }
}

double rootOfMeanSquare(const PrivateCall::Result &result, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i)
    if (double number = numberAt(result, i); std::isfinite(number))
      sum += number * number;
  return std::sqrt(sum / static_cast<double>(count));
}

std::string differs(size_t index, double value, double reference) {
  std::ostringstream text;
  text << "element " << index << " is " << value << ", of the reference " << reference;
  return text.str();
}

} // namespace

std::string disagreement(const PrivateCall::Result &result, const PrivateCall::Result &reference) {
  size_t count = reference.bytes.size() / sizeOf(reference.dtype);
  if (!isFloat(reference.dtype)) {
    auto [own, other] = std::ranges::mismatch(result.bytes, reference.bytes);
    if (own == result.bytes.end())
      return {};
    auto byte = static_cast<size_t>(own - result.bytes.begin());
    return "element " + std::to_string(byte / sizeOf(reference.dtype)) + " is not the reference's";
  }
  double part = toleranceOf(reference.dtype), typical = rootOfMeanSquare(reference, count);
  double worst = 0;
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    double value = numberAt(result, i), expected = numberAt(reference, i);
    if (value == expected || (std::isnan(value) && std::isnan(expected)))
      continue;
    double allowed = part * (std::abs(expected) + typical);
    double excess = std::abs(value - expected) / allowed;
    if (!(excess <= 1) && !(excess <= worst)) { // so that NaN counts
      text = differs(i, value, expected);
      if (!std::isfinite(excess))
        return text;
      worst = excess;
    }
  }
  return text;
}

} // namespace tile::tune
