// The check of copies in flight on broken kernels and their correct twins.
#include "tests/runtime/vgpu/Twins.h"

namespace tile::vgpu {
namespace {

TEST(AsyncCheck, ReadBeforeTheWait) {
  std::string good = kernel(R"(  mov.u32 %r1, buffer;
  mad.lo.u32 %r2, %t, 16, %r1;
  mad.wide.u32 %rd1, %t, 16, %p;
  cp.async.cg.shared.global [%r2], [%rd1], 16;
  cp.async.commit_group;
  cp.async.wait_group 0;
  ld.shared.u32 %r3, [%r2];
  st.global.u32 [%a+2048], %r3;
)");
  expectTwin(good, without(good, "  cp.async.wait_group 0;\n"), 32, FindingKind::AsyncRace,
             "ld.shared");
}

TEST(AsyncCheck, IsApartFromRaces) {
  std::string race = without(kernel(kExchange), "  bar.sync 0;\n");
  std::string copy = kernel(R"(  mov.u32 %r1, buffer;
  mad.lo.u32 %r2, %t, 16, %r1;
  mad.wide.u32 %rd1, %t, 16, %p;
  cp.async.cg.shared.global [%r2], [%rd1], 16;
  ld.shared.u32 %r3, [%r2];
)");
  auto count = [](const std::string &ptx, const std::string &checks) {
    return run(ptx, 64, 1024, checks)->findings.size();
  };
  EXPECT_GT(count(race, "race"), 0u);
  EXPECT_EQ(count(race, "async"), 0u);
  EXPECT_GT(count(copy, "async"), 0u);
  EXPECT_EQ(count(copy, "race"), 0u);
  EXPECT_EQ(count(copy, "memory,init,sync"), 0u);
}

TEST(AsyncCheck, ZeroSizedSourceIsNotTouched) {
  std::string good = kernel(R"(  mov.u32 %r1, buffer;
  mad.lo.u32 %r2, %t, 16, %r1;
  setp.eq.u32 %q1, %t, 0;
  selp.u32 %r4, 16, 0, %q1;
  mad.wide.u32 %rd1, %t, 99984, %p;
  cp.async.cg.shared.global [%r2], [%rd1], 16, %r4;
  cp.async.wait_all;
  ld.shared.u32 %r3, [%r2+4];
  st.global.u32 [%a+2048], %r3;
)");
  auto gpu = run(good, 32);
  gpu->expectClean();
}

// The matmul kernel with one synchronisation taken out.
std::unique_ptr<Gpu> runMatmul(const std::string &ptx) {
  int m = 64, n = 64, k = 128;
  auto gpu = std::make_unique<Gpu>(ptx);
  std::vector<half> a(static_cast<size_t>(m) * k), b(static_cast<size_t>(k) * n);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = b[i] = half(static_cast<float>(i % 61));
  auto dc = gpu->device->alloc(sizeof(float) * m * n);
  gpu->run("matmul_mma", {1}, {128}, 0, gpu->upload(a), gpu->upload(b), dc, m, n, k);
  return gpu;
}

std::string commentOut(std::string text, const std::string &line, size_t occurrence) {
  size_t at = text.find(line);
  for (; at != std::string::npos && occurrence > 0; --occurrence)
    at = text.find(line, at + 1);
  EXPECT_NE(at, std::string::npos);
  return text.replace(at, 2, "//");
}

TEST(Mutations, EveryMissingSynchronisationOfAPipelineIsReported) {
  std::string good = kernelText("matmul_mma.ptx");
  runMatmul(good)->expectClean();
  for (std::string line : {"bar.sync", "cp.async.wait_group"}) {
    size_t count = 0;
    for (size_t at = good.find(line); at != std::string::npos; at = good.find(line, at + 1))
      ++count;
    ASSERT_GT(count, 0u);
    for (size_t i = 0; i < count; ++i)
      EXPECT_FALSE(runMatmul(commentOut(good, line, i))->findings.empty())
          << line << " number " << i;
  }
}

TEST(Mutations, WaitingForTooFewGroupsReadsACopyInFlight) {
  std::string broken = kernelText("matmul_mma.ptx");
  size_t at = broken.find("cp.async.wait_group 1");
  ASSERT_NE(at, std::string::npos);
  broken.replace(at, 21, "cp.async.wait_group 2");
  bool found = false;
  auto gpu = runMatmul(broken);
  for (const Finding &finding : gpu->findings) {
    found |= finding.kind == FindingKind::AsyncRace &&
             finding.ptxText.find("ldmatrix") != std::string::npos;
  }
  EXPECT_TRUE(found);
}

} // namespace
} // namespace tile::vgpu
