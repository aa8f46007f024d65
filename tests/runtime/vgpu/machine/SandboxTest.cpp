// No PTX reaches memory of the host that is not the kernel's: addresses that wrap, that name other windows, or that lie at
// the ends of a memory are findings, with checks and without, and no access.
#include "tests/runtime/vgpu/Kernels.h"

#include <tile/Error.h>

namespace tile::vgpu {
namespace {

std::string kernelOf(const std::string &body) {
  return ".version 8.4\n.target sm_90a\n.address_size 64\n"
         ".visible .entry k(.param .u64 buffer)\n{\n  .reg .b32 %r<8>;\n  .reg .b64 %rd<8>;\n"
         "  .reg .pred %p;\n  .shared .align 128 .b8 s[256];\n  ld.param.u64 %rd0, [buffer];\n" +
         body + "  ret;\n}\n";
}

// Runs under every schedule, with checks and without; each run must end with a finding out of bounds.
void expectRefused(const std::string &body) {
  for (const char *checks : {"all", "none"})
    for (Schedule schedule : {Schedule::Eager, Schedule::Lazy, Schedule::Random}) {
      Gpu gpu(kernelOf(body), "sm_90a", checks);
      gpu.device->setSchedule(schedule, 1);
      auto buffer = gpu.upload(std::vector<uint32_t>(256));
      gpu.run("k", {1}, {32}, 0, buffer);
      ASSERT_FALSE(gpu.findings.empty()) << body << "with checks " << checks;
      EXPECT_EQ(gpu.findings[0].kind, FindingKind::OutOfBounds) << gpu.findings[0].text();
    }
}

// The last `bytes` below 2^64: where a sum of address and size wraps to 0.
std::string wrapping(unsigned bytes) { return "  mov.u64 %rd1, -" + std::to_string(bytes) + ";\n"; }

TEST(Sandbox, SharedAddressesThatWrapAreOutOfBounds) {
  expectRefused(wrapping(4) + "  ld.shared.u32 %r1, [%rd1];\n");
  expectRefused(wrapping(4) + "  st.shared.u32 [%rd1], 7;\n");
  expectRefused(wrapping(16) + "  ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];\n");
  expectRefused(wrapping(4) + "  atom.shared.add.u32 %r1, [%rd1], 1;\n");
  expectRefused(wrapping(8) + "  red.shared.add.u64 [%rd1], %rd0;\n");
  expectRefused(wrapping(16) + "  cp.async.cg.shared.global [%rd1], [%rd0], 16;\n"
                               "  cp.async.wait_all;\n");
  expectRefused(wrapping(16) + "  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%rd1];\n");
  expectRefused(wrapping(16) + "  stmatrix.sync.aligned.m8n8.x1.shared.b16 [%rd1], {%r1};\n");
  expectRefused(wrapping(8) + "  mbarrier.init.shared.b64 [%rd1], 1;\n");
}

// Also of copies that read less than they write, whose sources are looked at one by one.
TEST(Sandbox, ShorterCopiesFromAnywhereAreOutOfBounds) {
  for (std::string source : {"64", "-64", "0x7fffffffff00"})
    expectRefused("  mov.u64 %rd1, " + source + ";\n  mov.u32 %r1, 4;\n" +
                  "  cp.async.ca.shared.global [s], [%rd1], 8, %r1;\n  cp.async.wait_all;\n");
}

const std::string kBulkCopy = R"(  .shared .align 8 .b64 bar;
  .reg .b16 %h;
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p, %r1, 0;
  @%p bra DONE;
  mbarrier.init.shared.b64 [bar], 1;
)";

TEST(Sandbox, MulticastsToNobodyAreReported) {
  for (const char *checks : {"all", "none"}) {
    Gpu gpu(kernelOf(kBulkCopy +
                     "  mov.b16 %h, 0;\n  cp.async.bulk.shared::cluster.global.mbarrier::"
                     "complete_tx::bytes.multicast::cluster [s], [%rd0], 16, [bar], %h;\nDONE:\n"),
            "sm_90a", checks);
    gpu.run("k", {1}, {32}, 0, gpu.upload(std::vector<uint32_t>(256)));
    ASSERT_FALSE(gpu.findings.empty());
    EXPECT_NE(gpu.findings[0].message.find("names no block"), std::string::npos)
        << gpu.findings[0].message;
  }
}

// A copy within one block's memory whose ends overlap moves what was there before.
TEST(Sandbox, CopiesWithinABlockMayOverlap) {
  Gpu gpu(kernelOf(kBulkCopy + R"(  st.shared.u32 [s], 11;
  st.shared.u32 [s+16], 22;
  fence.proxy.async;
  mbarrier.arrive.expect_tx.shared.b64 %rd1, [bar], 32;
  cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [s+16], [s], 32, [bar];
WAIT:
  mbarrier.try_wait.shared.b64 %p, [bar], %rd1;
  @!%p bra WAIT;
  ld.shared.u32 %r2, [s+16];
  ld.shared.u32 %r3, [s+32];
  st.global.u32 [%rd0], %r2;
  st.global.u32 [%rd0+4], %r3;
DONE:
)"),
          "sm_90a", "none");
  auto buffer = gpu.upload(std::vector<uint32_t>(256));
  gpu.run("k", {1}, {32}, 0, buffer);
  gpu.expectClean();
  EXPECT_EQ(gpu.download<uint32_t>(buffer, 2), (std::vector<uint32_t>{11, 22}));
}

// A block alone has one window; addresses of others do not exist.
TEST(Sandbox, WindowsOfBlocksThatAreNotThereAreOutOfBounds) {
  const std::string other = "  mov.u32 %r1, s;\n  add.u32 %r1, %r1, 0x1000000;\n";
  expectRefused(other + "  ld.shared.u32 %r2, [%r1];\n");
  expectRefused(other + "  cp.async.ca.shared.global [%r1], [%rd0], 4;\n  cp.async.wait_all;\n");
  expectRefused(other + "  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];\n");
  expectRefused(other + "  stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2};\n");
  expectRefused("  .reg .b32 %f<8>;\n" + other +
                "  wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 "
                "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, [%r1];\n");
}

// What reaches the block's own memory alone refuses that of the next block of the cluster, which is there.
TEST(Sandbox, InstructionsOfTheOwnBlockRefuseOthersOfTheCluster) {
  for (std::string code : {"cp.async.ca.shared.global [%r1], [%rd0], 4;\n  cp.async.wait_all;",
                           "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];",
                           "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2};"})
    for (const char *checks : {"all", "none"}) {
      Gpu gpu(kernelOf("  mov.u32 %r3, %cluster_ctarank;\n  xor.b32 %r3, %r3, 1;\n"
                       "  mov.u32 %r1, s;\n  mapa.shared::cluster.u32 %r1, %r1, %r3;\n  " +
                       code + "\n"),
              "sm_90a", checks);
      auto buffer = gpu.upload(std::vector<uint32_t>(256));
      std::vector<device::Arg> args = {{&buffer, sizeof buffer}};
      gpu.device->launch(gpu.device->getFunction(gpu.module, "k"), {{2}, {32}, {2}, 0}, args);
      ASSERT_FALSE(gpu.findings.empty()) << code;
      EXPECT_NE(gpu.findings[0].text().find("another block of the cluster"), std::string::npos)
          << gpu.findings[0].text();
    }
}

// Each thread has its own local memory: lanes at consecutive addresses do not share one's.
TEST(Sandbox, ConsecutiveLocalAddressesAreEachLanesOwn) {
  for (const char *checks : {"all", "none"})
    for (int bytes : {4, 8}) {
      std::string type = "u" + std::to_string(8 * bytes), size = std::to_string(bytes),
                  value = bytes == 4 ? "%r" : "%rd";
      // Element 1 is 7; a[lane] = lane + 100; element 1 is read back.
      Gpu gpu(".version 8.4\n.target sm_90a\n.address_size 64\n"
              ".visible .entry k(.param .u64 out)\n{\n  .reg .b32 %r<8>;\n  .reg .b64 %rd<8>;\n"
              "  .local .align 8 .b8 a[256];\n  mov.u32 %r1, %tid.x;\n  mov.u64 %rd1, a;\n"
              "  mad.wide.u32 %rd2, %r1, " +
                  size + ", %rd1;\n  add.u32 %r4, %r1, 100;\n  cvt.u64.u32 %rd4, %r4;\n  mov." +
                  type + " " + value + "5, 7;\n  st.local." + type + " [%rd1+" + size + "], " +
                  value + "5;\n  st.local." + type + " [%rd2], " + value + "4;\n  ld.local." +
                  type + " " + value + "6, [%rd1+" + size + "];\n  ld.local." + type + " " + value +
                  "7, [%rd2];\n  ld.param.u64 %rd0, [out];\n  mad.wide.u32 %rd0, %r1, " +
                  std::to_string(2 * bytes) + ", %rd0;\n  st.global." + type + " [%rd0], " + value +
                  "6;\n  st.global." + type + " [%rd0+" + size + "], " + value + "7;\n  ret;\n}\n",
              "sm_90a", checks);
      auto out = gpu.upload(std::vector<uint8_t>(static_cast<size_t>(64 * bytes)));
      gpu.run("k", {1}, {32}, 0, out);
      gpu.expectClean();
      auto words = gpu.download<uint8_t>(out, static_cast<size_t>(64 * bytes));
      for (size_t lane = 0; lane < 32; ++lane) {
        EXPECT_EQ(words[2 * lane * static_cast<size_t>(bytes)], lane == 1 ? 101 : 7) << lane;
        EXPECT_EQ(words[(2 * lane + 1) * static_cast<size_t>(bytes)], 100 + lane) << lane;
      }
    }
}

// As on hardware: the window of rank r begins at r << 24, and own variables lie where mapa of the own rank says.
TEST(Sandbox, WindowsOfAClusterBeginAtTheirRanks) {
  Gpu gpu(kernelOf("  mov.u32 %r1, s;\n  mov.u32 %r2, %cluster_ctarank;\n"
                   "  mapa.shared::cluster.u32 %r3, %r1, %r2;\n  mov.u32 %r4, 0;\n"
                   "  mapa.shared::cluster.u32 %r5, %r1, %r4;\n  mov.u64 %rd2, s;\n"
                   "  cvta.shared.u64 %rd2, %rd2;\n  getctarank.u64 %r6, %rd2;\n"
                   "  isspacep.shared::cta %p, %rd2;\n  selp.u32 %r7, 1, 0, %p;\n"
                   "  st.shared.u32 [s], %r2;\n  ld.shared.u32 %r4, [%r1];\n"
                   "  mad.wide.u32 %rd0, %r2, 24, %rd0;\n"
                   "  st.global.u32 [%rd0], %r1;\n  st.global.u32 [%rd0+4], %r3;\n"
                   "  st.global.u32 [%rd0+8], %r5;\n  st.global.u32 [%rd0+12], %r6;\n"
                   "  st.global.u32 [%rd0+16], %r7;\n  st.global.u32 [%rd0+20], %r4;\n"),
          "sm_90a");
  auto buffer = gpu.upload(std::vector<uint32_t>(256));
  std::vector<device::Arg> args = {{&buffer, sizeof buffer}};
  gpu.device->launch(gpu.device->getFunction(gpu.module, "k"), {{2}, {1}, {2}, 0}, args);
  gpu.expectClean();
  EXPECT_EQ(gpu.download<uint32_t>(buffer, 12),
            (std::vector<uint32_t>{0x400, 0x400, 0x400, 0, 1, 0, //
                                   0x1000400, 0x1000400, 0x400, 1, 1, 1}));
}

// The number of registers of a declaration does not wrap.
TEST(Sandbox, RegisterCountsAreLimited) {
  for (const char *range : {"%r<18446744073709551600>", "%q<4294967297>", "%q<1048577>"})
    for (const char *vector : {"", ".v2 ", ".v4 "})
      EXPECT_THROW(Gpu(".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n"
                       "  .reg " +
                       std::string(vector) + ".b32 " + range + ";\n  ret;\n}\n"),
                   Error)
          << vector << range;
}

} // namespace
} // namespace tile::vgpu
