// mma.sp against dense products of small integers: fragments and metadata are laid out as the ISA text and its figures say.
#include "tests/runtime/vgpu/Kernels.h"
#include "tests/runtime/vgpu/isa/tensor/ElementCodes.h"

#include <random>

namespace tile::vgpu {
namespace {

struct SparseCase {
  int depth;
  std::string a, b, d;
  int bits; // of an element of A or B
  std::string target = "sm_80", saturate = "";

  int perRegister() const { return 32 / bits; }
  int registers() const { return depth / 4 / perRegister(); }
  int sumsPerRegister() const { return d == "f16" ? 2 : 1; }
  int sumRegisters() const { return 4 / sumsPerRegister(); }
  int chunk() const { return bits == 32 ? 2 : bits == 4 ? 8 : 4; }
  int chunks() const { return depth / chunk(); }
  int selectors() const { return 16 / chunks(); }
  std::string name() const {
    return "m16n8k" + std::to_string(depth) + "." + a + "." + b + "." + d;
  }
};

std::string list(const std::string &prefix, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i)
    text += (i ? ", " : "") + prefix + std::to_string(i);
  return text + "}";
}

std::string kernelOf(const SparseCase &test, const std::string &variant, int selector) {
  std::string ptx = ".version 8.7\n.target " + test.target +
                    "\n.address_size 64\n.visible .entry k(.param .u64 pa, .param .u64 pb, .param "
                    ".u64 pc, .param .u64 pm)\n{\n  .reg .b32 %l, %m0;\n  .reg .b64 %p;\n  .reg "
                    ".b32 %a<4>, %b<4>, %c<4>;\n  mov.u32 %l, %laneid;\n";
  auto transfer = [&](const std::string &name, int count, bool loads) {
    ptx += "  ld.param.u64 %p, [p" + name + "];\n  mad.wide.u32 %p, %l, 4, %p;\n";
    for (int i = 0; i < count; ++i) {
      std::string place = "[%p+" + std::to_string(i * 128) + "]",
                  reg = "%" + name + std::to_string(i);
      ptx += loads ? "  ld.global.b32 " + reg + ", " + place + ";\n"
                   : "  st.global.b32 " + place + ", " + reg + ";\n";
    }
  };
  transfer("a", test.registers(), true);
  transfer("b", test.registers(), true);
  transfer("c", test.sumRegisters(), true);
  transfer("m", 1, true);
  std::string c = list("%c", test.sumRegisters());
  ptx += "  mma." + variant + ".sync.aligned.m16n8k" + std::to_string(test.depth) + ".row.col" +
         test.saturate + "." + test.d + "." + test.a + "." + test.b + "." + test.d + " " + c +
         ", " + list("%a", test.registers()) + ", " + list("%b", test.registers()) + ", " + c +
         ", %m0, " + std::to_string(selector) + ";\n";
  transfer("c", test.sumRegisters(), false);
  return ptx + "  ret;\n}\n";
}

// Two of four positions; in any order unless they are to ascend.
int drawCode(std::mt19937 &random, bool isTf32, bool ascending) {
  if (isTf32)
    return random() % 2 ? 0b1110 : 0b0100;
  unsigned first = random() % 4, second = (first + 1 + random() % 3) % 4;
  if (ascending && first > second)
    std::swap(first, second);
  return static_cast<int>(first | second << 2);
}

// The operands of a product, as matrices and as registers.
struct Operands {
  std::vector<std::vector<int>> a, b, c; // dense
  std::vector<uint32_t> fragmentsA, fragmentsB, fragmentsC, metadata;

  Operands(const SparseCase &test, bool ascending, int selector, unsigned seed) {
    std::mt19937 random(seed);
    auto draw = [&](const std::string &type) {
      return type[0] == 'u' ? static_cast<int>(random() % 16) : static_cast<int>(random() % 9) - 4;
    };
    a.assign(16, std::vector<int>(test.depth));
    b.assign(test.depth, std::vector<int>(8));
    c.assign(16, std::vector<int>(8));
    for (auto &row : b)
      for (int &value : row)
        value = draw(test.b);
    for (auto &row : c)
      for (int &value : row)
        value = test.saturate.empty() ? draw(test.d) : 0x7fffff00 + draw(test.d);
    int e = test.perRegister();
    fragmentsA.resize(test.registers() * 32);
    fragmentsB.resize(test.registers() * 32);
    fragmentsC.resize(test.sumRegisters() * 32);
    metadata.assign(32, 0); // meaningless in lanes that the selector does not name
    int first = selector * (4 / test.selectors());
    for (int lane = first; lane < 32; ++lane) {
      int t = lane % 4 - first;
      if (t < 0 || t >= 4 / test.selectors())
        continue;
      for (int nibble = 0; nibble < 8; ++nibble) {
        // Wide elements: four chunks of each of two rows; narrow ones: eight of one row.
        bool wide = test.bits >= 16;
        int row = lane / 4 + 8 * (wide ? nibble / 4 : t % 2),
            chunk = wide ? nibble % 4 + 4 * t : nibble + 8 * (t / 2);
        int code = drawCode(random, test.bits == 32, ascending);
        metadata[lane] |= static_cast<uint32_t>(code) << (4 * nibble);
        int kept = test.chunk() / 2;
        for (int i = 0; i < kept; ++i) {
          int index = test.bits == 4 ? i / 2 : i, position = code >> (2 * index) & 3;
          if (test.bits == 4)
            position = 2 * position + i % 2;
          if (test.bits == 32)
            position = code == 0b1110;
          int value = draw(test.a), k = chunk * kept + i;
          a[row][chunk * test.chunk() + position] = value;
          fragmentsA[(k / e / 4 * 2 + row / 8) * 32 + row % 8 * 4 + k / e % 4] |=
              static_cast<uint32_t>(elementCode(test.a, value)) << (test.bits % 32 * (k % e));
        }
      }
    }
    for (int k = 0; k < test.depth; ++k)
      for (int column = 0; column < 8; ++column)
        fragmentsB[k / e / 4 * 32 + column * 4 + k / e % 4] |=
            static_cast<uint32_t>(elementCode(test.b, b[k][column])) << (test.bits % 32 * (k % e));
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i)
        fragmentsC[i / test.sumsPerRegister() * 32 + lane] |=
            static_cast<uint32_t>(
                elementCode(test.d, c[lane / 4 + 8 * (i / 2)][lane % 4 * 2 + i % 2]))
            << (16 * (i % test.sumsPerRegister()));
  }

  int64_t expected(int row, int column) const {
    int64_t sum = c[row][column];
    for (size_t k = 0; k < b.size(); ++k)
      sum += a[row][k] * b[k][column];
    return sum;
  }
};

std::vector<uint32_t> runSparse(Gpu &gpu, const Operands &operands) {
  auto dc = gpu.upload(operands.fragmentsC);
  gpu.run("k", {1}, {32}, 0, gpu.upload(operands.fragmentsA), gpu.upload(operands.fragmentsB), dc,
          gpu.upload(operands.metadata));
  return gpu.download<uint32_t>(dc, operands.fragmentsC.size());
}

void checkSparse(const SparseCase &test, bool ordered, int selector) {
  std::string variant = ordered ? "sp::ordered_metadata" : "sp";
  SCOPED_TRACE(variant + " " + test.name() + " selector " + std::to_string(selector));
  Operands operands(test, ordered, selector, static_cast<unsigned>(test.depth + selector));
  Gpu gpu(kernelOf(test, variant, selector), test.target, selector % 2 ? "none" : "all");
  std::vector<uint32_t> result = runSparse(gpu, operands);
  gpu.expectClean();
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      int row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2,
          perRegister = test.sumsPerRegister();
      int64_t sum = operands.expected(row, column);
      if (!test.saturate.empty())
        sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      uint32_t word = result[i / perRegister * 32 + lane] >> (16 * (i % perRegister));
      EXPECT_EQ(perRegister == 2 ? word & 0xffff : word,
                static_cast<uint32_t>(elementCode(test.d, static_cast<int>(sum))))
          << "row " << row << " column " << column;
    }
}

const SparseCase kCases[] = {{16, "f16", "f16", "f32", 16},
                             {32, "f16", "f16", "f32", 16},
                             {16, "f16", "f16", "f16", 16},
                             {32, "f16", "f16", "f16", 16},
                             {16, "bf16", "bf16", "f32", 16},
                             {32, "bf16", "bf16", "f32", 16},
                             {8, "tf32", "tf32", "f32", 32},
                             {16, "tf32", "tf32", "f32", 32},
                             {32, "s8", "u8", "s32", 8},
                             {64, "u8", "s8", "s32", 8},
                             {64, "s8", "s8", "s32", 8, "sm_80", ".satfinite"},
                             {64, "s4", "u4", "s32", 4},
                             {128, "u4", "s4", "s32", 4},
                             {128, "s4", "s4", "s32", 4, "sm_80", ".satfinite"},
                             {64, "e4m3", "e5m2", "f32", 8, "sm_89"},
                             {64, "e5m2", "e5m2", "f32", 8, "sm_90a"}};

TEST(MmaSparse, ProductsAreThoseOfTheDenseMatrix) {
  for (const SparseCase &test : kCases)
    for (bool ordered : {false, true})
      for (int selector = 0; selector < test.selectors(); ++selector)
        checkSparse(test, ordered, selector);
}

// With --model sums what is kept is summed as a dense product of half the depth. Beside 2^24 a chain of f32 sums loses each one.
TEST(MmaSparse, SumsAreThoseOfTheArchitecture) {
  auto sum = [](const SparseCase &test, bool sums, uint32_t one, float c) {
    Operands operands(test, true, 0, 6);
    std::ranges::fill(operands.fragmentsA, one);
    std::ranges::fill(operands.fragmentsB, one);
    std::ranges::fill(operands.fragmentsC, std::bit_cast<uint32_t>(c));
    Gpu gpu(kernelOf(test, "sp", 0), test.target);
    gpu.device->setModel({.sums = sums});
    std::vector<uint32_t> words = runSparse(gpu, operands);
    gpu.expectClean();
    EXPECT_EQ(std::ranges::count(words, words[0]), 128);
    return std::bit_cast<float>(words[0]);
  };
  SparseCase halves{32, "f16", "f16", "f32", 16, "sm_90a"},
      fp8{64, "e4m3", "e4m3", "f32", 8, "sm_90a"};
  EXPECT_EQ(sum(halves, false, 0x3c003c00, 0x1p24f), 0x1p24f);
  EXPECT_EQ(sum(halves, true, 0x3c003c00, 0x1p24f), 0x1p24f + 16);
  EXPECT_EQ(sum(fp8, false, 0x38383838, 0x1p24f), 0x1p24f);
  EXPECT_EQ(sum(fp8, true, 0x38383838, 0x1p24f), 0x1p24f + 32);
  // To nearest at the end, where sums of f16 are cut: 3/4 of the last place of 16 and of 32.
  EXPECT_EQ(sum(halves, true, 0x3c003c00, 0x1.8p-20f), 16.0f);
  EXPECT_EQ(sum(fp8, true, 0x38383838, 0x1.8p-19f), 32 + 0x1p-18f);
  // Eight halves at a time on Ampere, which keeps 24 bits.
  halves.target = "sm_80";
  EXPECT_EQ(sum(halves, true, 0x3c003c00, 0x1p24f), 0x1p24f + 16);
}

// What is left out of A takes no part, whatever B has there.
TEST(MmaSparse, WhatIsLeftOutMultipliesNothing) {
  const SparseCase &test = kCases[0];
  Operands operands(test, true, 0, 3);
  operands.metadata.assign(32, 0x44444444); // the first two of each four
  for (int lane = 0; lane < 32; lane += 1)
    if (lane % 2) // lanes with k = 2, 3 and so on
      for (int r = 0; r < test.registers(); ++r)
        operands.fragmentsB[r * 32 + lane] = 0x7c007c00; // infinities
  Gpu gpu(kernelOf(test, "sp", 0));
  for (uint32_t word : runSparse(gpu, operands))
    EXPECT_TRUE(std::isfinite(std::bit_cast<float>(word)));
  gpu.expectClean();
}

TEST(MmaSparse, MeaninglessMetadataAreReported) {
  auto reported = [](const SparseCase &test, const std::string &variant, uint32_t code) {
    Operands operands(test, true, 0, 4);
    operands.metadata[4] = (operands.metadata[4] & ~0xf00u) | code << 8;
    std::string ptx = kernelOf(test, variant, 0);
    Gpu gpu(ptx);
    runSparse(gpu, operands);
    if (gpu.findings.empty())
      return false;
    gpu.expectFinding(FindingKind::Undefined, lineOf(ptx, "mma.sp"));
    EXPECT_EQ(gpu.findings[0].lanes, 1u << 4);
    return true;
  };
  for (uint32_t code = 0; code < 16; ++code) {
    uint32_t first = code & 3, second = code >> 2;
    EXPECT_EQ(reported(kCases[0], "sp", code), first == second) << code;
    EXPECT_EQ(reported(kCases[0], "sp::ordered_metadata", code), first >= second) << code;
    EXPECT_EQ(reported(kCases[6], "sp", code), code != 4 && code != 14) << code;
  }
}

TEST(MmaSparse, SelectorsBeyondTheShapeAreRefused) {
  for (const SparseCase &test : kCases)
    try {
      Gpu gpu(kernelOf(test, "sp", test.selectors()), test.target);
      gpu.device->functionInfo(gpu.device->getFunction(gpu.module, "k"));
      ADD_FAILURE() << test.name();
    } catch (const Error &error) {
      EXPECT_NE(error.message().find("it is below " + std::to_string(test.selectors())),
                std::string::npos)
          << error.message();
    }
}

TEST(MmaSparse, UninitialisedMetadataMakeTheirRowsUninitialised) {
  std::string ptx = kernelOf(kCases[0], "sp", 0);
  size_t load = ptx.find("  ld.global.b32 %m0");
  ptx.insert(load, "  .reg .pred %q;\n  setp.ne.u32 %q, %l, 8;\n  @%q");
  Gpu gpu(ptx);
  runSparse(gpu, Operands(kCases[0], true, 0, 5));
  ASSERT_FALSE(gpu.findings.empty());
  EXPECT_EQ(gpu.findings[0].kind, FindingKind::Uninitialised);
  EXPECT_EQ(gpu.findings[0].lanes, 0xf00u); // rows 2 and 10
}

} // namespace
} // namespace tile::vgpu
