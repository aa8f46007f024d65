// lop3, fns, bmsk, szext and the named modes of prmt, against the ISA text's pseudocode.
#include "tests/runtime/vgpu/Lanewise.h"

namespace tile::vgpu {
namespace {

std::vector<uint32_t> words() { return integerEdges<uint32_t>(); }

uint32_t lookUp(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t result = 0;
  for (int i = 0; i < 32; ++i)
    result |= (table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i;
  return result;
}

TEST(Bits, Lop3LooksUpEveryTable) {
  std::vector<uint32_t> x = {0xf0f0f0f0, 0x12345678, 0}, y = {0xcccccccc, 0x9abcdef0, ~0u},
                        z = {0xaaaaaaaa, 0x0ff1ce00, 5};
  for (uint32_t table = 0; table < 256; table += table < 8 ? 1 : 31) {
    auto result =
        applyPtx<uint32_t>("lop3.b32 %d, %x, %y, %z, " + std::to_string(table) + ";", x, y, z);
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_EQ(result[i], lookUp(x[i], y[i], z[i], table)) << table;
  }
  auto both = applyPtx<uint32_t>("setp.ne.u32 %p, %z, 5; lop3.and.b32 %d|%p, %x, %y, %z, 0x80, %p; "
                                 "selp.u32 %d, 1, 0, %p;",
                                 x, y, z);
  auto either =
      applyPtx<uint32_t>("setp.eq.u32 %p, %z, 5; lop3.or.b32 _|%p, %x, %y, %z, 0x80, !%p; "
                         "selp.u32 %d, 1, 0, %p;",
                         x, y, z);
  for (size_t i = 0; i < x.size(); ++i) {
    bool any = (x[i] & y[i] & z[i]) != 0;
    EXPECT_EQ(both[i], any && z[i] != 5);
    EXPECT_EQ(either[i], any || z[i] != 5);
  }
}

TEST(Bits, FnsFindsTheNthSetBit) {
  std::vector<uint32_t> mask, base;
  std::vector<int32_t> offset;
  for (uint32_t m : {0u, 1u, 0x80000001u, 0x00f0a5c3u, ~0u})
    for (uint32_t b : {0u, 1u, 5u, 16u, 31u})
      for (int32_t n : {0, 1, 2, 3, 9, 32, 33, -1, -2, -7, -32, INT32_MIN, INT32_MAX}) {
        mask.push_back(m), base.push_back(b), offset.push_back(n);
      }
  auto result = applyPtx<uint32_t, uint32_t, uint32_t, int32_t>("fns.b32 %d, %x, %y, %z;", mask,
                                                                base, offset);
  for (size_t i = 0; i < mask.size(); ++i) {
    std::vector<uint32_t> found; // in the order of the search
    for (uint32_t at = base[i]; at < 32; offset[i] >= 0 ? ++at : --at)
      if (mask[i] >> at & 1)
        found.push_back(at);
    int64_t nth = offset[i] < 0 ? -int64_t{offset[i]} : offset[i];
    uint32_t expected = ~0u;
    if (nth == 0)
      expected = mask[i] >> base[i] & 1 ? base[i] : ~0u;
    else if (static_cast<size_t>(nth) <= found.size())
      expected = found[static_cast<size_t>(nth) - 1];
    EXPECT_EQ(result[i], expected) << mask[i] << " " << base[i] << " " << offset[i];
  }
}

const std::vector<uint32_t> kCounts = {0, 1, 5, 16, 31, 32, 33, 63, 64, 255, ~0u};

TEST(Bits, BmskMakesFields) {
  auto [start, width] = allPairs(kCounts);
  auto clamp = applyPtx<uint32_t>("bmsk.clamp.b32 %d, %x, %y;", start, width);
  auto wrap = applyPtx<uint32_t>("bmsk.wrap.b32 %d, %x, %y;", start, width);
  for (size_t i = 0; i < start.size(); ++i) {
    uint32_t clamped = 0, wrapped = 0;
    for (uint64_t bit = 0; bit < 32; ++bit) {
      clamped |= uint32_t{bit >= start[i] && bit < uint64_t{start[i]} + width[i]} << bit;
      wrapped |= uint32_t{bit >= start[i] % 32 && bit < start[i] % 32 + width[i] % 32} << bit;
    }
    EXPECT_EQ(clamp[i], clamped) << start[i] << " " << width[i];
    EXPECT_EQ(wrap[i], wrapped) << start[i] << " " << width[i];
  }
}

TEST(Bits, SzextExtendsTheLowBits) {
  std::vector<uint32_t> x, width;
  for (uint32_t value : words())
    for (uint32_t count : kCounts)
      x.push_back(value), width.push_back(count);
  auto run = [&](const std::string &form) {
    return applyPtx<uint32_t>("szext." + form + " %d, %x, %y;", x, width);
  };
  auto clampU = run("clamp.u32"), clampS = run("clamp.s32"), wrapU = run("wrap.u32"),
       wrapS = run("wrap.s32");
  auto reference = [](uint32_t value, uint32_t count, bool isSigned) {
    if (count >= 32)
      return value;
    uint32_t low = value & ((1u << count) - 1);
    bool negative = isSigned && count && (value >> (count - 1) & 1);
    return negative ? low - (1u << count) : low;
  };
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(clampU[i], reference(x[i], width[i], false)) << x[i] << " " << width[i];
    EXPECT_EQ(clampS[i], reference(x[i], width[i], true)) << x[i] << " " << width[i];
    EXPECT_EQ(wrapU[i], reference(x[i], width[i] % 32, false)) << x[i] << " " << width[i];
    EXPECT_EQ(wrapS[i], reference(x[i], width[i] % 32, true)) << x[i] << " " << width[i];
  }
}

// In double words hardware takes positions and lengths whole, which in words count modulo 256.
TEST(Bits, InsertionsFarOutside) {
  const std::vector<uint32_t> counts = {0, 5, 63, 64, 255, 256, 0x104, 0xd48e840a, ~0u};
  auto [start, length] = allPairs(counts);
  constexpr uint64_t kField = 0x320ebc9fbf37f0f1, kInto = 0x5555555555555555;
  std::vector<uint64_t> x(start.size(), kField);
  auto result = applyPtx<uint64_t, uint64_t, uint32_t, uint32_t>(
      "bfi.b64 %d, %x, 0x5555555555555555, %y, %z;", x, start, length);
  for (size_t i = 0; i < x.size(); ++i) {
    uint64_t expected = kInto;
    for (uint64_t bit = start[i]; bit < 64 && bit - start[i] < length[i]; ++bit)
      expected = (expected & ~(uint64_t{1} << bit)) | (kField >> (bit - start[i]) & 1) << bit;
    EXPECT_EQ(result[i], expected) << start[i] << " " << length[i];
  }
}

// The table of the ISA text: the bytes of d, highest first, for each value of the selector's low bits.
TEST(Bits, PrmtModes) {
  const std::pair<const char *, std::array<uint32_t, 4>> modes[] = {
      {"f4e", {0x3210, 0x4321, 0x5432, 0x6543}}, {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
      {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}}, {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
      {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}}, {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}}};
  std::vector<uint32_t> x(4, 0x33221100), y(4, 0x77665544), z = {0, 1, 2, 7};
  for (auto [mode, bytes] : modes) {
    auto result = applyPtx<uint32_t>(std::string("prmt.b32.") + mode + " %d, %x, %y, %z;", x, y, z);
    for (size_t i = 0; i < z.size(); ++i) {
      uint32_t expected = 0;
      for (int byte = 0; byte < 4; ++byte)
        expected |= (bytes[z[i] & 3] >> (4 * byte) & 15) * 0x11 << (8 * byte);
      EXPECT_EQ(result[i], expected) << mode << " " << z[i];
    }
  }
}

} // namespace
} // namespace tile::vgpu
