// Registers of 128 bits: mov, ld, st and the atomic operations, against scalar code.
#include "tests/runtime/vgpu/Kernels.h"

#include <algorithm>
#include <array>

namespace tile::vgpu {
namespace {

using Pair = std::array<uint64_t, 2>;

std::string kernel(const std::string &body) {
  return R"(.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .pred %q<4>;
  .reg .b32 %t, %r<8>;
  .reg .b64 %p, %a, %d<8>;
  .reg .b128 %x<6>;
  .shared .align 16 .b8 tile[1024];
  ld.param.u64 %p, [p];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %a, %t, 16, %p;
  shl.b32 %r7, %t, 4;
  mov.u32 %r6, tile;
  add.u32 %r7, %r7, %r6;
)" + body +
         "  ret;\n}\n";
}

// The buffer after the kernel ran with a thread for each of the first `threads` of its pairs.
std::vector<Pair> run(const std::string &body, std::vector<Pair> data, uint32_t threads,
                      uint32_t blocks = 1) {
  Gpu gpu(kernel(body), "sm_90");
  uint64_t pointer = gpu.upload(data);
  gpu.run("k", {blocks}, {threads}, 0, pointer);
  gpu.expectClean();
  return gpu.download<Pair>(pointer, data.size());
}

std::vector<Pair> numbers(size_t count) {
  std::vector<Pair> data;
  for (uint64_t i = 0; i < count; ++i)
    data.push_back({0x0102030405060708u * (i + 1), 0xf0e0d0c0b0a09080u ^ (i << 40 | i)});
  return data;
}

TEST(WideRegisters, MoveThroughMemoryAndHalves) {
  std::vector<Pair> data = numbers(64), expected = data;
  for (Pair &pair : expected)
    pair = {pair[1] + 1, pair[0]};
  EXPECT_EQ(run(R"(
  ld.global.b128 %x0, [%a];
  mov.b128 {%d0, %d1}, %x0;
  add.u64 %d1, %d1, 1;
  mov.b128 %x1, {%d1, %d0};
  mov.b128 %x2, %x1;
  st.shared.b128 [%r7], %x2;
  bar.sync 0;
  ld.shared.b128 %x3, [%r7];
  mov.b128 {_, %d2}, %x3;
  setp.eq.u64 %q1, %d2, %d0;
  @%q1 st.relaxed.gpu.global.b128 [%a], %x3;
)",
                data, 64),
            expected);
}

TEST(WideRegisters, ExchangeGivesTheOldValue) {
  std::vector<Pair> data = numbers(32), expected(data);
  for (size_t i = 0; i < 32; ++i)
    expected[i] = {data[i][0] + data[i][1], 5};
  EXPECT_EQ(run(R"(
  mov.u64 %d3, 7;
  mov.u64 %d4, 5;
  mov.b128 %x0, {%d3, %d4};
  atom.global.exch.b128 %x1, [%a], %x0;
  mov.b128 {%d0, %d1}, %x1;
  add.u64 %d0, %d0, %d1;
  mov.b128 %x2, {%d0, %d4};
  atom.relaxed.gpu.exch.b128 %x3, [%a], %x2;
)",
                data, 32),
            expected);
}

// Every thread adds its number to both halves in a loop of compare and swap, all blocks on the same pair.
TEST(WideRegisters, CompareAndSwapComparesAllBits) {
  const char *body = R"(
  ld.relaxed.gpu.global.b128 %x0, [%p];
  cvt.u64.u32 %d4, %t;
AGAIN:
  mov.b128 {%d0, %d1}, %x0;
  add.u64 %d0, %d0, %d4;
  sub.u64 %d1, %d1, %d4;
  mov.b128 %x1, {%d0, %d1};
  atom.relaxed.gpu.global.cas.b128 %x2, [%p], %x0, %x1;
  mov.b128 {%d2, %d3}, %x2;
  mov.b128 {%d0, %d1}, %x0;
  mov.b128 %x0, %x2;
  setp.ne.u64 %q0, %d0, %d2;
  setp.ne.or.u64 %q1, %d1, %d3, %q0;
  @%q1 bra AGAIN;
)";
  uint64_t sum = 3 * (63 * 64 / 2);
  EXPECT_EQ(run(body, {{10, 20}}, 64, 3), (std::vector<Pair>{{10 + sum, 20 - sum}}));
  // One half alone that agrees is not enough.
  const char *once = R"(
  mov.u64 %d0, 1;
  mov.u64 %d1, 2;
  mov.b128 %x0, {%d0, %d1};
  mov.u64 %d2, 99;
  mov.b128 %x1, {%d2, %d2};
  atom.global.cas.b128 %x2, [%a], %x0, %x1;
  st.shared.b128 [%r7], %x2;
  ld.shared.b128 %x3, [%r7];
  st.global.b128 [%a+64], %x3;
)";
  std::vector<Pair> data = {{1, 2}, {1, 3}, {0, 2}, {2, 1}, {}, {}, {}, {}};
  EXPECT_EQ(run(once, data, 4),
            (std::vector<Pair>{{99, 99}, {1, 3}, {0, 2}, {2, 1}, {1, 2}, {1, 3}, {0, 2}, {2, 1}}));
}

TEST(WideRegisters, SharedAtomics) {
  std::vector<Pair> data = numbers(32), expected = data;
  std::ranges::reverse(expected);
  EXPECT_EQ(run(R"(
  ld.global.b128 %x0, [%a];
  st.shared.b128 [%r7], %x0;
  bar.sync 0;
  sub.u32 %r1, 31, %t;
  shl.b32 %r1, %r1, 4;
  add.u32 %r1, %r1, %r6;
  atom.shared.exch.b128 %x1, [%r1], %x0;
  st.global.b128 [%a], %x1;
)",
                data, 32),
            expected);
}

// --- What the checks see -----------------------------------------------------------------------------

Finding findingOf(const std::string &body, uint32_t threads = 32) {
  Gpu gpu(kernel(body), "sm_90");
  uint64_t pointer = gpu.upload(numbers(32));
  gpu.run("k", {1}, {threads}, 0, pointer);
  EXPECT_FALSE(gpu.findings.empty());
  return gpu.findings.empty() ? Finding() : gpu.findings[0];
}

TEST(WideRegisters, AreAlignedAndInBounds) {
  EXPECT_EQ(findingOf("  ld.global.b128 %x0, [%a+8];\n").kind, FindingKind::Misaligned);
  EXPECT_EQ(findingOf("  st.shared.b128 [%r7+24], %x0;\n").kind, FindingKind::Misaligned);
  Finding outside = findingOf("  atom.global.exch.b128 %x1, [%a+16], %x0;\n");
  EXPECT_EQ(outside.kind, FindingKind::OutOfBounds);
  EXPECT_EQ(outside.lanes, 1u << 31);
  EXPECT_EQ(outside.bytes, 16u);
}

TEST(WideRegisters, HalvesAreInitialisedOnTheirOwn) {
  const char *half = "  mov.u64 %d0, 1;\n  mov.b128 %x0, {%d0, %d1};\n";
  EXPECT_EQ(findingOf(std::string(half) + "  st.global.b128 [%a], %x0;\n").kind,
            FindingKind::Uninitialised);
  EXPECT_EQ(findingOf(std::string(half) + "  atom.global.exch.b128 %x1, [%a], %x0;\n").kind,
            FindingKind::Uninitialised);
  Gpu gpu(kernel(std::string(half) + "  mov.b128 {%d2, _}, %x0;\n  st.global.u64 [%a], %d2;\n"),
          "sm_90");
  uint64_t pointer = gpu.upload(numbers(32));
  gpu.run("k", {1}, {32}, 0, pointer);
  gpu.expectClean();
}

TEST(WideRegisters, SharedByTwoWarpsRace) {
  EXPECT_EQ(findingOf(R"(
  ld.global.b128 %x0, [%p];
  st.shared.b128 [%r7], %x0;
  xor.b32 %r1, %r7, 512;
  ld.shared.b128 %x1, [tile+512];
)",
                      64)
                .kind,
            FindingKind::Race);
}

std::string refusal(const std::string &body, const std::string &target = "sm_90") {
  std::string ptx = kernel(body);
  ptx.replace(ptx.find("sm_90"), 5, target);
  auto device = device::openVirtual({.target = "sm_90"});
  try {
    device->functionInfo(device->getFunction(device->loadModule(ptx), "k"));
  } catch (const Error &error) {
    return error.message();
  }
  return "";
}

TEST(WideRegisters, AreRefusedElsewhere) {
  EXPECT_NE(refusal("  add.u64 %d0, %x0, %d1;\n").find("'%x0' is 128 bits wide"),
            std::string::npos);
  EXPECT_NE(refusal("  ld.global.u64 %x0, [%a];\n").find("'%x0' is 128 bits wide"),
            std::string::npos);
  EXPECT_NE(refusal("  ld.global.b128 %d0, [%a];\n").find("'%d0' is no .b128 register"),
            std::string::npos);
  EXPECT_NE(refusal("  atom.global.add.b128 %x0, [%a], %x1;\n").find("atom.exch and atom.cas"),
            std::string::npos);
  EXPECT_NE(refusal("  atom.global.exch.b128 %x0, [%a], %x1;\n", "sm_80").find("sm_90 or newer"),
            std::string::npos);
  EXPECT_EQ(refusal("  ld.global.b128 %x0, [%a];\n", "sm_80"), "");
}

} // namespace
} // namespace tile::vgpu
