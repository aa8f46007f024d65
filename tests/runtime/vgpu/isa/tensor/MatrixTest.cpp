// mma, ldmatrix, stmatrix, movmatrix against the placement formulas of the ISA text, element by element.
#include "tests/runtime/vgpu/Kernels.h"
#include "tests/runtime/vgpu/isa/tensor/ElementCodes.h"

#include <cmath>
#include <random>

namespace tile::vgpu {
namespace {

struct MmaCase {
  std::string shape, a, b, d;
  int rows, depth, bits; // bits of an input element
  std::string target = "sm_80", extra = "";
};

std::string list(const std::string &prefix, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i)
    text += (i ? ", " : "") + prefix + std::to_string(i);
  return text + "}";
}

// A kernel that loads fragments stored as [register][lane], multiplies, and stores D the same way.
std::string mmaKernel(const MmaCase &test, int countA, int countB, int countC) {
  bool wide = test.bits == 64;
  std::string type = wide ? "b64" : "b32", bytes = wide ? "8" : "4";
  std::string ptx =
      ".version 8.7\n.target " + test.target +
      "\n.address_size 64\n.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc)\n{\n"
      "  .reg .b32 %l;\n  .reg .b64 %p;\n  .reg ." +
      type + " %a<8>, %b<8>, %c<8>;\n  mov.u32 %l, %laneid;\n";
  auto transfer = [&](const std::string &name, int count, bool loads) {
    ptx += "  ld.param.u64 %p, [p" + name + "];\n  mad.wide.u32 %p, %l, " + bytes + ", %p;\n";
    for (int i = 0; i < count; ++i) {
      std::string place = "[%p+" + std::to_string(i * 32 * std::stoi(bytes)) + "]",
                  reg = "%" + name + std::to_string(i);
      ptx += loads ? "  ld.global." + type + " " + reg + ", " + place + ";\n"
                   : "  st.global." + type + " " + place + ", " + reg + ";\n";
    }
  };
  transfer("a", countA, true);
  transfer("b", countB, true);
  transfer("c", countC, true);
  ptx += "  mma.sync.aligned." + test.shape + ".row.col" + test.extra + "." + test.d + "." +
         test.a + "." + test.b + "." + test.d + " " + list("%c", countC) + ", " +
         list("%a", countA) + ", " + list("%b", countB) + ", " + list("%c", countC) + ";\n";
  transfer("c", countC, false);
  return ptx + "  ret;\n}\n";
}

template <class Register> void checkMma(const MmaCase &test) {
  int e = test.bits == 64 ? 1 : 32 / test.bits, registerBits = test.bits == 64 ? 64 : 32;
  int countA = test.rows * test.depth / 32 / e, countB = 8 * test.depth / 32 / e;
  int perC = test.d == "f16" ? 2 : 1, countC = test.rows * 8 / 32 / perC;
  bool tall = test.rows == 16;
  std::mt19937 random(static_cast<unsigned>(test.depth + test.bits));
  auto draw = [&](const std::string &type) {
    return type == "u8"   ? static_cast<int>(random() % 200)
           : type == "u4" ? static_cast<int>(random() % 16)
           : type == "s4" ? static_cast<int>(random() % 16) - 8
                          : static_cast<int>(random() % 9) - 4;
  };
  std::vector<std::vector<int>> a(test.rows, std::vector<int>(test.depth)),
      b(test.depth, std::vector<int>(8)), c(test.rows, std::vector<int>(8));
  for (auto &row : a)
    for (int &value : row)
      value = draw(test.a);
  for (auto &row : b)
    for (int &value : row)
      value = draw(test.b);
  for (auto &row : c)
    for (int &value : row)
      value = draw(test.d);
  std::vector<Register> fa(countA * 32), fb(countB * 32), fc(countC * 32);
  for (int lane = 0; lane < 32; ++lane) {
    int g = lane / 4, t = lane % 4;
    for (int r = 0; r < countA; ++r)
      for (int j = 0; j < e; ++j) {
        int row = tall ? g + 8 * (r & 1) : g, k = t * e + j + (tall ? r >> 1 : r) * 4 * e;
        fa[r * 32 + lane] |= static_cast<Register>(elementCode(test.a, a[row][k]))
                             << (registerBits / e * j);
      }
    for (int r = 0; r < countB; ++r)
      for (int j = 0; j < e; ++j)
        fb[r * 32 + lane] |= static_cast<Register>(elementCode(test.b, b[t * e + j + r * 4 * e][g]))
                             << (registerBits / e * j);
    for (int i = 0; i < countC * perC; ++i)
      fc[i / perC * 32 + lane] |=
          static_cast<Register>(elementCode(test.d, c[g + 8 * (i >> 1)][2 * t + (i & 1)]))
          << (16 * (i % perC));
  }
  Gpu gpu(mmaKernel(test, countA, countB, countC), test.target);
  auto dc = gpu.upload(fc);
  gpu.run("k", {1}, {32}, 0, gpu.upload(fa), gpu.upload(fb), dc);
  gpu.expectClean();
  auto result = gpu.download<Register>(dc, fc.size());
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < countC * perC; ++i) {
      int row = lane / 4 + 8 * (i >> 1), column = lane % 4 * 2 + (i & 1), expected = c[row][column];
      for (int k = 0; k < test.depth; ++k)
        expected += a[row][k] * b[k][column];
      auto actual = static_cast<uint64_t>(result[i / perC * 32 + lane]) >> (16 * (i % perC));
      if (test.d == "f16")
        actual &= 0xffff;
      EXPECT_EQ(actual, elementCode(test.d, expected))
          << test.shape << "." << test.a << " row " << row << " column " << column;
    }
}

TEST(Mma, FragmentsFollowTheFormulas) {
  for (const MmaCase &test : {MmaCase{"m16n8k8", "f16", "f16", "f32", 16, 8, 16},
                              {"m16n8k16", "f16", "f16", "f32", 16, 16, 16},
                              {"m16n8k8", "f16", "f16", "f16", 16, 8, 16},
                              {"m16n8k16", "f16", "f16", "f16", 16, 16, 16},
                              {"m16n8k8", "bf16", "bf16", "f32", 16, 8, 16},
                              {"m16n8k16", "bf16", "bf16", "f32", 16, 16, 16},
                              {"m16n8k4", "tf32", "tf32", "f32", 16, 4, 32},
                              {"m16n8k8", "tf32", "tf32", "f32", 16, 8, 32},
                              {"m16n8k16", "s8", "s8", "s32", 16, 16, 8},
                              {"m16n8k32", "s8", "s8", "s32", 16, 32, 8},
                              {"m16n8k32", "u8", "s8", "s32", 16, 32, 8},
                              {"m16n8k32", "u8", "u8", "s32", 16, 32, 8},
                              {"m8n8k16", "s8", "u8", "s32", 8, 16, 8},
                              {"m8n8k32", "s4", "u4", "s32", 8, 32, 4},
                              {"m16n8k32", "u4", "u4", "s32", 16, 32, 4},
                              {"m16n8k64", "s4", "s4", "s32", 16, 64, 4},
                              {"m16n8k64", "u4", "s4", "s32", 16, 64, 4},
                              {"m16n8k16", "e4m3", "e5m2", "f32", 16, 16, 8, "sm_89"},
                              {"m16n8k16", "e5m2", "e5m2", "f16", 16, 16, 8, "sm_89"},
                              {"m16n8k32", "e4m3", "e4m3", "f16", 16, 32, 8, "sm_89"},
                              {"m16n8k32", "e4m3", "e4m3", "f32", 16, 32, 8, "sm_89"},
                              {"m16n8k32", "e5m2", "e4m3", "f32", 16, 32, 8, "sm_89"}})
    checkMma<uint32_t>(test);
  for (const MmaCase &test : {MmaCase{"m8n8k4", "f64", "f64", "f64", 8, 4, 64},
                              {"m16n8k8", "f64", "f64", "f64", 16, 8, 64, "sm_90"}})
    checkMma<uint64_t>(test);
}

// Bits: each lane of a group of four has 32 of the 128 bits of a step of k.
void checkBitMma(const std::string &shape, int rows, int depth, bool isAnd) {
  MmaCase test{shape, "b1", "b1", "s32", rows, depth, 1, "sm_80", ""};
  int countA = rows * depth / 1024, countB = 8 * depth / 1024, countC = rows / 4;
  std::mt19937 random(static_cast<unsigned>(rows + depth));
  std::vector<uint32_t> fa(countA * 32), fb(countB * 32), fc(countC * 32);
  for (auto *list : {&fa, &fb, &fc})
    for (uint32_t &word : *list)
      word = random();
  std::string ptx = mmaKernel(test, countA, countB, countC);
  ptx.insert(ptx.find(" {%c0", ptx.find("mma.sync")), isAnd ? ".and.popc" : ".xor.popc");
  Gpu gpu(ptx);
  auto dc = gpu.upload(fc);
  gpu.run("k", {1}, {32}, 0, gpu.upload(fa), gpu.upload(fb), dc);
  gpu.expectClean();
  auto result = gpu.download<uint32_t>(dc, fc.size());
  auto bit = [](const std::vector<uint32_t> &words, int reg, int group, int k) {
    return words[reg * 32 + group * 4 + k % 128 / 32] >> (k % 32) & 1;
  };
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < 8; ++column) {
      size_t at = (row / 8 * 2 + column % 2) * 32 + row % 8 * 4 + column / 2;
      uint32_t expected = fc[at];
      for (int k = 0; k < depth; ++k) {
        uint32_t x = bit(fa, row / 8 + k / 128 * (rows / 8), row % 8, k),
                 y = bit(fb, k / 128, column, k);
        expected += isAnd ? x & y : x ^ y;
      }
      EXPECT_EQ(result[at], expected) << shape << " row " << row << " column " << column;
    }
}

TEST(Mma, CountsBits) {
  for (bool isAnd : {false, true}) {
    checkBitMma("m8n8k128", 8, 128, isAnd);
    checkBitMma("m16n8k128", 16, 128, isAnd);
    checkBitMma("m16n8k256", 16, 256, isAnd);
  }
}

// Two A, two B and sums in a buffer of words: the results of `body`, whose lines are mma instructions or others. Apart, each
// is followed by one that no batch takes.
std::vector<uint32_t> runSequence(const std::vector<std::string> &body, bool apart,
                                  const std::string &checks) {
  std::string ptx = ".version 8.7\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 "
                    "p)\n{\n  .reg .pred %q;\n  .reg .b32 %l, %i, %idle, %r<20>;\n  .reg .b64 "
                    "%p;\n  mov.u32 %l, %laneid;\n  mov.u32 %i, 0;\n  ld.param.u64 %p, [p];\n"
                    "  mad.wide.u32 %p, %l, 4, %p;\n";
  auto place = [](int i) { return "[%p+" + std::to_string(128 * i) + "]"; };
  for (int i = 0; i < 20; ++i)
    ptx += "  ld.global.b32 %r" + std::to_string(i) + ", " + place(i) + ";\n";
  for (const std::string &line : body)
    ptx += line + "\n" + (apart ? "  activemask.b32 %idle;\n" : "");
  for (int i = 0; i < 20; ++i)
    ptx += "  st.global.b32 " + place(i) + ", %r" + std::to_string(i) + ";\n";
  Gpu gpu(ptx + "  ret;\n}\n", "sm_80", checks);
  std::vector<uint32_t> data;
  std::mt19937 random(5);
  for (int i = 0; i < 20 * 32; ++i) {
    auto half = [&] { return floatToHalf(static_cast<float>(random() % 64) / 64 - 0.5f); };
    uint32_t low = half(), high = half();
    data.push_back(i < 12 * 32 ? low | high << 16 : std::bit_cast<uint32_t>(1.0f));
  }
  auto buffer = gpu.upload(data);
  gpu.run("k", {1}, {32}, 0, buffer);
  gpu.expectClean();
  return gpu.download<uint32_t>(buffer, data.size());
}

// Instructions that follow each other may share converted operands, unless one of them writes what a later one reads.
TEST(Mma, SequencesGiveWhatSingleInstructionsGive) {
  const std::string a0 = "{%r0,%r1,%r2,%r3}", a1 = "{%r4,%r5,%r6,%r7}", b0 = "{%r8,%r9}",
                    b1 = "{%r10,%r11}", c0 = "{%r12,%r13,%r14,%r15}", c1 = "{%r16,%r17,%r18,%r19}";
  auto mma = [](const std::string &d, const std::string &a, const std::string &b,
                const std::string &c) {
    return "  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " + d + ", " + a + ", " + b + ", " +
           c + ";";
  };
  auto halves = [](const std::string &d, const std::string &a, const std::string &b) {
    return "  mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 " + d + ", " + a + ", " + b + ", " +
           d + ";";
  };
  const std::vector<std::string> bodies[] = {
      {mma(c0, a0, b0, c0), mma(c1, a0, b1, c1), mma(c0, a1, b1, c0), mma(c1, a1, b0, c1)},
      // Sums in another order of registers.
      {mma(c0, a0, b0, "{%r15,%r13,%r12,%r14}"), mma(c1, a0, b0, c0)},
      // A sum is the result of the one before, or is what a later one writes.
      {mma(c0, a0, b0, c0), mma(c1, a0, b1, c0), mma(c0, a1, b1, c1)},
      {mma(c0, a0, b0, c1), mma(c1, a0, b1, c1), mma(c0, a1, b0, c0)},
      {mma(c0, a0, b0, c0), mma(c0, a0, b1, c0), mma(c0, a1, b0, c1)},
      // An operand is the result of the one before, or of one further up.
      {mma(a0, a0, b0, c0), mma(c1, a0, b0, c1)},
      {halves(b0, a0, b1), halves(b1, a0, b0), halves("{%r12,%r13}", a1, b0),
       halves("{%r14,%r15}", a1, b1)},
      // Jumps into the middle, with new operands.
      {mma(c0, a0, b0, c0), "again:", mma(c1, a0, b1, c1), mma(c0, a0, b0, c0),
       "  mov.b32 %r0, %r5;", "  mov.b32 %r8, %r10;", "  add.u32 %i, %i, 1;",
       "  setp.lt.u32 %q, %i, 3;", "  @%q bra again;"},
      {"  setp.eq.u32 %q, %i, 0;", mma(c0, a0, b0, c0), "  @!%q" + mma(c1, a0, b0, c1),
       mma(c1, a0, b0, c1), mma(c0, a1, b0, c0)},
  };
  for (size_t i = 0; i < std::size(bodies); ++i)
    for (std::string checks : {"none", "all"})
      EXPECT_EQ(runSequence(bodies[i], false, checks), runSequence(bodies[i], true, checks))
          << "sequence " << i << ", checks " << checks;
}

// Products that add to the same sums again and again, now and then in other registers, and moves and sums of what they read
// and write between them.
TEST(Mma, RandomSequencesGiveWhatSingleInstructionsGive) {
  std::mt19937 random(17);
  auto below = [&](unsigned count) { return static_cast<unsigned>(random() % count); };
  auto name = [](unsigned index) { return "%r" + std::to_string(index); };
  auto list = [&](unsigned first, unsigned count) {
    std::string text = "{" + name(first);
    for (unsigned i = 1; i < count; ++i)
      text += "," + name(first + i);
    return text + "}";
  };
  auto product = [&] {
    unsigned a = 4 * below(2), b = 8 + 2 * below(2), d = 12 + 4 * below(2),
             c = below(8) ? d : 12 + 4 * below(2);
    if (below(16) == 0)
      d = 4 * below(4); // over an operand
    return "  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " + list(d, 4) + ", " + list(a, 4) +
           ", " + list(b, 2) + ", " + list(c, 4) + ";";
  };
  auto other = [&] {
    unsigned target = below(20);
    return below(2) ? "  mov.b32 " + name(target) + ", " + name(below(20)) + ";"
                    : "  and.b32 " + name(target) + ", " + name(target) + ", 0xfffefffe;";
  };
  for (int i = 0; i < 200; ++i) {
    std::vector<std::string> body;
    for (unsigned left = 4 + below(20); left > 0; --left)
      body.push_back(below(6) ? product() : other());
    std::string checks = i % 4 ? "none" : "all";
    std::string text;
    for (const std::string &line : body)
      text += line + "\n";
    ASSERT_EQ(runSequence(body, false, checks), runSequence(body, true, checks)) << text;
  }
}

TEST(Mma, IntegerSumsWrapOrSaturate) {
  for (bool saturates : {false, true}) {
    MmaCase test{"m16n8k16", "u8", "u8", "s32", 16, 16, 8, "sm_80", saturates ? ".satfinite" : ""};
    Gpu gpu(mmaKernel(test, 2, 1, 4));
    std::vector<uint32_t> a(64, 0x01010101), b(32, 0x01010101), c(128, 0x7fffffff);
    auto dc = gpu.upload(c);
    gpu.run("k", {1}, {32}, 0, gpu.upload(a), gpu.upload(b), dc);
    for (uint32_t value : gpu.download<uint32_t>(dc, 128))
      EXPECT_EQ(value, saturates ? 0x7fffffffu : 0x7fffffffu + 16);
  }
}

TEST(Mma, UninitialisedRowsTaintOnlyTheirResults) {
  std::string ptx = R"(.version 8.4
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .b32 %l, %a<4>, %b<2>, %c<4>, %u;
  .reg .b64 %p;
  mov.u32 %l, %laneid;
  mov.b32 %a0, %l; mov.b32 %a2, %l; mov.b32 %b0, %l; mov.b32 %b1, %l;
  mov.b32 %c0, 0; mov.b32 %c1, 0; mov.b32 %c2, 0; mov.b32 %c3, 0;
  mov.b32 %a1, %u; mov.b32 %a3, %u;
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};
  ld.param.u64 %p, [p];
  mad.wide.u32 %p, %l, 8, %p;
  st.global.v2.b32 [%p], {%c0, %c1};
  ret;
}
)";
  Gpu good(ptx);
  good.run("k", {1}, {32}, 0, good.device->alloc(256));
  good.expectClean();
  std::string bad = ptx;
  bad.replace(bad.find("{%c0, %c1};"), 11, "{%c0, %c2};");
  Gpu gpu(bad);
  gpu.run("k", {1}, {32}, 0, gpu.device->alloc(256));
  gpu.expectFinding(FindingKind::Uninitialised, lineOf(bad, "st.global.v2"));
}

// Loads `count` matrices from shared memory, whose 16-bit elements hold their own index, and stores the fragments.
std::string matrixKernel(int count, const std::string &trans) {
  std::string registers = list("%r", count);
  std::string ptx = R"(.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .b32 %l, %s, %r<4>, %i, %v;
  .reg .b64 %p, %q;
  .reg .pred %o;
  .shared .align 16 .b8 tile[1024];
  ld.param.u64 %p, [p];
  mov.u32 %l, %laneid;
  mov.u32 %i, %l;
COPY:
  mul.wide.u32 %q, %i, 4;
  add.u64 %q, %q, %p;
  ld.global.u32 %v, [%q];
  shl.b32 %s, %i, 2;
  st.shared.u32 [%s+TILE], %v;
  add.u32 %i, %i, 32;
  setp.lt.u32 %o, %i, 256;
  @%o bra COPY;
  bar.warp.sync -1;
  mov.u32 %s, tile;
  mad.lo.u32 %s, %l, 16, %s;
  ldmatrix.sync.aligned.m8n8.xCOUNTTRANS.shared.b16 REGISTERS, [%s];
  mad.wide.u32 %q, %l, 4, %p;
)";
  auto replaceAll = [&](const std::string &from, const std::string &to) {
    for (size_t at = ptx.find(from); at != std::string::npos; at = ptx.find(from, at + to.size()))
      ptx.replace(at, from.size(), to);
  };
  replaceAll("[%s+TILE]", "[%s+1024]");
  replaceAll("COUNT", std::to_string(count));
  replaceAll("TRANS", trans);
  replaceAll("REGISTERS", registers);
  for (int i = 0; i < count; ++i)
    ptx += "  st.global.u32 [%q+" + std::to_string(1024 + 128 * i) + "], %r" + std::to_string(i) +
           ";\n";
  return ptx + "  ret;\n}\n";
}

TEST(Ldmatrix, FragmentsFollowTheFormulas) {
  std::vector<uint16_t> data(1024);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<uint16_t>(i);
  for (int count : {1, 2, 4})
    for (bool transposed : {false, true}) {
      Gpu gpu(matrixKernel(count, transposed ? ".trans" : ""), "sm_90");
      auto buffer = gpu.upload(data);
      gpu.run("k", {1}, {32}, 0, buffer);
      gpu.expectClean();
      auto result = gpu.download<uint16_t>(buffer, 1024);
      for (int q = 0; q < count; ++q)
        for (int lane = 0; lane < 32; ++lane)
          for (int half = 0; half < 2; ++half) {
            int g = lane / 4, t = lane % 4, row = transposed ? 2 * t + half : g,
                column = transposed ? g : 2 * t + half;
            EXPECT_EQ(result[512 + q * 64 + lane * 2 + half], q * 64 + row * 8 + column);
          }
    }
}

TEST(Stmatrix, InvertsLdmatrix) {
  std::vector<uint16_t> data(1024);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<uint16_t>(i);
  for (std::string trans : {"", ".trans"}) {
    std::string ptx = matrixKernel(4, trans);
    // Write the fragments back to other places and store the tile as it then is.
    size_t at = ptx.find("  mad.wide.u32 %q, %l, 4, %p;");
    ptx = ptx.substr(0, at) + "  bar.warp.sync -1;\n  stmatrix.sync.aligned.m8n8.x4" + trans +
          ".shared.b16 [%s], {%r1, %r0, %r3, %r2};\n  bar.warp.sync -1;\n  mad.wide.u32 %q, %l, "
          "16, %p;\n"
          "  .reg .b32 %w<4>;\n  ld.shared.v4.u32 {%w0, %w1, %w2, %w3}, [%s];\n  st.global.v4.u32 "
          "[%q+1024], {%w0, %w1, %w2, %w3};\n  ret;\n}\n";
    for (std::string checks : {"all", "none"}) { // without them it goes another way
      Gpu gpu(ptx, "sm_90", checks);
      auto buffer = gpu.upload(data);
      gpu.run("k", {1}, {32}, 0, buffer);
      gpu.expectClean();
      auto result = gpu.download<uint16_t>(buffer, 1024);
      for (int q = 0; q < 4; ++q)
        for (int i = 0; i < 64; ++i)
          EXPECT_EQ(result[512 + q * 64 + i], (q ^ 1) * 64 + i) << checks << trans;
    }
  }
}

TEST(Movmatrix, Transposes) {
  std::string ptx = matrixKernel(1, "");
  size_t at = ptx.find("  mad.wide.u32 %q, %l, 4, %p;");
  ptx.insert(at, "  movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r0;\n");
  std::vector<uint16_t> data(1024);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<uint16_t>(i);
  Gpu gpu(ptx, "sm_90");
  auto buffer = gpu.upload(data);
  gpu.run("k", {1}, {32}, 0, buffer);
  gpu.expectClean();
  auto result = gpu.download<uint16_t>(buffer, 1024);
  for (int lane = 0; lane < 32; ++lane)
    for (int half = 0; half < 2; ++half)
      EXPECT_EQ(result[512 + lane * 2 + half], (lane % 4 * 2 + half) * 8 + lane / 4);
}

} // namespace
} // namespace tile::vgpu
