// Integer instructions against scalar C++ written from the ISA text, on edge values.
#include "tests/runtime/vgpu/Lanewise.h"

#include <bit>

namespace tile::vgpu {
namespace {

template <class D, class T, class Reference>
void checkBinary(const std::string &instruction, Reference reference) {
  auto [x, y] = allPairs(integerEdges<T>());
  auto result = applyPtx<D>(instruction + " %d, %x, %y;", x, y);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(result[i], static_cast<D>(reference(x[i], y[i])))
        << instruction << " " << +x[i] << ", " << +y[i];
}

template <class D, class T, class Reference>
void checkUnary(const std::string &instruction, Reference reference) {
  auto x = integerEdges<T>();
  auto result = applyPtx<D>(instruction + " %d, %x;", x);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(result[i], static_cast<D>(reference(x[i]))) << instruction << " " << +x[i];
}

template <class T> std::string typeName() {
  return (std::is_signed_v<T> ? "s" : "u") + std::to_string(8 * sizeof(T));
}

template <class T> class IntegerTest : public testing::Test {};
using WordTypes = testing::Types<uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t>;
TYPED_TEST_SUITE(IntegerTest, WordTypes);

TYPED_TEST(IntegerTest, Arithmetic) {
  using T = TypeParam;
  using Wide = __int128;
  std::string type = "." + typeName<T>();
  checkBinary<T, T>("add" + type, [](T a, T b) { return Wide(a) + b; });
  checkBinary<T, T>("sub" + type, [](T a, T b) { return Wide(a) - b; });
  checkBinary<T, T>("mul.lo" + type, [](T a, T b) {
    return static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b);
  });
  checkBinary<T, T>("min" + type, [](T a, T b) { return a < b ? a : b; });
  checkBinary<T, T>("max" + type, [](T a, T b) { return a < b ? b : a; });
  checkBinary<T, T>("mul.hi" + type, [](T a, T b) {
    if constexpr (std::is_signed_v<T>)
      return (Wide(a) * b) >> (8 * sizeof(T));
    else
      return (static_cast<unsigned __int128>(a) * b) >> (8 * sizeof(T));
  });
  // PTX does not say what a divisor of zero gives; hardware gives all ones for both.
  checkBinary<T, T>("div" + type, [](T a, T b) { return b == 0 ? Wide(-1) : Wide(a) / b; });
  checkBinary<T, T>("rem" + type, [](T a, T b) { return b == 0 ? Wide(-1) : Wide(a) % b; });
}

TYPED_TEST(IntegerTest, LogicAndShifts) {
  using T = TypeParam;
  constexpr unsigned bits = 8 * sizeof(T);
  std::string type = ".b" + std::to_string(bits);
  checkBinary<T, T>("and" + type, [](T a, T b) { return a & b; });
  checkBinary<T, T>("or" + type, [](T a, T b) { return a | b; });
  checkBinary<T, T>("xor" + type, [](T a, T b) { return a ^ b; });
  checkUnary<T, T>("not" + type, [](T a) { return ~a; });
  std::vector<T> x;
  std::vector<uint32_t> counts;
  for (T value : integerEdges<T>())
    for (uint32_t count : {0u, 1u, 7u, bits - 1, bits, bits + 1, 64u, 255u, 1u << 31}) {
      x.push_back(value);
      counts.push_back(count);
    }
  auto left = applyPtx<T, T, uint32_t>("shl" + type + " %d, %x, %y;", x, counts);
  auto right = applyPtx<T, T, uint32_t>("shr." + typeName<T>() + " %d, %x, %y;", x, counts);
  for (size_t i = 0; i < x.size(); ++i) {
    uint32_t count = std::min(counts[i], 127u);
    EXPECT_EQ(left[i], static_cast<T>(static_cast<unsigned __int128>(x[i]) << count));
    EXPECT_EQ(right[i], static_cast<T>(__int128(x[i]) >> count));
  }
}

TYPED_TEST(IntegerTest, Comparisons) {
  using T = TypeParam;
  std::string type = "." + typeName<T>();
  auto check = [&](const std::string &relation, auto reference) {
    checkBinary<uint32_t, T>(
        "setp." + relation + type +
            " %p, %x, %y; selp.u32 %d, 1, 0, %p; mov.b32 %m, 0; add.u32 %d, %d, 0; //",
        reference);
  };
  check("eq", [](T a, T b) { return a == b; });
  check("ne", [](T a, T b) { return a != b; });
  check("lt", [](T a, T b) { return a < b; });
  check("le", [](T a, T b) { return a <= b; });
  check("gt", [](T a, T b) { return a > b; });
  check("ge", [](T a, T b) { return a >= b; });
}

TEST(Integer, WideProducts) {
  checkBinary<uint64_t, uint32_t>("mul.wide.u32",
                                  [](uint32_t a, uint32_t b) { return uint64_t{a} * b; });
  checkBinary<int64_t, int32_t>("mul.wide.s32",
                                [](int32_t a, int32_t b) { return int64_t{a} * b; });
  checkBinary<uint32_t, uint16_t>("mul.wide.u16",
                                  [](uint16_t a, uint16_t b) { return uint32_t{a} * b; });
  checkBinary<int32_t, int16_t>("mul.wide.s16",
                                [](int16_t a, int16_t b) { return int32_t{a} * b; });
}

TEST(Integer, BitCounting) {
  checkUnary<uint32_t, uint32_t>("popc.b32", [](uint32_t a) { return std::popcount(a); });
  checkUnary<uint32_t, uint64_t>("popc.b64", [](uint64_t a) { return std::popcount(a); });
  checkUnary<uint32_t, uint32_t>("clz.b32", [](uint32_t a) { return std::countl_zero(a); });
  checkUnary<uint32_t, uint64_t>("clz.b64", [](uint64_t a) { return std::countl_zero(a); });
  checkUnary<uint32_t, uint32_t>("bfind.u32",
                                 [](uint32_t a) { return a ? 31 - std::countl_zero(a) : -1; });
  checkUnary<uint32_t, int32_t>("bfind.s32", [](int32_t a) {
    auto bits = static_cast<uint32_t>(a < 0 ? ~a : a);
    return bits ? 31 - std::countl_zero(bits) : -1;
  });
  checkUnary<uint32_t, uint32_t>("brev.b32", [](uint32_t a) {
    uint32_t result = 0;
    for (int i = 0; i < 32; ++i)
      result |= (a >> i & 1) << (31 - i);
    return result;
  });
  checkUnary<int32_t, int32_t>("abs.s32", [](int32_t a) {
    return a < 0 ? 0u - static_cast<uint32_t>(a) : static_cast<uint32_t>(a);
  });
  checkUnary<int64_t, int64_t>("neg.s64", [](int64_t a) { return 0 - static_cast<uint64_t>(a); });
}

TEST(Integer, SaturatingSum) {
  checkBinary<int32_t, int32_t>("add.sat.s32", [](int32_t a, int32_t b) {
    return std::min<int64_t>(std::max<int64_t>(int64_t{a} + b, INT32_MIN), INT32_MAX);
  });
}

// bfe and bfi, bit by bit as the ISA text says it, but that double words take positions and lengths whole.
template <class T> T extractReference(T a, uint32_t position, uint32_t length) {
  constexpr uint32_t most = 8 * sizeof(T) - 1;
  for (uint32_t *count : {&position, &length})
    *count = sizeof(T) == 8 ? std::min(*count, 255u) : *count & 255;
  bool sign =
      std::is_signed_v<T> && length != 0 && (a >> std::min(position + length - 1, most) & 1);
  std::make_unsigned_t<T> result = 0;
  for (uint32_t i = 0; i <= most; ++i) {
    bool bit = i < length && position + i <= most ? a >> (position + i) & 1 : sign;
    result |= static_cast<std::make_unsigned_t<T>>(bit) << i;
  }
  return static_cast<T>(result);
}

template <class T> void checkExtract() {
  std::vector<T> x;
  std::vector<uint32_t> y, z;
  for (T value : integerEdges<T>())
    for (uint32_t position : {0u, 1u, 5u, 31u, 32u, 63u, 64u, 255u, 256u, 0x105u})
      for (uint32_t length : {0u, 1u, 8u, 31u, 32u, 33u, 64u, 255u, 0x108u, ~0u}) {
        x.push_back(value);
        y.push_back(position);
        z.push_back(length);
      }
  auto result =
      applyPtx<T, T, uint32_t, uint32_t>("bfe." + typeName<T>() + " %d, %x, %y, %z;", x, y, z);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(result[i], extractReference(x[i], y[i], z[i])) << x[i] << " " << y[i] << " " << z[i];
}

TEST(Integer, BitFieldExtract) {
  checkExtract<uint32_t>();
  checkExtract<int32_t>();
  checkExtract<uint64_t>();
  checkExtract<int64_t>();
}

TEST(Integer, BitFieldInsert) {
  std::vector<uint32_t> x, y, z;
  for (uint32_t value : integerEdges<uint32_t>())
    for (uint32_t position : {0u, 1u, 5u, 31u, 32u, 255u})
      for (uint32_t length : {0u, 1u, 8u, 31u, 32u, 33u, 255u}) {
        x.push_back(value);
        y.push_back(position);
        z.push_back(length);
      }
  auto result = applyPtx<uint32_t>("bfi.b32 %d, %x, 0x0f0f5555, %y, %z;", x, y, z);
  for (size_t i = 0; i < x.size(); ++i) {
    uint32_t expected = 0x0f0f5555;
    for (uint32_t bit = 0; bit < z[i] && y[i] + bit < 32; ++bit)
      expected =
          (expected & ~(1u << (y[i] + bit))) | ((bit < 32 ? x[i] >> bit & 1 : 0) << (y[i] + bit));
    EXPECT_EQ(result[i], expected) << x[i] << " " << y[i] << " " << z[i];
  }
}

TEST(Integer, FunnelShift) {
  auto [x, y] = allPairs(integerEdges<uint32_t>());
  for (uint32_t count : {0u, 1u, 13u, 31u, 32u, 33u, 64u}) {
    std::vector<uint32_t> z(x.size(), count);
    auto wrapLeft = applyPtx<uint32_t>("shf.l.wrap.b32 %d, %x, %y, %z;", x, y, z);
    auto clampRight = applyPtx<uint32_t>("shf.r.clamp.b32 %d, %x, %y, %z;", x, y, z);
    for (size_t i = 0; i < x.size(); ++i) {
      uint64_t both = uint64_t{y[i]} << 32 | x[i];
      EXPECT_EQ(wrapLeft[i], static_cast<uint32_t>((both << (count % 32)) >> 32));
      EXPECT_EQ(clampRight[i], static_cast<uint32_t>(both >> std::min(count, 32u)));
    }
  }
}

TEST(Integer, BytePermute) {
  auto [x, z] =
      allPairs(std::vector<uint32_t>{0x3210, 0x7654, 0xfedc, 0x0000, 0x8181, 0x5140, 0x9b2f});
  std::vector<uint32_t> y(x.size(), 0x80c0ff7f);
  auto result = applyPtx<uint32_t>("prmt.b32 %d, %x, %y, %z;", x, y, z);
  for (size_t i = 0; i < x.size(); ++i) {
    uint64_t bytes = uint64_t{y[i]} << 32 | x[i];
    for (int k = 0; k < 4; ++k) {
      uint32_t nibble = z[i] >> (4 * k) & 15;
      auto byte = static_cast<uint8_t>(bytes >> (8 * (nibble & 7)));
      uint8_t expected = nibble & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
      EXPECT_EQ(static_cast<uint8_t>(result[i] >> (8 * k)), expected);
    }
  }
}

TEST(Integer, MultiplyAdd) {
  auto [x, y] = allPairs(integerEdges<int32_t>());
  std::vector<int32_t> z(x.size(), -5);
  auto low = applyPtx<int32_t>("mad.lo.s32 %d, %x, %y, %z;", x, y, z);
  auto high = applyPtx<int32_t>("mad.hi.s32 %d, %x, %y, %z;", x, y, z);
  std::vector<int64_t> wide(x.size(), -5);
  auto full =
      applyPtx<int64_t, int32_t, int32_t, int64_t>("mad.wide.s32 %d, %x, %y, %z;", x, y, wide);
  for (size_t i = 0; i < x.size(); ++i) {
    int64_t product = int64_t{x[i]} * y[i];
    EXPECT_EQ(low[i], static_cast<int32_t>(product - 5));
    EXPECT_EQ(high[i], static_cast<int32_t>((product >> 32) - 5));
    EXPECT_EQ(full[i], product - 5);
  }
}

} // namespace
} // namespace tile::vgpu
