// cp.async of whole warps: the same bytes and faults with and without checks, and each check alone sees it.
#include "tests/runtime/vgpu/Hopper.h"

namespace tile::vgpu {
namespace {

constexpr uint32_t kStageBytes = 512, kStages = 4;

// Reads the buffer once, so that its allocation is known, and copies the warp's part of each stage, lanes in another order.
std::string copies(uint32_t bytes, const std::string &third) {
  std::string size = std::to_string(bytes);
  return hopper(R"(  ld.global.u32 %r1, [%a];
  mul.lo.u32 %r2, %l, 7;
  and.b32 %r2, %r2, 31;
  mad.wide.u32 %rd1, %r2, )" +
                size + R"(, %p;
  mad.lo.u32 %r3, %l, )" +
                size + R"(, tile;
  setp.ne.u32 %q1, %l, %l;
  mov.u32 %r4, 0;
LOOP:
  cp.async.ca.shared.global [%r3], [%rd1], )" +
                size + third + R"(;
  add.u32 %r3, %r3, 512;
  add.u64 %rd1, %rd1, 512;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %q2, %r4, 4;
  @%q2 bra LOOP;
  cp.async.wait_all;
  bar.sync 0;
  mad.lo.u32 %r5, %t, 4, tile;
  mov.u32 %r4, 0;
OUT:
  ld.shared.u32 %r6, [%r5];
  st.global.u32 [%a+16384], %r6;
  add.u32 %r5, %r5, 128;
  add.u64 %a, %a, 128;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %q2, %r4, 16;
  @%q2 bra OUT;
)");
}

// What the copies of a stage leave in its word `word`; nothing where no lane copies to.
std::optional<uint32_t> copied(uint32_t stage, uint32_t word, uint32_t bytes, uint32_t present) {
  uint32_t lane = word * 4 / bytes, byte = word * 4 % bytes;
  if (lane >= 32)
    return std::nullopt;
  return byte < present ? (stage * kStageBytes + lane * 7 % 32 * bytes + byte) / 4 : 0;
}

TEST(AsyncCopy, TheSameBytesWithAndWithoutChecks) {
  struct Form {
    uint32_t bytes;
    std::string third;
    uint32_t present;
  };
  for (const Form &form : {Form{4, "", 4}, Form{8, "", 8}, Form{16, "", 16}, Form{16, ", 16", 16},
                           Form{16, ", 8", 8}, Form{8, ", 0", 0}, Form{16, ", %q1", 16}})
    for (std::string checks : {"all", "race", "memory", "none"}) {
      if (checks == "all" && form.bytes < 16)
        continue; // words that no lane copies to are stored as well
      SCOPED_TRACE(std::to_string(form.bytes) + form.third + " " + checks);
      auto gpu = launch(copies(form.bytes, form.third), Schedule::Eager, 0, {{1}, {32}}, 1, checks);
      gpu->expectClean();
      auto words = gpu->download<uint32_t>(gpu->data + 16384, kStages * kStageBytes / 4);
      for (uint32_t i = 0; i < words.size(); ++i)
        if (auto expected = copied(i / 128, i % 128, form.bytes, form.present)) {
          ASSERT_EQ(words[i], *expected) << "word " << i;
        }
    }
}

// One lane of the third copy is elsewhere.
TEST(AsyncCopy, FaultsOfOneLaneAreReportedWithoutChecks) {
  struct Wrong {
    std::string what;
    FindingKind kind;
  };
  std::string good = copies(16, "");
  for (const Wrong &wrong :
       {Wrong{"@%q5 add.u64 %rd1, %rd1, 1099511627776;", FindingKind::OutOfBounds},
        Wrong{"@%q5 sub.u64 %rd1, %rd1, 1099511627776;", FindingKind::OutOfBounds},
        Wrong{"@%q5 add.u64 %rd1, %rd1, 8;", FindingKind::Misaligned},
        Wrong{"@%q5 add.u32 %r3, %r3, 4;", FindingKind::Misaligned},
        Wrong{"@%q5 add.u32 %r3, %r3, 1048576;", FindingKind::OutOfBounds},
        Wrong{"@%q5 sub.u32 %r3, %r3, 1048576;", FindingKind::OutOfBounds}})
    for (std::string checks : {"all", "none"}) {
      SCOPED_TRACE(wrong.what + " " + checks);
      std::string broken = replaced(good, "LOOP:\n",
                                    "LOOP:\n  setp.eq.u32 %q5, %l, 17;\n"
                                    "  setp.eq.and.u32 %q5, %r4, 2, %q5;\n  " +
                                        wrong.what + "\n");
      auto gpu = launch(broken, Schedule::Eager, 0, {{1}, {32}}, 1, checks);
      gpu->expectFinding(wrong.kind, lineOf(broken, "cp.async.ca"));
    }
}

TEST(AsyncCopy, EachCheckAloneSeesCopiesOfWholeWarps) {
  std::string good = copies(16, "");
  std::string noWait = replaced(good, "  cp.async.wait_all;\n", "");
  auto gpu = launch(noWait, Schedule::Eager, 0, {{1}, {32}}, 1, "async");
  gpu->expectFinding(FindingKind::AsyncRace, lineOf(noWait, "ld.shared.u32"));

  // Two warps fill the same stages.
  gpu = launch(good, Schedule::Eager, 0, {{1}, {64}}, 1, "race");
  gpu->expectFinding(FindingKind::Race, lineOf(good, "cp.async.ca"));

  // The last stage begins behind the buffer.
  std::string outside = replaced(
      good, "LOOP:\n", "LOOP:\n  setp.eq.u32 %q5, %r4, 3;\n  @%q5 add.u64 %rd1, %rd1, 32768;\n");
  gpu = launch(outside, Schedule::Eager, 0, {{1}, {32}}, 1, "memory");
  gpu->expectFinding(FindingKind::OutOfBounds, lineOf(outside, "cp.async.ca"));
}

TEST(AsyncCopy, TheCheckOfInitialisationFollowsTheBytes) {
  std::string ptx = copies(16, "");
  Gpu gpu(ptx, "sm_90a", "init");
  device::DevicePtr data = gpu.device->alloc(kBufferWords * 4);
  std::vector<uint32_t> first(kStageBytes / 4);
  gpu.device->copyToDevice(data, first.data(), kStageBytes);
  gpu.run("k", {1}, {32}, 0, data, device::TensorMap{});
  gpu.expectFinding(FindingKind::Uninitialised, lineOf(ptx, "st.global.u32"));
}

// Copies of every size, whole, short and left out, of all lanes and of some: the same bytes with checks and without.
TEST(AsyncCopy, MovesTheSameWithAndWithoutChecks) {
  for (uint32_t bytes : {4u, 8u, 16u})
    for (std::string rest : {"", ", %r5", ", %q2"})
      for (std::string guard : {"", "@%q1 "})
        for (std::string checks : {"none", "memory,init", "all"}) {
          std::string size = std::to_string(bytes);
          std::string ptx = kernel(
              "  mov.u32 %r1, buffer;\n  mad.lo.u32 %r2, %t, 16, %r1;\n"
              "  mov.u32 %r3, 7;\n  st.shared.v4.u32 [%r2], {%r3, %r3, %r3, %r3};\n"
              "  mad.wide.u32 %rd1, %t, 16, %p;\n  and.b32 %r4, %t, 3;\n"
              "  setp.ne.u32 %q1, %r4, 1;\n  setp.eq.u32 %q2, %r4, 2;\n  min.u32 %r5, %r4, 4;\n"
              "  " +
              guard + "cp.async.ca.shared.global [%r2], [%rd1], " + size + rest +
              ";\n  cp.async.wait_all;\n  ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%r2];\n"
              "  st.global.v4.u32 [%rd1], {%r6, %r7, %r8, %r9};\n");
          Gpu gpu(ptx, "sm_80", checks);
          std::vector<uint8_t> data(1024), expected(1024);
          for (size_t i = 0; i < data.size(); ++i)
            data[i] = static_cast<uint8_t>(i * 7 + 1);
          for (uint32_t t = 0; t < 64; ++t)
            for (uint32_t i = 0; i < 16; ++i) {
              uint32_t turn = t % 4;
              uint32_t copied = rest == ", %r5" ? turn : rest == ", %q2" && turn == 2 ? 0 : bytes;
              bool skipped = i >= bytes || (!guard.empty() && turn == 1);
              size_t at = size_t{t} * 16 + i;
              expected[at] = skipped ? (i % 4 == 0 ? 7 : 0) : i < copied ? data[at] : 0;
            }
          auto buffer = gpu.upload(data);
          gpu.run("k", {1}, {64}, 0, buffer);
          gpu.expectClean();
          EXPECT_EQ(gpu.download<uint8_t>(buffer, data.size()), expected)
              << size << rest << " " << guard << checks;
        }
}

} // namespace
} // namespace tile::vgpu
