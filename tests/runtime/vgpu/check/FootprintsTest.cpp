// Clusters under the race check run as if each were alone: what they touch is compared, and memory
// put back where one touched what another wrote.
#include "runtime/vgpu/check/Footprints.h"

#include "runtime/vgpu/machine/PageBackup.h"
#include "tests/runtime/vgpu/Twins.h"

#include <numeric>

namespace tile::vgpu {
namespace {

constexpr uint64_t kPage = kGlobalBase / kShadowPageBytes;

PageFootprint footprint(uint32_t begin, uint32_t count, bool writes) {
  PageFootprint result;
  result.isWritten = writes;
  setBits(writes ? result.written : result.read, begin, count);
  return result;
}

bool conflict(const PageFootprint &first, const PageFootprint &second) {
  Footprints footprints([](uint64_t) {});
  footprints.add({{{kPage, &first}}});
  EXPECT_FALSE(footprints.haveConflict());
  footprints.add({{{kPage, &second}}});
  return footprints.haveConflict();
}

TEST(Footprints, WhoeverTouchesWhatAnotherWritesConflicts) {
  PageFootprint reads = footprint(60, 8, false), writes = footprint(60, 8, true);
  EXPECT_FALSE(conflict(reads, reads));
  EXPECT_TRUE(conflict(reads, writes));
  EXPECT_TRUE(conflict(writes, reads));
  EXPECT_TRUE(conflict(writes, writes));
}

TEST(Footprints, BytesSideBySideDoNotConflict) {
  PageFootprint writes = footprint(60, 8, true);
  for (bool alsoWrites : {false, true}) {
    EXPECT_FALSE(conflict(writes, footprint(59, 1, alsoWrites)));
    EXPECT_FALSE(conflict(writes, footprint(68, 956, alsoWrites)));
    EXPECT_TRUE(conflict(writes, footprint(67, 1, alsoWrites)));
    EXPECT_TRUE(conflict(writes, footprint(0, 1024, alsoWrites)));
  }
}

TEST(PageBackup, RestoresBytesAndTheirInitialisation) {
  GlobalMemory memory(uint64_t{1} << 28);
  uint64_t address = memory.allocate(4 * kShadowPageBytes);
  uint64_t page = address / kShadowPageBytes + 1, begin = page * kShadowPageBytes;
  auto bytes = std::span(memory.host(begin, kShadowPageBytes), kShadowPageBytes);
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  memory.valid().setRange(begin - kGlobalBase, 100, true);
  std::vector<uint8_t> before(bytes.begin(), bytes.end());
  PageBackup backup(memory);
  for (uint8_t fill : {1, 2}) { // what the second cluster finds is not what was there before
    backup.keep(page);
    std::ranges::fill(bytes, fill);
    memory.valid().setRange(begin - kGlobalBase, kShadowPageBytes, true);
  }
  backup.restore();
  EXPECT_EQ(std::vector<uint8_t>(bytes.begin(), bytes.end()), before);
  EXPECT_TRUE(memory.valid().holdsRange(begin - kGlobalBase, 100));
  EXPECT_EQ(memory.valid().get(begin - kGlobalBase + 100, 1), 0u);
}

// Each block adds to its own words, then all write to one: with equal values, which is no race, or
// with their own.
const std::string kAddAndMeet = kernel(R"(  mov.u32 %r1, %ctaid.x;
  mad.lo.u32 %r2, %r1, 32, %t;
  mad.wide.u32 %rd1, %r2, 4, %p;
  ld.global.u32 %r3, [%rd1];
  add.u32 %r3, %r3, 1;
  st.global.u32 [%rd1], %r3;
  mov.u32 %r4, 5;
  st.global.u32 [%p+8192], %r4;
)");

TEST(Footprints, WhatRunsAgainHasNotRunBefore) {
  for (int threads : {1, 2, 4})
    for (const char *value : {"mov.u32 %r4, 5", "mov.u32 %r4, %ctaid.x"}) {
      std::string ptx = replaced(kAddAndMeet, "mov.u32 %r4, 5", value);
      Gpu gpu(ptx, "sm_80", "all", threads);
      device::DevicePtr data = gpu.upload(std::vector<uint32_t>(4096, 7));
      gpu.run("k", {16}, {32}, 0, data);
      if (ptx == kAddAndMeet)
        gpu.expectClean();
      else
        gpu.expectFinding(FindingKind::Race, lineOf(ptx, "st.global.u32 [%p+8192]"));
      std::vector<uint32_t> words = gpu.download<uint32_t>(data, 16 * 32);
      // A race ends the launch early; no block has added twice.
      auto added = static_cast<uint64_t>(std::ranges::count(words, 8u));
      EXPECT_EQ(added, gpu.device->statistics().blocks * 32) << threads << " threads";
      EXPECT_EQ(added + static_cast<uint64_t>(std::ranges::count(words, 7u)), words.size());
    }
}

// The words that blocks read were not written before the launch; in its first run they were.
TEST(Footprints, UninitialisedWordsAreSoAgain) {
  std::string ptx = replaced(kAddAndMeet, "%r4, 5", "%r4, %ctaid.x");
  for (int threads : {1, 4}) {
    Gpu gpu(ptx, "sm_80", "all", threads);
    gpu.run("k", {16}, {32}, 0, gpu.device->alloc(4096 * 4));
    gpu.expectFinding(FindingKind::Uninitialised, lineOf(ptx, "st.global.u32 [%rd1]"));
  }
}

} // namespace
} // namespace tile::vgpu
