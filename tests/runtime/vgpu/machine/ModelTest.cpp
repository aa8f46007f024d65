// What a model changes (--model), and what the random schedule draws besides orders: leaders and pieces of copies.
#include "runtime/vgpu/isa/alu/HalfFormat.h"
#include "tests/runtime/vgpu/Hopper.h"

#include <cmath>
#include <functional>
#include <numbers>
#include <set>

namespace tile::vgpu {
namespace {

TEST(Model, WordsAreParsedAndGivenBack) {
  EXPECT_EQ(parseModel(""), Model{});
  EXPECT_EQ(parseModel("none"), Model{});
  EXPECT_EQ(wordsOf(parseModel("all")), (std::vector<std::string>{"sums", "noise", "shift"}));
  EXPECT_EQ(wordsOf(parseModel("shift,sums")), (std::vector<std::string>{"sums", "shift"}));
  EXPECT_THROW(parseModel("sums,loud"), Error);
}

// --- shift ---------------------------------------------------------------------------------------

// Thread i puts i into word i of dynamic memory by joining bits, which takes a base aligned to 1024, and gives back word
// 255 - i by adding.
std::string joiningKernel(int align) {
  return R"(.version 8.0
.target sm_80
.address_size 64
.extern .shared .align )" +
         std::to_string(align) + R"( .b8 dynamic[];
.visible .entry k(.param .u64 p)
{
  .reg .b32 %t, %base, %r<8>;
  .reg .b64 %p, %rd<4>;
  ld.param.u64 %p, [p];
  mov.u32 %t, %tid.x;
  mov.u32 %base, dynamic;
  shl.b32 %r1, %t, 2;
  or.b32 %r2, %base, %r1;
  st.shared.u32 [%r2], %t;
  bar.sync 0;
  sub.u32 %r3, 1020, %r1;
  add.u32 %r4, %base, %r3;
  ld.shared.u32 %r5, [%r4];
  mad.wide.u32 %rd1, %t, 4, %p;
  st.global.u32 [%rd1], %r5;
  ret;
}
)";
}

bool joiningWorks(int align, bool shift, const std::string &checks) {
  Gpu gpu(joiningKernel(align), "sm_80", checks);
  gpu.device->setModel({.shift = shift});
  uint64_t data = gpu.device->alloc(1024);
  gpu.run("k", {1}, {256}, 2048, data);
  std::vector<uint32_t> found = gpu.download<uint32_t>(data, 256);
  bool right = gpu.findings.empty();
  for (uint32_t i = 0; i < 256; ++i)
    right &= found[i] == 255 - i;
  return right;
}

TEST(Model, ShiftFindsMemoryTakenForBetterAlignedThanDeclared) {
  for (const char *checks : {"all", "none"})
    for (int align : {16, 128, 256, 512}) {
      EXPECT_TRUE(joiningWorks(align, false, checks)) << align;
      EXPECT_FALSE(joiningWorks(align, true, checks)) << align;
    }
  EXPECT_TRUE(joiningWorks(1024, true, "all"));
}

// --- noise ---------------------------------------------------------------------------------------

// code(x, y) of each pair, with the bits of each as the instruction has them.
std::vector<uint32_t> compute(const std::string &code, const std::vector<uint32_t> &x,
                              const std::vector<uint32_t> &y, bool noise, uint64_t seed) {
  std::string ptx = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2)
{
  .reg .b32 %t, %c, %i, %x, %y, %d;
  .reg .b16 %hx, %hd;
  .reg .b64 %q;
  mov.u32 %t, %tid.x;
  mov.u32 %c, %ctaid.x;
  mad.lo.u32 %i, %c, 128, %t;
  ld.param.u64 %q, [p1];
  mad.wide.u32 %q, %i, 4, %q;
  ld.global.b32 %x, [%q];
  cvt.u16.u32 %hx, %x;
  ld.param.u64 %q, [p2];
  mad.wide.u32 %q, %i, 4, %q;
  ld.global.b32 %y, [%q];
)" + code + R"(
  ld.param.u64 %q, [p0];
  mad.wide.u32 %q, %i, 4, %q;
  st.global.b32 [%q], %d;
  ret;
}
)";
  Gpu gpu(ptx, "sm_90");
  gpu.device->setModel({.noise = noise});
  gpu.device->setSchedule(Schedule::Eager, seed);
  uint64_t result = gpu.device->alloc(4 * x.size()), dx = gpu.upload(x), dy = gpu.upload(y);
  gpu.run("k", {static_cast<uint32_t>(x.size() / 128)}, {128}, 0, result, dx, dy);
  gpu.expectClean();
  return gpu.download<uint32_t>(result, x.size());
}

// The distance of neighbouring f32 numbers at `value`.
double unit(double value) { return std::ldexp(1.0, std::max(std::ilogb(value), -126) - 23); }

// A function, its exact values, and how far PTX lets results be from them.
struct Function {
  std::string code;
  double least, most;                                 // operands
  std::function<double(double, double)> exact, bound; // bound(x, exact value)
  FloatFormat format{8, 23, true};
};

auto relative(double log2) {
  return [=](double, double value) { return std::fabs(value) * std::exp2(log2); };
}
auto absolute(double log2) {
  return [=](double, double) { return std::exp2(log2); };
}
auto units(double count) {
  return [=](double, double value) { return count * unit(value); };
}

const Function kFunctions[] = {
    {"ex2.approx.f32 %d, %x;", -20, 20, [](double x, double) { return std::exp2(x); }, units(2)},
    {"ex2.approx.ftz.f32 %d, %x;", -20, 20, [](double x, double) { return std::exp2(x); },
     units(2)},
    {"lg2.approx.f32 %d, %x;", 0.51, 1.99, [](double x, double) { return std::log2(x); },
     absolute(-22)},
    {"lg2.approx.f32 %d, %x;", 2, 1000, [](double x, double) { return std::log2(x); },
     relative(-22)},
    {"sin.approx.f32 %d, %x;", -6.28, 6.28, [](double x, double) { return std::sin(x); },
     absolute(-20.5)},
    {"cos.approx.f32 %d, %x;", 7, 300, [](double x, double) { return std::cos(x); },
     absolute(-14.7)},
    {"tanh.approx.f32 %d, %x;", -4, 4, [](double x, double) { return std::tanh(x); },
     relative(-11)},
    {"rsqrt.approx.f32 %d, %x;", 0.01, 1000, [](double x, double) { return 1 / std::sqrt(x); },
     relative(-22.9)},
    {"sqrt.approx.f32 %d, %x;", 0.01, 1000, [](double x, double) { return std::sqrt(x); },
     relative(-23)},
    {"rcp.approx.f32 %d, %x;", 0.01, 1000, [](double x, double) { return 1 / x; }, units(1)},
    {"div.approx.f32 %d, %x, %y;", 0.01, 1000, [](double x, double y) { return x / y; }, units(2)},
    {"div.full.f32 %d, %x, %y;", 0.01, 1000, [](double x, double y) { return x / y; }, units(2)},
    {"ex2.approx.f16 %hd, %hx; cvt.u32.u16 %d, %hd;", -8, 8,
     [](double x, double) { return std::exp2(x); }, relative(-9.9), kHalfFormat},
    {"ex2.approx.ftz.bf16 %hd, %hx; cvt.u32.u16 %d, %hd;", -8, 8,
     [](double x, double) { return std::exp2(x); }, relative(-7), kBfloatFormat},
    {"tanh.approx.f16 %hd, %hx; cvt.u32.u16 %d, %hd;", -3, 3,
     [](double x, double) { return std::tanh(x); }, absolute(-10.987), kHalfFormat},
    {"tanh.approx.bf16 %hd, %hx; cvt.u32.u16 %d, %hd;", -3, 3,
     [](double x, double) { return std::tanh(x); }, absolute(-8), kBfloatFormat},
};

constexpr size_t kValues = 4096;

std::vector<uint32_t> operandsOf(const Function &function, double turn) {
  std::vector<uint32_t> values;
  for (size_t i = 0; i < kValues; ++i) {
    double place = std::fmod(static_cast<double>(i) * 0.6180339887 + turn, 1.0);
    values.push_back(encodeFloat(function.least + place * (function.most - function.least),
                                 function.format, Rounding::NearestEven));
  }
  return values;
}

TEST(Model, NoiseStaysInsideTheBoundsAndUsesThem) {
  for (const Function &function : kFunctions) {
    std::vector<uint32_t> x = operandsOf(function, 0), y = operandsOf(function, 0.3);
    std::vector<uint32_t> noisy = compute(function.code, x, y, true, 1);
    double worst = 0; // as a part of the bound
    for (size_t i = 0; i < kValues; ++i) {
      double a = decodeFloat(x[i], function.format);
      double exact = function.exact(a, decodeFloat(y[i], function.format));
      double error = std::fabs(decodeFloat(noisy[i], function.format) - exact);
      worst = std::max(worst, error / function.bound(a, exact));
    }
    EXPECT_LE(worst, 1.0) << function.code;
    EXPECT_GT(worst, 0.9) << function.code;
  }
}

TEST(Model, NoiseDependsOnTheSeedAndTheOperandsAlone) {
  for (const Function &function : kFunctions) {
    std::vector<uint32_t> x = operandsOf(function, 0), y = operandsOf(function, 0.3);
    std::vector<uint32_t> quiet = compute(function.code, x, y, false, 1),
                          first = compute(function.code, x, y, true, 1);
    EXPECT_EQ(first, compute(function.code, x, y, true, 1)) << function.code;
    EXPECT_NE(first, compute(function.code, x, y, true, 2)) << function.code;
    EXPECT_NE(first, quiet) << function.code;
    std::ranges::reverse(x);
    std::ranges::reverse(y);
    std::ranges::reverse(first);
    EXPECT_EQ(first, compute(function.code, x, y, true, 1)) << function.code;
  }
}

TEST(Model, NoiseLeavesExactResultsAlone) {
  auto bits = [](float value) { return std::bit_cast<uint32_t>(value); };
  std::vector<uint32_t> x(128, bits(0)), y(128, bits(1));
  x[1] = bits(INFINITY), x[2] = bits(-INFINITY), x[3] = bits(NAN), x[4] = bits(-0.0f);
  for (const char *code :
       {"rcp.approx.f32 %d, %x;", "sqrt.approx.f32 %d, %x;", "div.approx.f32 %d, %x, %y;",
        "sin.approx.f32 %d, %x;", "ex2.approx.f32 %d, %x;", "cos.approx.f32 %d, %x;",
        "ex2.approx.f32 %d, %y;", "sqrt.rn.f32 %d, %y;"}) {
    std::vector<uint32_t> quiet = compute(code, x, y, false, 1),
                          noisy = compute(code, x, y, true, 1);
    bool isApproximate = std::string(code) == "ex2.approx.f32 %d, %y;";
    EXPECT_EQ(quiet != noisy, isApproximate) << code;
  }
}

TEST(Model, NoisePacksBothHalvesOnTheirOwn) {
  Function half = kFunctions[12];
  ASSERT_TRUE(half.code.starts_with("ex2.approx.f16 "));
  std::vector<uint32_t> low = operandsOf(half, 0), high = operandsOf(half, 0.4), packed;
  for (size_t i = 0; i < kValues; ++i)
    packed.push_back(low[i] | high[i] << 16);
  std::vector<uint32_t> lows = compute(half.code, low, low, true, 5),
                        highs = compute(half.code, high, high, true, 5),
                        both = compute("ex2.approx.f16x2 %d, %x;", packed, packed, true, 5);
  for (size_t i = 0; i < kValues; ++i)
    ASSERT_EQ(both[i], lows[i] | highs[i] << 16) << i;
}

// --- sums ----------------------------------------------------------------------------------------

// All elements of D = A*B + C with each element of A, of B and of C the same; two products that run as a batch.
float mmaSum(const std::string &device, bool sums, float a, float b, float c) {
  std::string ptx = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 a, .param .u32 b, .param .f32 c)
{
  .reg .b32 %t, %a, %b;
  .reg .f32 %c<8>;
  .reg .b64 %p, %q;
  ld.param.u64 %p, [p];
  ld.param.u32 %a, [a];
  ld.param.u32 %b, [b];
  ld.param.f32 %c0, [c];
  mov.f32 %c1, %c0;
  mov.f32 %c2, %c0;
  mov.f32 %c3, %c0;
  mov.f32 %c4, %c0;
  mov.f32 %c5, %c0;
  mov.f32 %c6, %c0;
  mov.f32 %c7, %c0;
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%c0,%c1,%c2,%c3}, {%a,%a,%a,%a}, {%b,%b}, {%c0,%c1,%c2,%c3};
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%c4,%c5,%c6,%c7}, {%a,%a,%a,%a}, {%b,%b}, {%c4,%c5,%c6,%c7};
  mov.u32 %t, %tid.x;
  mad.wide.u32 %q, %t, 32, %p;
  st.global.v4.f32 [%q], {%c0,%c1,%c2,%c3};
  st.global.v4.f32 [%q+16], {%c4,%c5,%c6,%c7};
  ret;
}
)";
  Gpu gpu(ptx, device);
  gpu.device->setModel({.sums = sums});
  auto twice = [](float value) { return floatToHalf(value) * 0x10001u; };
  uint64_t data = gpu.device->alloc(1024);
  gpu.run("k", {1}, {32}, 0, data, twice(a), twice(b), c);
  gpu.expectClean();
  std::vector<float> d = gpu.download<float>(data, 256);
  EXPECT_EQ(std::ranges::count(d, d[0]), 256);
  return d[0];
}

TEST(Model, SumsAreThoseOfTheArchitecture) {
  // Sixteen ones beside 2^24: a chain of f32 sums loses each.
  EXPECT_EQ(mmaSum("sm_80", false, 1, 1, 0x1p24f), 0x1p24f);
  EXPECT_EQ(mmaSum("sm_80", true, 1, 1, 0x1p24f), 0x1p24f + 16);
  EXPECT_EQ(mmaSum("sm_90", true, 1, 1, 0x1p24f), 0x1p24f + 16);
  // Sixteen times 2^-25 beside 1: Ampere keeps 24 bits below the highest, Hopper 25.
  EXPECT_EQ(mmaSum("sm_90", false, 0x1p-12f, 0x1p-13f, 1), 1);
  EXPECT_EQ(mmaSum("sm_80", true, 0x1p-12f, 0x1p-13f, 1), 1);
  EXPECT_EQ(mmaSum("sm_90", true, 0x1p-12f, 0x1p-13f, 1), 1 + 0x1p-21f);
}

TEST(Model, SumsOfWgmmaToo) {
  // In each row of A and column of B first 1, then 15 numbers whose products are 2^-25.
  std::string ptx = hopper(R"(
  shl.b32 %r1, %t, 4;
  mov.u32 %r2, tile;
  add.u32 %r3, %r2, %r1;
  mov.u32 %r4, 0x0c000c00;
  and.b32 %r5, %t, 64;
  setp.ne.u32 %q1, %r5, 0;
  selp.b32 %r6, 0x0c000c00, 0x0c003c00, %q1;
  st.shared.v4.u32 [%r3], {%r6, %r4, %r4, %r4};
  mov.u32 %r7, 0x08000800;
  and.b32 %r8, %t, 8;
  setp.ne.u32 %q2, %r8, 0;
  selp.b32 %r9, 0x08000800, 0x08003c00, %q2;
  setp.lt.u32 %q3, %t, 16;
  @%q3 st.shared.v4.u32 [%r3+2048], {%r9, %r7, %r7, %r7};
  fence.proxy.async;
  bar.sync 0;
  mov.u64 %rd1, tile;
  shr.u64 %rd2, %rd1, 4;
  add.u64 %rd4, %rd2, )" + std::to_string((1024ull >> 4) << 16 | (128ull >> 4) << 32) +
                           R"(;
  add.u64 %rd5, %rd2, )" + std::to_string((128ull >> 4) << 16 | (128ull >> 4) << 32 | 128) +
                           R"(;
  setp.ne.u32 %q4, %t, %t;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r10,%r11,%r12,%r13}, %rd4, %rd5, %q4, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  mad.wide.u32 %rd6, %t, 16, %p;
  st.global.v4.u32 [%rd6], {%r10,%r11,%r12,%r13};
)");
  for (bool sums : {false, true}) {
    Gpu gpu(ptx, "sm_90a");
    gpu.device->setModel({.sums = sums});
    uint64_t data = gpu.device->alloc(2048);
    device::TensorMap map;
    gpu.run("k", {1}, {128}, 0, data, map);
    gpu.expectClean();
    for (float value : gpu.download<float>(data, 512))
      ASSERT_EQ(value, sums ? 1 + 3 * 0x1p-23f : 1.0f);
  }
}

// --- What the random schedule draws ------------------------------------------------------------------

TEST(RandomSchedule, ElectsAnyMemberAndTheSameForTheSameMask) {
  std::string ptx = hopper(R"(
  elect.sync %r1|%q1, 0xffffffff;
  elect.sync %r2|%q2, 0xffffffff;
  and.b32 %r5, %t, 24;
  setp.ne.u32 %q3, %r5, 8;
  mov.u32 %r3, 99;
  @%q3 bra JOIN;
  elect.sync %r3|%q4, 0x0000ff00;
JOIN:
  selp.b32 %r4, 1, 0, %q1;
  mad.wide.u32 %rd1, %t, 16, %p;
  st.global.v4.u32 [%rd1], {%r1,%r2,%r3,%r4};
)");
  std::set<uint32_t> leaders, amongEight;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    auto gpu = launch(ptx, Schedule::Random, seed, {.block = {32}});
    gpu->expectClean();
    std::vector<uint32_t> words = gpu->download<uint32_t>(gpu->data, 128);
    leaders.insert(words[0]);
    amongEight.insert(words[8 * 4 + 2]);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      EXPECT_EQ(words[4 * lane], words[0]);
      EXPECT_EQ(words[4 * lane + 1], words[0]);
      EXPECT_EQ(words[4 * lane + 3], uint32_t{lane == words[0]});
    }
  }
  EXPECT_GT(leaders.size(), 10u);
  EXPECT_LT(*leaders.rbegin(), 32u);
  EXPECT_GT(amongEight.size(), 4u);
  EXPECT_TRUE(*amongEight.begin() >= 8 && *amongEight.rbegin() < 16);
  auto eager = launch(ptx, Schedule::Eager, 5, {.block = {32}});
  EXPECT_EQ(eager->download<uint32_t>(eager->data, 1)[0], 0u);
}

// The barrier expects the bytes of one copy and hears of two. Were copies to come as a whole, the first would be there or
// not when the phase ends.
TEST(RandomSchedule, CopiesComeInPieces) {
  std::string ptx = hopper(R"(
  @%q15 mbarrier.init.shared.b64 [full], 1;
  @!%q15 bra WAIT;
  mbarrier.arrive.expect_tx.shared.b64 _, [full], 1024;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%p], 1024, [full];
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile+1024], [%p], 1024, [full];
WAIT:
  bar.warp.sync 0xffffffff;
TRY:
  mbarrier.try_wait.parity.shared.b64 %q1, [full], 0;
  @!%q1 bra TRY;
  mov.u32 %r1, tile;
  shl.b32 %r2, %t, 5;
  add.u32 %r3, %r1, %r2;
  mad.wide.u32 %rd1, %t, 32, %p;
  ld.shared.v4.u32 {%r4,%r5,%r6,%r7}, [%r3];
  ld.shared.v4.u32 {%r8,%r9,%r10,%r11}, [%r3+16];
  st.global.v4.u32 [%rd1+8192], {%r4,%r5,%r6,%r7};
  st.global.v4.u32 [%rd1+8208], {%r8,%r9,%r10,%r11};
)");
  int mixed = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    auto gpu = launch(ptx, Schedule::Random, seed, {.block = {32}}, 1, "none");
    std::vector<uint32_t> words = gpu->download<uint32_t>(gpu->data, 2048 + 256);
    auto arrived =
        std::count_if(words.begin() + 2048, words.end(), [](uint32_t word) { return word < 256; });
    bool hasRun = gpu->findings.empty(); // otherwise the bytes never added up, and all wait
    mixed += hasRun && arrived > 0 && arrived < 256;
  }
  EXPECT_GT(mixed, 3);
}

// --- Lanes of findings -----------------------------------------------------------------------------

TEST(Findings, NameAllLanesConcerned) {
  std::string ptx = hopper(R"(
  ld.global.u32 %r1, [%a+32752];
  st.global.u32 [%a], %r1;
)");
  auto gpu = launch(ptx, Schedule::Eager, 0, {.block = {32}});
  ASSERT_EQ(gpu->findings.size(), 1u);
  const Finding &finding = gpu->findings[0];
  EXPECT_EQ(finding.lane, 4u);
  EXPECT_EQ(finding.lanes, 0xfffffff0u);
  EXPECT_NE(finding.text().find("warp 0, lanes 4-31\n"), std::string::npos) << finding.text();

  std::string odd = hopper(R"(
  and.b32 %r1, %t, 1;
  setp.eq.u32 %q1, %r1, 0;
  @%q1 mov.u32 %r2, 7;
  setp.eq.u32 %q2, %t, 5;
  @%q2 mov.u32 %r2, 8;
  st.global.u32 [%a], %r2;
)");
  gpu = launch(odd, Schedule::Eager, 0, {.block = {8}});
  ASSERT_EQ(gpu->findings.size(), 1u);
  EXPECT_EQ(gpu->findings[0].lanes, 0x8au);
  EXPECT_NE(gpu->findings[0].text().find("warp 0, lanes 1,3,7\n"), std::string::npos);

  std::string single = hopper("  @%q15 ld.global.u32 %r1, [%p+32768];\n");
  gpu = launch(single, Schedule::Eager, 0, {.block = {8}});
  ASSERT_EQ(gpu->findings.size(), 1u);
  EXPECT_NE(gpu->findings[0].text().find("warp 0, lane 0\n"), std::string::npos);
}

} // namespace
} // namespace tile::vgpu
