// 24-bit products, sums of products of bytes and halves, and the 16-bit pairs, against the ISA text's formulas.
#include "tests/runtime/vgpu/Lanewise.h"

#include <algorithm>

namespace tile::vgpu {
namespace {

// Triples of operands: all pairs, with the third varying.
template <class T> struct Triples {
  std::vector<T> x, y, z;
  Triples() {
    std::tie(x, y) = allPairs(integerEdges<T>());
    for (size_t i = 0; i < x.size(); ++i)
      z.push_back(integerEdges<T>()[i * 7 % integerEdges<T>().size()]);
  }
};

template <class T, class Reference>
void checkTriples(const std::string &instruction, Reference reference,
                  const std::string &target = "sm_80") {
  Triples<T> t;
  auto result = applyPtx<T>(instruction + " %d, %x, %y, %z;", t.x, t.y, t.z, target);
  for (size_t i = 0; i < result.size(); ++i)
    EXPECT_EQ(result[i], static_cast<T>(reference(t.x[i], t.y[i], t.z[i])))
        << instruction << " " << t.x[i] << ", " << t.y[i] << ", " << t.z[i];
}
template <class T, class Reference>
void checkPairs(const std::string &instruction, Reference reference,
                const std::string &target = "sm_80") {
  Triples<T> t;
  auto result = applyPtx<T>(instruction + " %d, %x, %y;", t.x, t.y, {}, target);
  for (size_t i = 0; i < result.size(); ++i)
    EXPECT_EQ(result[i], static_cast<T>(reference(t.x[i], t.y[i])))
        << instruction << " " << t.x[i] << ", " << t.y[i];
}

int64_t signed24(int32_t a) {
  int64_t low = a & 0xffffff;
  return low >= 1 << 23 ? low - (1 << 24) : low;
}
int32_t clamped(int64_t value) {
  return static_cast<int32_t>(std::clamp<int64_t>(value, INT32_MIN, INT32_MAX));
}
// Bits 47..16 of a product of 48 bits.
int32_t middle(int64_t product) { return static_cast<int32_t>(product >> 16); }

TEST(Products, TwentyFourBits) {
  auto low24 = [](uint32_t a) { return uint64_t{a & 0xffffff}; };
  checkPairs<uint32_t>("mul24.lo.u32", [&](uint32_t a, uint32_t b) { return low24(a) * low24(b); });
  checkPairs<uint32_t>("mul24.hi.u32",
                       [&](uint32_t a, uint32_t b) { return low24(a) * low24(b) >> 16; });
  checkPairs<int32_t>("mul24.lo.s32",
                      [](int32_t a, int32_t b) { return signed24(a) * signed24(b); });
  checkPairs<int32_t>("mul24.hi.s32",
                      [](int32_t a, int32_t b) { return middle(signed24(a) * signed24(b)); });
  checkTriples<uint32_t>(
      "mad24.lo.u32", [&](uint32_t a, uint32_t b, uint32_t c) { return low24(a) * low24(b) + c; });
  checkTriples<int32_t>("mad24.hi.s32", [](int32_t a, int32_t b, int32_t c) {
    return int64_t{middle(signed24(a) * signed24(b))} + c;
  });
  checkTriples<int32_t>("mad24.hi.sat.s32", [](int32_t a, int32_t b, int32_t c) {
    return clamped(int64_t{middle(signed24(a) * signed24(b))} + c);
  });
  checkTriples<int32_t>("mad.hi.sat.s32", [](int32_t a, int32_t b, int32_t c) {
    return clamped((int64_t{a} * b >> 32) + c);
  });
}

TEST(Products, SumOfAbsoluteDifferences) {
  checkTriples<int32_t>("sad.s32", [](int32_t a, int32_t b, int32_t c) {
    return c + std::max(int64_t{a}, int64_t{b}) - std::min(int64_t{a}, int64_t{b});
  });
  checkTriples<uint64_t>("sad.u64", [](uint64_t a, uint64_t b, uint64_t c) {
    return c + std::max(a, b) - std::min(a, b);
  });
}

int64_t part(uint32_t word, int index, int bits, bool isSigned) {
  int64_t value = word >> (bits * index) & ((1 << bits) - 1);
  return isSigned && value >> (bits - 1) ? value - (1 << bits) : value;
}

TEST(Products, DotsOfBytesAndHalves) {
  for (bool a : {false, true})
    for (bool b : {false, true}) {
      std::string types = std::string(a ? ".s32" : ".u32") + (b ? ".s32" : ".u32");
      checkTriples<uint32_t>("dp4a" + types, [&](uint32_t x, uint32_t y, uint32_t z) {
        int64_t sum = z;
        for (int i = 0; i < 4; ++i)
          sum += part(x, i, 8, a) * part(y, i, 8, b);
        return sum;
      });
      for (int high : {0, 1})
        checkTriples<uint32_t>(std::string("dp2a") + (high ? ".hi" : ".lo") + types,
                               [&](uint32_t x, uint32_t y, uint32_t z) {
                                 return z + part(x, 0, 16, a) * part(y, 2 * high, 8, b) +
                                        part(x, 1, 16, a) * part(y, 2 * high + 1, 8, b);
                               });
    }
}

TEST(Products, PairsOfShorts) {
  auto each = [](bool isSigned, auto operation) {
    return [=](uint32_t a, uint32_t b) {
      uint32_t result = 0;
      for (int i = 0; i < 2; ++i)
        result |=
            (static_cast<uint32_t>(operation(part(a, i, 16, isSigned), part(b, i, 16, isSigned))) &
             0xffff)
            << (16 * i);
      return result;
    };
  };
  auto add = [](int64_t a, int64_t b) { return a + b; };
  auto least = [](int64_t a, int64_t b) { return std::min(a, b); };
  auto most = [](int64_t a, int64_t b) { return std::max(a, b); };
  auto leastRelu = [](int64_t a, int64_t b) { return std::max<int64_t>(std::min(a, b), 0); };
  checkPairs<uint32_t>("add.u16x2", each(false, add), "sm_90");
  checkPairs<uint32_t>("add.s16x2", each(true, add), "sm_90");
  checkPairs<uint32_t>("min.u16x2", each(false, least), "sm_90");
  checkPairs<uint32_t>("min.s16x2", each(true, least), "sm_90");
  checkPairs<uint32_t>("max.u16x2", each(false, most), "sm_90");
  checkPairs<uint32_t>("min.relu.s16x2", each(true, leastRelu), "sm_90");
  checkPairs<int32_t>(
      "max.relu.s32", [](int32_t a, int32_t b) { return std::max(std::max(a, b), 0); }, "sm_90");
}

} // namespace
} // namespace tile::vgpu
