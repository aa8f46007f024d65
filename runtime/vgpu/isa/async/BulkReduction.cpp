// Element by element, with the rounding of each type's addition.
#include "runtime/vgpu/isa/async/BulkReduction.h"

#include "runtime/vgpu/isa/alu/FloatRules.h"
#include "runtime/vgpu/isa/alu/HalfFormat.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tile::vgpu {
namespace {

template <class T, class F> void reduce(uint8_t *target, const uint8_t *source, uint32_t bytes) {
  for (uint32_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
    T old, value;
    std::memcpy(&old, target + at, sizeof(T));
    std::memcpy(&value, source + at, sizeof(T));
    T result = F::apply(old, value);
    std::memcpy(target + at, &result, sizeof(T));
  }
}

template <class T> struct Sum {
  static T apply(T a, T b) { return static_cast<T>(a + b); }
};
template <> struct Sum<float> { // unlike atomics on global memory, subnormals stay
  static float apply(float a, float b) { return canonical(a + b); }
};
template <> struct Sum<double> {
  static double apply(double old, double value) { return sumInMemory(old, value); }
};
struct HalfSum {
  static uint16_t apply(uint16_t a, uint16_t b) {
    return floatToHalf(halfToFloat(a) + halfToFloat(b));
  }
};
struct BfloatSum {
  static uint16_t apply(uint16_t a, uint16_t b) {
    return floatToBfloat(bfloatToFloat(a) + bfloatToFloat(b));
  }
};
template <class T> struct Least {
  static T apply(T a, T b) { return std::min(a, b); }
};
template <class T> struct Most {
  static T apply(T a, T b) { return std::max(a, b); }
};
template <float (*ToFloat)(uint16_t), uint16_t (*FromFloat)(float), bool Max> struct HalfExtreme {
  static uint16_t apply(uint16_t a, uint16_t b) {
    float x = ToFloat(a), y = ToFloat(b);
    return FromFloat(Max ? maximum<false>(x, y) : minimum<false>(x, y));
  }
};
template <bool Max> using ExtremeHalf = HalfExtreme<halfToFloat, floatToHalf, Max>;
template <bool Max> using ExtremeBfloat = HalfExtreme<bfloatToFloat, floatToBfloat, Max>;
struct Up {
  static uint32_t apply(uint32_t a, uint32_t b) { return a >= b ? 0 : a + 1; }
};
struct Down {
  static uint32_t apply(uint32_t a, uint32_t b) { return a == 0 || a > b ? b : a - 1; }
};
template <class T> struct BitAnd {
  static T apply(T a, T b) { return a & b; }
};
template <class T> struct BitOr {
  static T apply(T a, T b) { return a | b; }
};
template <class T> struct BitXor {
  static T apply(T a, T b) { return a ^ b; }
};

struct Row {
  std::string_view operation;
  ScalarType type;
  Reduction reduction;
};
constexpr Row kRows[] = {
    {"add", ScalarType::U32, reduce<uint32_t, Sum<uint32_t>>},
    {"add", ScalarType::S32, reduce<uint32_t, Sum<uint32_t>>},
    {"add", ScalarType::U64, reduce<uint64_t, Sum<uint64_t>>},
    {"add", ScalarType::S64, reduce<uint64_t, Sum<uint64_t>>},
    {"add", ScalarType::F32, reduce<float, Sum<float>>},
    {"add", ScalarType::F64, reduce<double, Sum<double>>},
    {"add", ScalarType::F16, reduce<uint16_t, HalfSum>},
    {"add", ScalarType::BF16, reduce<uint16_t, BfloatSum>},
    {"min", ScalarType::U32, reduce<uint32_t, Least<uint32_t>>},
    {"min", ScalarType::S32, reduce<int32_t, Least<int32_t>>},
    {"min", ScalarType::U64, reduce<uint64_t, Least<uint64_t>>},
    {"min", ScalarType::S64, reduce<int64_t, Least<int64_t>>},
    {"min", ScalarType::F16, reduce<uint16_t, ExtremeHalf<false>>},
    {"min", ScalarType::BF16, reduce<uint16_t, ExtremeBfloat<false>>},
    {"max", ScalarType::U32, reduce<uint32_t, Most<uint32_t>>},
    {"max", ScalarType::S32, reduce<int32_t, Most<int32_t>>},
    {"max", ScalarType::U64, reduce<uint64_t, Most<uint64_t>>},
    {"max", ScalarType::S64, reduce<int64_t, Most<int64_t>>},
    {"max", ScalarType::F16, reduce<uint16_t, ExtremeHalf<true>>},
    {"max", ScalarType::BF16, reduce<uint16_t, ExtremeBfloat<true>>},
    {"inc", ScalarType::U32, reduce<uint32_t, Up>},
    {"dec", ScalarType::U32, reduce<uint32_t, Down>},
    {"and", ScalarType::B32, reduce<uint32_t, BitAnd<uint32_t>>},
    {"and", ScalarType::B64, reduce<uint64_t, BitAnd<uint64_t>>},
    {"or", ScalarType::B32, reduce<uint32_t, BitOr<uint32_t>>},
    {"or", ScalarType::B64, reduce<uint64_t, BitOr<uint64_t>>},
    {"xor", ScalarType::B32, reduce<uint32_t, BitXor<uint32_t>>},
    {"xor", ScalarType::B64, reduce<uint64_t, BitXor<uint64_t>>},
};

} // namespace

uint8_t takeReduction(Decoder &decoder, Suffixes &suffixes) {
  auto name = std::ranges::find_if(kReductions, [&](auto word) { return suffixes.take(word); });
  if (name == std::end(kReductions))
    decoder.unsupported("expected a reduction: add, min, max, inc, dec, and, or, xor");
  return static_cast<uint8_t>(name - std::begin(kReductions) + 1);
}

Reduction bulkReduction(std::string_view operation, ScalarType type) {
  for (const Row &row : kRows)
    if (row.operation == operation && row.type == type)
      return row.reduction;
  return nullptr;
}

Reduction tensorReduction(std::string_view operation, device::TensorMapType type) {
  using Type = device::TensorMapType;
  bool isBits = operation == "and" || operation == "or" || operation == "xor";
  switch (type) {
  case Type::U32:
    return bulkReduction(operation, isBits ? ScalarType::B32 : ScalarType::U32);
  case Type::S32:
    return bulkReduction(operation, isBits ? ScalarType::B32 : ScalarType::S32);
  case Type::U64:
    return bulkReduction(operation, isBits ? ScalarType::B64 : ScalarType::U64);
  case Type::S64:
    if (operation == "add")
      return nullptr; // sums of 64 bits need a map of u64
    return bulkReduction(operation, isBits ? ScalarType::B64 : ScalarType::S64);
  case Type::F16:
    return bulkReduction(operation, ScalarType::F16);
  case Type::BF16:
    return bulkReduction(operation, ScalarType::BF16);
  case Type::F32:
    return bulkReduction(operation, ScalarType::F32);
  case Type::F64:
    return bulkReduction(operation, ScalarType::F64);
  default:
    return nullptr;
  }
}

} // namespace tile::vgpu
