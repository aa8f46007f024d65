// The same seed gives the same bytes and the same reports, whatever the number of host threads: under every schedule, on
// correct kernels and on broken ones, with checks and without.
#include "tests/runtime/vgpu/PipelineKernels.h"

#include <cstdlib>
#include <optional>

namespace tile::vgpu {
namespace {

struct Outcome {
  std::vector<uint32_t> words;
  std::string reports;
  bool operator==(const Outcome &) const = default;
};

Outcome outcome(const std::string &ptx, Schedule schedule, uint64_t seed, const Shape &shape,
                int threads, const std::string &checks) {
  auto gpu = launch(ptx, schedule, seed, shape, threads, checks);
  Outcome result{gpu->download<uint32_t>(gpu->data, kBufferWords), ""};
  for (const Finding &finding : gpu->findings)
    result.reports += finding.text() + "\n";
  return result;
}

void expectSame(const std::string &ptx, const Shape &shape, bool isRacy) {
  // Without the race check blocks run side by side; a race then shows in the bytes, which is its nature.
  for (const char *checks : {"all", "memory,init,sync"})
    for (auto [schedule, seed] : kSchedules) {
      SCOPED_TRACE(std::string(checks) + " " + nameOf(schedule) + " " + std::to_string(seed));
      Outcome first = outcome(ptx, schedule, seed, shape, 1, checks);
      EXPECT_EQ(outcome(ptx, schedule, seed, shape, 1, checks), first);
      if (isRacy && checks != std::string_view("all"))
        continue;
      for (int threads : {2, 4})
        EXPECT_EQ(outcome(ptx, schedule, seed, shape, threads, checks), first) << threads;
    }
}

const Shape kBlocks{{8}, {64}, {}, {}}, kPairs{{8}, {64}, {2, 1, 1}, {}};

// Blocks add to shared words of global memory, in bulk and one by one.
const std::string kSums = replaced(
    kBulkStore, "cp.async.bulk.global.shared::cta.bulk_group [",
    "red.global.add.u32 [%p], 1;\n  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [");

TEST(Determinism, CorrectKernels) {
  expectSame(hopper(kBulkLoad), kBlocks, false);
  expectSame(hopper(kRing), kBlocks, false);
  expectSame(hopper(kSums), kBlocks, false);
  expectSame(hopper(kCluster), kPairs, false);
  expectSame(hopper(kMulticast), {{8}, {64}, {2, 1, 1}, {}}, false);
}

TEST(Determinism, BrokenKernels) {
  expectSame(without(hopper(kBulkLoad), "  @!%q1 bra WAIT;\n"), kBlocks, true);
  expectSame(without(hopper(kRing), "  @!%q3 bra PWAIT;\n"), kBlocks, true);
  expectSame(without(hopper(kBulkStore), "  fence.proxy.async.shared::cta;\n"), kBlocks, true);
  expectSame(without(hopper(kCluster), "  barrier.cluster.arrive.release.aligned;\n"), kPairs,
             true);
  expectSame(hopper("  mov.u32 %r1, %ctaid.x;\n  st.global.u32 [%a], %r1;\n"), kBlocks, true);
}

// The order in which blocks take numbers, on a device that is opened with a seed or without one.
std::vector<uint32_t> orderOfBlocks(std::optional<uint64_t> seed) {
  const std::string kernel = hopper(R"(  mov.u32 %r1, %ctaid.x;
  atom.global.add.u32 %r2, [%p], 1;
  add.u32 %r2, %r2, 1;
  mul.wide.u32 %rd1, %r2, 4;
  add.u64 %rd1, %rd1, %p;
  st.global.u32 [%rd1], %r1;
)");
  device::VirtualOptions options;
  options.target = "sm_90a";
  options.schedule = "random";
  options.seed = seed;
  auto device = device::openVirtual(options);
  auto module = device->loadModule(kernel, {}, "test.ptx");
  std::vector<uint32_t> words(33);
  device::DevicePtr data = device->alloc(words.size() * 4);
  device->copyToDevice(data, words.data(), words.size() * 4);
  device::TensorMap map; // which the kernel has, and does not use
  device::Arg args[] = {{&data, sizeof data}, {&map, sizeof map}};
  device->launch(device->getFunction(module, "k"), {{32}, {1}, {}, 0}, args);
  device->copyToHost(words.data(), data, words.size() * 4);
  return words;
}

TEST(Determinism, TheEnvironmentHasTheSeedOfProgramsThatGiveNone) {
  auto first = orderOfBlocks(1), second = orderOfBlocks(2), usual = orderOfBlocks({});
  EXPECT_NE(first, second);
  EXPECT_EQ(usual, orderOfBlocks(0));
  setenv("TILE_VGPU_SEED", "2", 1);
  EXPECT_EQ(orderOfBlocks({}), second);
  EXPECT_EQ(orderOfBlocks(1), first);
  EXPECT_EQ(orderOfBlocks(0), usual);
  unsetenv("TILE_VGPU_SEED");
}

} // namespace
} // namespace tile::vgpu
