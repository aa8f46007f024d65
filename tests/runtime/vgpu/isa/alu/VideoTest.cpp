// The video instructions against scalar code written from the ISA text, and from what the assembler makes of them where that
// differs: some clamp or compare otherwise, and an H100 shows it.
#include "tests/runtime/vgpu/Lanewise.h"

#include <functional>

namespace tile::vgpu {
namespace {

using Function = std::function<int64_t(int64_t, int64_t)>;

struct Operation {
  std::string name;
  Function apply;
};
const Operation kOperations[] = {
    {"vadd", [](int64_t a, int64_t b) { return a + b; }},
    {"vsub", [](int64_t a, int64_t b) { return a - b; }},
    {"vabsdiff", [](int64_t a, int64_t b) { return a < b ? b - a : a - b; }},
    {"vmin", [](int64_t a, int64_t b) { return a < b ? a : b; }},
    {"vmax", [](int64_t a, int64_t b) { return a < b ? b : a; }},
};
const Operation kComparisons[] = {
    {"eq", [](int64_t a, int64_t b) { return a == b; }},
    {"ne", [](int64_t a, int64_t b) { return a != b; }},
    {"lt", [](int64_t a, int64_t b) { return a < b; }},
    {"le", [](int64_t a, int64_t b) { return a <= b; }},
    {"gt", [](int64_t a, int64_t b) { return a > b; }},
    {"ge", [](int64_t a, int64_t b) { return a >= b; }},
};

// Part `i` of `count` in a word, as a number.
int64_t part(uint32_t word, unsigned i, unsigned count, bool isSigned) {
  switch (count) {
  case 1:
    return isSigned ? int64_t{static_cast<int32_t>(word)} : int64_t{word};
  case 2: {
    auto half = static_cast<uint16_t>(word >> (16 * i));
    return isSigned ? int64_t{static_cast<int16_t>(half)} : int64_t{half};
  }
  default: {
    auto byte = static_cast<uint8_t>(word >> (8 * i));
    return isSigned ? int64_t{static_cast<int8_t>(byte)} : int64_t{byte};
  }
  }
}

int64_t clamp(int64_t value, unsigned bits, bool isSigned) {
  int64_t low = isSigned ? -(int64_t{1} << (bits - 1)) : 0,
          high = isSigned ? (int64_t{1} << (bits - 1)) - 1 : (int64_t{1} << bits) - 1;
  return value < low ? low : value > high ? high : value;
}

const std::vector<uint32_t> kWords = {0,          1,          2,          0x7f,       0x80,
                                      0xff,       0x7fff,     0x8000,     0xffff,     0x7fffffff,
                                      0x80000000, 0xffffffff, 0x12345678, 0x80ff017f, 0xfedcba98};

const char *suffix(bool isSigned) { return isSigned ? ".s32" : ".u32"; }

// Applies the instruction, `d, a, b` and operands after them, to all pairs, with c = 0x00010203 + 7i for pair i.
void expectAll(const std::string &code,
               const std::function<uint32_t(uint32_t, uint32_t, uint32_t)> &expected) {
  auto [x, y] = allPairs(kWords);
  std::vector<uint32_t> z;
  for (size_t i = 0; i < x.size(); ++i)
    z.push_back(0x00010203u + 7 * static_cast<uint32_t>(i) + (i % 3 ? 0 : 0x80000000u));
  std::vector<uint32_t> found = applyPtx<uint32_t>(code, x, y, z);
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(found[i], expected(x[i], y[i], z[i]))
        << code << " of " << std::hex << x[i] << ", " << y[i] << ", " << z[i];
}

template <class Visit> void forSigns(Visit visit) {
  for (int signs = 0; signs < 8; ++signs)
    visit((signs & 1) != 0, (signs & 2) != 0, (signs & 4) != 0);
}

TEST(Video, WholeRegisters) {
  for (const Operation &operation : kOperations)
    forSigns([&](bool d, bool a, bool b) {
      std::string types = std::string(suffix(d)) + suffix(a) + suffix(b);
      for (bool sat : {false, true}) {
        std::string code = operation.name + types + (sat ? ".sat" : "");
        auto value = [=](uint32_t x, uint32_t y) {
          int64_t exact = operation.apply(part(x, 0, 1, a), part(y, 0, 1, b));
          return sat ? clamp(exact, 32, d) : exact;
        };
        expectAll(code + " %d, %x, %y;", [&](uint32_t x, uint32_t y, uint32_t) {
          return static_cast<uint32_t>(value(x, y));
        });
        expectAll(code + ".add %d, %x, %y, %z;", [&](uint32_t x, uint32_t y, uint32_t z) {
          return static_cast<uint32_t>(value(x, y)) + z;
        });
        // Sums and differences are cut to 32 bits first; what is unsigned is compared in 64 bits.
        bool isCut = operation.name == "vadd" || operation.name == "vsub";
        auto isLess = [=](uint32_t x, uint32_t y, uint32_t z) {
          int64_t c = part(z, 0, 1, d), v = value(x, y);
          v = isCut ? static_cast<int32_t>(v) : v;
          return d ? v < c : static_cast<uint64_t>(v) < static_cast<uint64_t>(c);
        };
        expectAll(code + ".min %d, %x, %y, %z;", [&](uint32_t x, uint32_t y, uint32_t z) {
          return isLess(x, y, z) ? static_cast<uint32_t>(value(x, y)) : z;
        });
        expectAll(code + ".max %d, %x, %y, %z;", [&](uint32_t x, uint32_t y, uint32_t z) {
          return isLess(x, y, z) ? z : static_cast<uint32_t>(value(x, y));
        });
      }
    });
}

TEST(Video, HalvesAndBytes) {
  std::vector<Operation> operations(std::begin(kOperations), std::end(kOperations));
  operations.push_back({"vavrg", [](int64_t a, int64_t b) {
                          int64_t sum = a + b;
                          return sum >= 0 ? (sum + 1) >> 1 : sum >> 1;
                        }});
  for (unsigned count : {2u, 4u})
    for (const Operation &operation : operations)
      forSigns([&](bool d, bool a, bool b) {
        std::string code =
            operation.name + std::to_string(count) + suffix(d) + suffix(a) + suffix(b);
        unsigned bits = 32 / count;
        for (bool sat : {false, true})
          expectAll(code + (sat ? ".sat" : "") + " %d, %x, %y, %z;",
                    [&](uint32_t x, uint32_t y, uint32_t) {
                      uint64_t result = 0;
                      for (unsigned i = 0; i < count; ++i) {
                        int64_t value = operation.apply(part(x, i, count, a), part(y, i, count, b));
                        value = sat ? clamp(value, bits, d) : value;
                        result |= (static_cast<uint64_t>(value) & ((1u << bits) - 1)) << (i * bits);
                      }
                      return static_cast<uint32_t>(result);
                    });
        expectAll(code + ".add %d, %x, %y, %z;", [&](uint32_t x, uint32_t y, uint32_t z) {
          int64_t sum = z;
          for (unsigned i = 0; i < count; ++i)
            sum += operation.apply(part(x, i, count, a), part(y, i, count, b));
          return static_cast<uint32_t>(sum);
        });
      });
}

TEST(Video, Comparisons) {
  for (unsigned count : {1u, 2u, 4u})
    for (const Operation &comparison : kComparisons)
      for (bool a : {false, true})
        for (bool b : {false, true}) {
          std::string code = "vset" + (count == 1 ? std::string() : std::to_string(count)) +
                             suffix(a) + suffix(b) + "." + comparison.name;
          auto bit = [=](uint32_t x, uint32_t y, unsigned i) {
            return static_cast<uint32_t>(
                comparison.apply(part(x, i, count, a), part(y, i, count, b)));
          };
          expectAll(code + (count == 1 ? " %d, %x, %y;" : " %d, %x, %y, %z;"),
                    [&](uint32_t x, uint32_t y, uint32_t) {
                      uint32_t result = 0;
                      for (unsigned i = 0; i < count; ++i)
                        result |= bit(x, y, i) << (32 / count * i);
                      return result;
                    });
          expectAll(code + ".add %d, %x, %y, %z;", [&](uint32_t x, uint32_t y, uint32_t z) {
            for (unsigned i = 0; i < count; ++i)
              z += bit(x, y, i);
            return z;
          });
        }
}

TEST(Video, Shifts) {
  for (bool d : {false, true})
    for (bool a : {false, true})
      for (bool wraps : {false, true})
        for (bool sat : {false, true})
          for (bool left : {false, true}) {
            std::string code = std::string(left ? "vshl" : "vshr") + suffix(d) + suffix(a) +
                               ".u32" + (sat ? ".sat" : "") + (wraps ? ".wrap" : ".clamp");
            expectAll(code + " %d, %x, %y;", [&](uint32_t x, uint32_t y, uint32_t) {
              uint32_t count = wraps ? y % 32 : y > 32 ? 32 : y;
              int64_t value = part(x, 0, 1, a);
              for (uint32_t i = 0; i < count; ++i)
                value = left ? static_cast<int64_t>(static_cast<uint64_t>(value) << 1) : value >> 1;
              // Of what .sat clamps there are 34 bits.
              auto bits = static_cast<uint64_t>(value) & ((uint64_t{1} << 34) - 1);
              int64_t kept = static_cast<int64_t>(bits) - (bits >> 33 ? int64_t{1} << 34 : 0);
              return static_cast<uint32_t>(sat ? clamp(kept, 32, d) : value);
            });
          }
}

struct Selection {
  const char *name;
  unsigned at, bits;
};
const Selection kSelections[] = {{"", 0, 32},    {".b0", 0, 8},  {".b1", 8, 8},  {".b2", 16, 8},
                                 {".b3", 24, 8}, {".h0", 0, 16}, {".h1", 16, 16}};

int64_t select(uint32_t word, const Selection &selection, bool isSigned) {
  uint64_t field = word >> selection.at & ((uint64_t{1} << selection.bits) - 1);
  bool isNegative = isSigned && field >> (selection.bits - 1);
  return static_cast<int64_t>(field) - (isNegative ? int64_t{1} << selection.bits : 0);
}

TEST(Video, PartsOfSourcesAndResults) {
  for (const Selection &from : kSelections)
    for (const Selection &to : kSelections)
      for (bool sat : {false, true})
        for (bool d : {false, true}) {
          const Selection &second = kSelections[(to.at + 3 * from.bits + 1) % 7];
          std::string code = std::string("vsub") + suffix(d) + ".s32.u32" + (sat ? ".sat" : "") +
                             " %d" + to.name + ", %x" + from.name + ", %y" + second.name;
          bool merges = to.bits < 32;
          expectAll(code + (merges ? ", %z;" : ";"), [&](uint32_t x, uint32_t y, uint32_t z) {
            int64_t value = select(x, from, true) - select(y, second, false);
            // What goes to a part has no sign for .sat: negative numbers are great ones.
            if (sat)
              value = clamp(merges && value < 0 ? INT64_MAX : value, to.bits, d);
            uint64_t ones = (uint64_t{1} << to.bits) - 1;
            uint64_t kept = merges ? z & ~(ones << to.at) : 0;
            return static_cast<uint32_t>(kept | (static_cast<uint64_t>(value) & ones) << to.at);
          });
        }
}

TEST(Video, PartsOfTwoRegistersUnderAMask) {
  auto half = [](uint32_t a, uint32_t b, unsigned number) {
    return static_cast<int16_t>((number < 2 ? a : b) >> (16 * (number % 2)));
  };
  expectAll("vadd2.s32.s32.s32 %d.h1, %x.h03, %y.h21, %z;",
            [&](uint32_t x, uint32_t y, uint32_t z) {
              auto high = static_cast<uint32_t>(half(x, y, 0) + half(x, y, 2));
              return (z & 0xffff) | high << 16;
            });
  expectAll("vadd2.s32.s32.s32.add %d.h0, %x.h03, %y.h21, %z;",
            [&](uint32_t x, uint32_t y, uint32_t z) {
              return z + static_cast<uint32_t>(half(x, y, 3) + half(x, y, 1));
            });
  auto byte = [](uint32_t a, uint32_t b, unsigned number) {
    return (number < 4 ? a : b) >> (8 * (number % 4)) & 255;
  };
  expectAll("vmax4.u32.u32.u32 %d.b20, %x.b7531, %y.b0246, %z;",
            [&](uint32_t x, uint32_t y, uint32_t z) {
              uint32_t low = std::max(byte(x, y, 1), byte(x, y, 6)),
                       third = std::max(byte(x, y, 5), byte(x, y, 2));
              return (z & 0xff00ff00) | low | third << 16;
            });
}

TEST(Video, MultiplyAdd) {
  struct Negation {
    const char *a, *b, *c;
  };
  const Negation negations[] = {
      {"", "", ""}, {"-", "", ""}, {"", "-", ""}, {"-", "-", ""}, {"", "", "-"}};
  for (const Negation &negation : negations)
    for (bool a : {false, true})
      for (bool b : {false, true})
        for (int shift : {0, 7, 15})
          for (bool sat : {false, true})
            for (bool plusOne : {false, true}) {
              bool product = (*negation.a != 0) != (*negation.b != 0), third = *negation.c != 0;
              if (plusOne && (*negation.a || *negation.b || third))
                continue;
              std::string code = std::string("vmad.u32") + suffix(a) + suffix(b) +
                                 (plusOne ? ".po" : "") + (sat ? ".sat" : "") +
                                 (shift ? ".shr" + std::to_string(shift) : "") + " %d, " +
                                 negation.a + "%x.h1, " + negation.b + "%y, " + negation.c + "%z;";
              bool isSigned = a || b || product || third;
              expectAll(code, [&](uint32_t x, uint32_t y, uint32_t z) {
                __int128 value =
                    select(x, kSelections[6], a) * static_cast<__int128>(part(y, 0, 1, b));
                value = product ? -value : value;
                // -c is ~c + 1, of which ~c has 32 bits.
                __int128 c = third ? __int128{part(~z, 0, 1, isSigned)} + 1
                                   : __int128{part(z, 0, 1, isSigned)};
                value = (value + c + plusOne) >> shift;
                if (sat) {
                  __int128 low = isSigned ? INT32_MIN : 0, high = isSigned ? INT32_MAX : UINT32_MAX;
                  value = value < low ? low : value > high ? high : value;
                }
                return static_cast<uint32_t>(value);
              });
            }
}

TEST(Video, WhatTheAssemblerRefuses) {
  std::vector<uint32_t> x = {1};
  for (const char *code :
       {"vadd2.u32.u32.u32.sat.add %d, %x, %x, %x;", "vadd.s32.s32.s32 %d, %x.h2, %x;",
        "vadd.s32.s32.s32 %d.b0, %x, %x;", "vadd.s32.s32.s32.add %d.b0, %x, %x, %x;",
        "vadd2.s32.s32.s32.sat %d, %x.h4, %x, %x;", "vadd2.s32.s32.s32 %d, %x.b0, %x, %x;",
        "vadd4.s32.s32.s32 %d.b02, %x, %x, %x;", "vadd.s32.s32.s32 %d, -%x, %x;",
        "vadd.s32.s32.s32 %d, %x.b4, %x;", "add.s32 %d, %x.b0, %x;", "add.s32 %d, -%x, %x;",
        "vmad.s32.u32.u32 %d, -%x, %x, -%x;", "vmad.u32.u32.u32.po %d, -%x, %x, %x;",
        "vmad.s32.s32.s32.shr8 %d, %x, %x, %x;", "vmad.s32.s32.s32 %d.b0, %x, %x, %x;",
        "vmad.s32.s32.s32 %d, %x, %x, %x.b0;", "vadd2.s32.s32.s32 %d, %x, %x;"})
    EXPECT_THROW(applyPtx<uint32_t>(code, x), Error) << code;
}

} // namespace
} // namespace tile::vgpu
