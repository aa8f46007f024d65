// Which NaN comes out, as an H100 was found to choose: f32 and halves have one, f64 hands operands on.
#include "tests/runtime/vgpu/Lanewise.h"

#include "runtime/vgpu/isa/async/BulkReduction.h"

#include <cmath>
#include <random>

namespace tile::vgpu {
namespace {

using Words = std::vector<uint32_t>;
using Wides = std::vector<uint64_t>;
using Shorts = std::vector<uint16_t>;

constexpr uint64_t kQuietBit = uint64_t{1} << 51;
const Wides kNans = {0x7ff0000000000001, 0xfff4000000000000, 0x7ff8000000000000, 0xfff8123456789abc,
                     0xffffffffffffffff};
const Wides kNumbers = {0, 0x8000000000000000, 0x3ff0000000000000, 0xc01e000000000000,
                        0x7fefffffffffffff};

bool isNanCode(uint64_t bits) { return (bits & ~(uint64_t{1} << 63)) > 0x7ff0000000000000; }

Wides allDoubles() {
  Wides values = kNans;
  values.insert(values.end(), kNumbers.begin(), kNumbers.end());
  return values;
}

// The first of the operands that is NaN, quieted.
uint64_t firstNan(std::initializer_list<uint64_t> operands) {
  for (uint64_t operand : operands)
    if (isNanCode(operand))
      return operand | kQuietBit;
  ADD_FAILURE() << "no operand is NaN";
  return 0;
}

TEST(Nan, SumsAndProductsOfDoublesGiveTheSecond) {
  auto [x, y] = allPairs(allDoubles());
  for (std::string rounding : {"rn", "rz", "rm", "rp"})
    for (std::string operation : {"add", "sub", "mul", "div"}) {
      auto result = applyPtx<uint64_t>(operation + "." + rounding + ".f64 %d, %x, %y;", x, y);
      for (size_t i = 0; i < x.size(); ++i)
        if (isNanCode(x[i]) || isNanCode(y[i]))
          EXPECT_EQ(result[i], operation == "div" ? firstNan({x[i], y[i]}) : firstNan({y[i], x[i]}))
              << operation << "." << rounding << std::hex << " " << x[i] << ", " << y[i];
    }
}

// D = A*B + C of 16 x 8 x 16 doubles, half of them NaN or infinite in some rows: a chain in order of k, of which each step hands
// on b, else the sum so far, else a.
TEST(Nan, MatrixProductsOfDoublesDoSoInTheOrderOfTheDepth) {
  std::string ptx =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 "
      "p)\n{\n  .reg .b32 %l;\n  .reg .b64 %p, %a<8>, %b<4>, %c<4>;\n  ld.param.u64 %p, "
      "[p];\n  mov.u32 %l, %laneid;\n  mad.wide.u32 %p, %l, 8, %p;\n";
  std::string names;
  for (int i = 0; i < 16; ++i) {
    names = i < 8    ? "%a" + std::to_string(i)
            : i < 12 ? "%b" + std::to_string(i - 8)
                     : "%c" + std::to_string(i - 12);
    ptx += "  ld.global.b64 " + names + ", [%p+" + std::to_string(256 * i) + "];\n";
  }
  ptx +=
      "  mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, "
      "%a3, %a4, %a5, %a6, %a7}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3};\n";
  for (int i = 0; i < 4; ++i)
    ptx += "  st.global.b64 [%p+" + std::to_string(256 * (12 + i)) + "], %c" + std::to_string(i) +
           ";\n";
  Gpu gpu(ptx + "  ret;\n}\n", "sm_90");
  std::mt19937_64 random(9);
  Wides words(16 * 32);
  for (uint64_t &word : words)
    word = random() % 12 ? std::bit_cast<uint64_t>(static_cast<double>(random() % 9) - 4)
                         : 0x7ff0000000000001 + random() % 0xfffffffffffff + (random() << 63);
  auto data = gpu.upload(words);
  gpu.run("k", {1}, {32}, 0, data);
  gpu.expectClean();
  auto sums = gpu.download<uint64_t>(data + 12 * 256, 4 * 32);
  size_t several = 0;
  for (size_t row = 0; row < 16; ++row)
    for (size_t column = 0; column < 8; ++column) {
      size_t place = (row / 8 * 2 + column % 2) * 32 + row % 8 * 4 + column / 2;
      uint64_t sum = words[12 * 32 + place];
      size_t count = isNanCode(sum);
      for (size_t k = 0; k < 16; ++k) {
        uint64_t a = words[(row / 8 + k / 4 * 2) * 32 + row % 8 * 4 + k % 4],
                 b = words[(8 + k / 4) * 32 + column * 4 + k % 4];
        count += size_t{isNanCode(a)} + isNanCode(b);
        sum = isNanCode(a) || isNanCode(b) || isNanCode(sum)
                  ? firstNan({b, sum, a})
                  : std::bit_cast<uint64_t>(std::fma(std::bit_cast<double>(a),
                                                     std::bit_cast<double>(b),
                                                     std::bit_cast<double>(sum)));
      }
      several += count > 1;
      EXPECT_EQ(sums[place], sum) << row << " " << column;
    }
  EXPECT_GT(several, 50u);
}

TEST(Nan, FusedProductsOfDoublesGiveTheSecondThenTheThird) {
  auto [pairs, thirds] = allPairs(Wides(allDoubles()));
  auto seconds = thirds;
  std::rotate(seconds.begin(), seconds.begin() + 3, seconds.end());
  for (std::string rounding : {"rn", "rz", "rm", "rp"}) {
    auto result =
        applyPtx<uint64_t>("fma." + rounding + ".f64 %d, %x, %y, %z;", pairs, seconds, thirds);
    for (size_t i = 0; i < pairs.size(); ++i)
      if (isNanCode(pairs[i]) || isNanCode(seconds[i]) || isNanCode(thirds[i]))
        EXPECT_EQ(result[i], firstNan({seconds[i], thirds[i], pairs[i]}))
            << rounding << std::hex << " " << pairs[i] << ", " << seconds[i] << ", " << thirds[i];
  }
}

TEST(Nan, ExtremesOfTwoGiveTheSecond) {
  auto [x, y] = allPairs(kNans);
  for (std::string operation : {"min", "max"}) {
    auto result = applyPtx<uint64_t>(operation + ".f64 %d, %x, %y;", x, y);
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_EQ(result[i], y[i] | kQuietBit) << operation << std::hex << x[i] << ", " << y[i];
  }
}

TEST(Nan, HasNoSignToChange) {
  for (std::string operation : {"abs", "neg"}) {
    auto wide = applyPtx<uint64_t>(operation + ".f64 %d, %x;", kNans);
    for (size_t i = 0; i < kNans.size(); ++i)
      EXPECT_EQ(wide[i], kNans[i] | kQuietBit) << operation;
    Words nans = {0x7f800001, 0xff800001, 0x7fc00000, 0xffc12345, 0xffffffff};
    for (std::string flush : {"", ".ftz"})
      EXPECT_EQ(applyPtx<uint32_t>(operation + flush + ".f32 %d, %x;", nans),
                Words(nans.size(), 0x7fffffff))
          << operation;
    Shorts halves = {0x7c01, 0xfc01, 0x7e00, 0xffff}, bfloats = {0x7f81, 0xff81, 0x7fc0, 0xffff};
    for (std::string flush : {"", ".ftz"})
      EXPECT_EQ(applyPtx<uint16_t>(operation + flush + ".f16 %d, %x;", halves), Shorts(4, 0x7fff));
    EXPECT_EQ(applyPtx<uint16_t>(operation + ".bf16 %d, %x;", bfloats), Shorts(4, 0x7fff));
    // Each half of a pair on its own.
    uint32_t one = operation == "neg" ? 0xbc00 : 0x3c00;
    EXPECT_EQ(applyPtx<uint32_t>(operation + ".f16x2 %d, %x;", Words{0xfc013c00, 0x3c007e00}),
              (Words{0x7fff0000 | one, one << 16 | 0x7fff}));
    EXPECT_EQ(applyPtx<uint32_t>(operation + ".bf16x2 %d, %x;", Words{0xff813c00}),
              (Words{0x7fff0000 | one}));
  }
}

TEST(Nan, DoublesHandItOnToNarrowerFormats) {
  struct Case {
    std::string format;
    unsigned exponentBits, digits;
  };
  for (const Case &test : {Case{"f32", 8, 23}, {"f16", 5, 10}, {"bf16", 8, 7}})
    for (std::string rounding : {"rn", "rz", "rm", "rp", "rn.ftz"}) {
      if (test.format != "f32" && rounding != "rn" &&
          (test.format == "bf16" || rounding == "rn.ftz"))
        continue;
      std::string code = "cvt." + rounding + "." + test.format + ".f64 %d, %x;";
      std::vector<uint32_t> result;
      if (test.format == "f32") {
        result = applyPtx<uint32_t, uint64_t>(code, kNans);
      } else {
        auto halves = applyPtx<uint16_t, uint64_t>(code, kNans, {}, {}, "sm_90");
        result.assign(halves.begin(), halves.end());
      }
      for (size_t i = 0; i < kNans.size(); ++i) {
        uint64_t quiet = kNans[i] | kQuietBit, sign = quiet >> 63,
                 payload = (quiet & ((uint64_t{1} << 52) - 1)) >> (52 - test.digits),
                 ones = (uint64_t{1} << test.exponentBits) - 1;
        EXPECT_EQ(result[i], (sign << test.exponentBits | ones) << test.digits | payload)
            << code << std::hex << " " << kNans[i];
      }
    }
}

TEST(Nan, OtherConversions) {
  Words nans = {0x7f800001, 0xff800001, 0x7fc00000, 0xffc12345, 0xffffffff};
  EXPECT_EQ(applyPtx<uint32_t>("cvt.f32.f32 %d, %x;", nans), nans);
  EXPECT_EQ(applyPtx<uint32_t>("cvt.ftz.f32.f32 %d, %x;", nans), Words(5, 0x7fffffff));
  EXPECT_EQ((applyPtx<uint64_t, uint32_t>("cvt.ftz.f64.f32 %d, %x;", nans)),
            Wides(5, 0x7fffffffe0000000));
  EXPECT_EQ((applyPtx<uint64_t, uint32_t>("cvt.f64.f32 %d, %x;", {0xffc12345, 0xff800001})),
            (Wides{0xfff82468a0000000, 0xfff8000020000000}));
  EXPECT_EQ((applyPtx<uint32_t, uint16_t>("cvt.f32.bf16 %d, %x;", Shorts{0x7f81, 0xffc1, 0xffff},
                                          {}, {}, "sm_90")),
            (Words{0x7f810000, 0xffc10000, 0xffff0000}));
  for (std::string mode : {"rn", "rz", "rn.relu", "rz.relu"})
    EXPECT_EQ(applyPtx<uint32_t>("cvt." + mode + ".tf32.f32 %d, %x;", nans, {}, {}, "sm_90"),
              Words(5, 0x7fffe000))
        << mode;
  // The lower digits go, and what is left may be an infinity.
  EXPECT_EQ(applyPtx<uint32_t>("cvt.rna.tf32.f32 %d, %x;", nans),
            (Words{0x7f800000, 0xff800000, 0x7fc00000, 0xffc12000, 0xffffe000}));
}

TEST(Nan, RoughDoublesHaveOne) {
  Wides values = kNans;
  values.erase(values.begin()); // its upper half is an infinity
  EXPECT_EQ(applyPtx<uint64_t>("rcp.approx.ftz.f64 %d, %x;", values),
            Wides(values.size(), 0x7fffffff00000000));
  values.push_back(0xbff0000000000000);
  EXPECT_EQ(applyPtx<uint64_t>("rsqrt.approx.ftz.f64 %d, %x;", values),
            Wides(values.size(), 0x7fffffff00000000));
}

// Sums in memory: that of global memory takes a NaN of the operand before its own, and leaves it as it is.
TEST(Nan, SumsInMemory) {
  auto [x, y] = allPairs(allDoubles());
  auto global = applyPtx<uint64_t>(
      "st.global.b64 [%q], %x; atom.global.add.f64 %d, [%q], %y; ld.global.b64 %d, [%q];", x, y);
  auto shared = applyPtx<uint64_t>(
      "{ .shared .align 8 .b8 sums[2048]; .reg .b32 %s; mov.u32 %s, sums; mov.u32 %m, %tid.x; "
      "mad.lo.u32 %s, %m, 8, %s; st.shared.b64 [%s], %x; atom.shared.add.f64 %d, [%s], %y; "
      "ld.shared.b64 %d, [%s]; }",
      x, y);
  for (size_t i = 0; i < x.size(); ++i)
    if (isNanCode(x[i]) || isNanCode(y[i])) {
      EXPECT_EQ(global[i], isNanCode(y[i]) ? y[i] : x[i]) << std::hex << x[i] << ", " << y[i];
      EXPECT_EQ(shared[i], firstNan({x[i], y[i]})) << std::hex << x[i] << ", " << y[i];
    }
}

template <class T>
std::vector<T> reduced(const char *operation, ScalarType type, std::vector<T> memory,
                       const std::vector<T> &operand) {
  Reduction reduction = bulkReduction(operation, type);
  reduction(reinterpret_cast<uint8_t *>(memory.data()),
            reinterpret_cast<const uint8_t *>(operand.data()),
            static_cast<uint32_t>(memory.size() * sizeof(T)));
  return memory;
}

TEST(Nan, BulkReductions) {
  auto [x, y] = allPairs(allDoubles());
  Wides sums = reduced("add", ScalarType::F64, x, y);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(sums[i], isNanCode(y[i])   ? y[i]
                       : isNanCode(x[i]) ? x[i]
                                         : std::bit_cast<uint64_t>(std::bit_cast<double>(x[i]) +
                                                                   std::bit_cast<double>(y[i])));
  Words single = {0x7f800001, 0x3f800000, 0x00000003, 0x80000001},
        other = {0x3f800000, 0xffc12345, 0x00000004, 0x007fffff};
  EXPECT_EQ(reduced("add", ScalarType::F32, single, other),
            (Words{0x7fffffff, 0x7fffffff, 7, 0x007ffffe})); // subnormals stay
  for (const char *operation : {"min", "max"}) {
    EXPECT_EQ(reduced(operation, ScalarType::F16, Shorts{0xfd00, 0x7e12, 0xb826, 0xfe00},
                      Shorts{0x7d01, 0x7e12, 0xffff, 0x3c00}),
              (Shorts{0x7fff, 0x7fff, 0xb826, 0x3c00}));
    EXPECT_EQ(reduced(operation, ScalarType::BF16, Shorts{0x7f81, 0xffc0, 0xb826, 0xff81},
                      Shorts{0xffa0, 0xffc0, 0xffff, 0x3c00}),
              (Shorts{0x7fff, 0x7fff, 0xb826, 0x3c00}));
  }
}

} // namespace
} // namespace tile::vgpu
