// wgmma: products of all element types against sums computed here, and kernels with one synchronisation taken out.
#include "runtime/vgpu/isa/alu/HalfFormat.h"
#include "tests/runtime/vgpu/Twins.h"

#include <cmath>
#include <functional>

namespace tile::vgpu {
namespace {

struct Types {
  const char *d, *a;
  unsigned elementBytes;
  std::function<uint32_t(int)> encode; // small integers, exact in every format
};

const Types kTypes[] = {
    {"f32", "f16", 2, [](int v) { return uint32_t{floatToHalf(static_cast<float>(v))}; }},
    {"f32", "bf16", 2, [](int v) { return uint32_t{floatToBfloat(static_cast<float>(v))}; }},
    {"f16", "f16", 2, [](int v) { return uint32_t{floatToHalf(static_cast<float>(v))}; }},
    {"f32", "tf32", 4, [](int v) { return std::bit_cast<uint32_t>(static_cast<float>(v)); }},
    {"s32", "s8", 1, [](int v) { return static_cast<uint32_t>(v & 255); }},
};

// One product of 64 x N x 32 bytes. A and B come as core matrices of 8 rows of 16 bytes, A first.
struct Case {
  Types types;
  unsigned columns = 64;
  bool accumulate = false; // twice, the second time onto the first

  unsigned depth() const { return 32 / types.elementBytes; }
  unsigned registers() const { return columns / (std::string(types.d) == "f16" ? 4 : 2); }
  static int a(unsigned m, unsigned k) { return static_cast<int>((m * 3 + k * 5) % 7) - 3; }
  static int b(unsigned k, unsigned n) { return static_cast<int>((k * 2 + n * 7) % 5) - 2; }

  std::vector<uint8_t> image() const {
    std::vector<uint8_t> bytes(2048 + columns * 32);
    auto put = [&](unsigned rows, size_t base, auto value) {
      for (unsigned row = 0; row < rows; ++row)
        for (unsigned k = 0; k < depth(); ++k) {
          unsigned kb = k * types.elementBytes;
          size_t at = base + row % 8 * 16 + row / 8 * 128 + kb / 16 * (rows * 16) + kb % 16;
          uint32_t bits = types.encode(value(row, k));
          std::memcpy(bytes.data() + at, &bits, types.elementBytes);
        }
    };
    put(64, 0, [](unsigned m, unsigned k) { return a(m, k); });
    put(columns, 2048, [](unsigned n, unsigned k) { return b(k, n); });
    return bytes;
  }

  std::string ptx() const {
    std::string d;
    for (unsigned i = 0; i < registers(); ++i)
      d += (i ? ", %d" : "%d") + std::to_string(i);
    uint64_t strides = (uint64_t{1024} >> 4) << 16 | (uint64_t{128} >> 4) << 32;
    uint64_t stridesB = (uint64_t{columns} * 16 >> 4) << 16 | (uint64_t{128} >> 4) << 32;
    bool scales = std::string(types.d) != "s32", transposes = types.elementBytes == 2;
    std::string tail = std::string(scales ? ", 1, 1" : "") + (transposes ? ", 0, 0" : "");
    auto mma = [&](const char *scale) {
      return "  wgmma.mma_async.sync.aligned.m64n" + std::to_string(columns) + "k" +
             std::to_string(depth()) + "." + types.d + "." + types.a + "." + types.a + " {" + d +
             "}, %rd4, %rd5, " + scale + tail + ";\n";
    };
    std::string stores;
    for (unsigned i = 0; i < registers(); ++i)
      stores +=
          "  st.global.b32 [%rd7+" + std::to_string(4 * i) + "], %d" + std::to_string(i) + ";\n";
    std::string bytes = std::to_string(2048 + columns * 32);
    return R"(.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q)
{
  .reg .pred %q<8>;
  .reg .b32 %t, %r<8>, %d<128>;
  .reg .b64 %p, %q0, %rd<16>;
  .shared .align 1024 .b8 tile[16384];
  .shared .align 8 .b64 full;
  ld.param.u64 %p, [p];
  ld.param.u64 %q0, [q];
  mov.u32 %t, %tid.x;
  setp.eq.u32 %q1, %t, 0;
  @%q1 mbarrier.init.shared.b64 [full], 1;
  bar.sync 0;
  @!%q1 bra WAIT;
  mbarrier.arrive.expect_tx.shared.b64 _, [full], )" +
           bytes + R"(;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%p], )" +
           bytes + R"(, [full];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %q2, [full], 0;
  @!%q2 bra WAIT;
  mov.u64 %rd1, tile;
  shr.u64 %rd2, %rd1, 4;
  add.u64 %rd4, %rd2, )" +
           std::to_string(strides) + ";\n  add.u64 %rd5, %rd2, " +
           std::to_string(stridesB + (2048 >> 4)) + R"(;
  setp.ne.u32 %q3, %t, %t;
  setp.eq.u32 %q4, %t, %t;
  wgmma.fence.sync.aligned;
)" + mma("%q3") +
           (accumulate ? mma("%q4") : "") + R"(  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  mul.wide.u32 %rd6, %t, )" +
           std::to_string(4 * registers()) + ";\n  add.u64 %rd7, %q0, %rd6;\n" + stores +
           "  ret;\n}\n";
  }

  double expected(unsigned thread, unsigned v) const {
    unsigned lane = thread % 32, i = v % 4;
    unsigned m = thread / 32 * 16 + lane / 4 + 8 * (i / 2), n = v / 4 * 8 + 2 * (lane % 4) + i % 2;
    int sum = 0;
    for (unsigned k = 0; k < depth(); ++k)
      sum += a(m, k) * b(k, n);
    return accumulate ? 2 * sum : sum;
  }
};

std::unique_ptr<Gpu> runCase(const Case &test, const std::string &ptx, Schedule schedule,
                             uint64_t seed = 0) {
  auto gpu = std::make_unique<Gpu>(ptx, "sm_90a");
  gpu->device->setSchedule(schedule, seed);
  auto image = gpu->upload(test.image());
  gpu->data = gpu->device->alloc(128 * 4 * test.registers());
  gpu->run("k", {1}, {128}, 0, image, gpu->data);
  return gpu;
}

TEST(Wgmma, AllTypesAndWidths) {
  for (const Types &types : kTypes)
    for (unsigned columns : {8u, 24u, 64u, 128u, 256u})
      for (Schedule schedule : {Schedule::Eager, Schedule::Lazy, Schedule::Random}) {
        Case test{types, columns, columns % 64 == 0};
        SCOPED_TRACE(std::string(types.a) + " to " + types.d + ", " + std::to_string(columns) +
                     " columns, " + nameOf(schedule));
        auto gpu = runCase(test, test.ptx(), schedule, columns);
        gpu->expectClean();
        auto words = gpu->download<uint32_t>(gpu->data, 128 * test.registers());
        bool halves = std::string(types.d) == "f16", integers = std::string(types.d) == "s32";
        for (unsigned thread = 0; thread < 128; ++thread)
          for (unsigned v = 0; v < columns / 2; ++v) {
            uint32_t word = words[thread * test.registers() + (halves ? v / 2 : v)];
            double result = integers ? static_cast<int32_t>(word)
                            : halves ? halfToFloat(static_cast<uint16_t>(word >> (16 * (v % 2))))
                                     : std::bit_cast<float>(word);
            ASSERT_EQ(result, test.expected(thread, v)) << thread << " " << v;
          }
      }
}

struct Broken {
  const char *line;
  FindingKind kind;
  const char *where;
};

TEST(Wgmma, EveryMissingSynchronisationIsReported) {
  Case test{kTypes[0], 64, true};
  std::string good = test.ptx();
  for (auto [line, kind, where] :
       {Broken{"  wgmma.fence.sync.aligned;\n", FindingKind::Async, "wgmma.mma_async"},
        Broken{"  wgmma.wait_group.sync.aligned 0;\n", FindingKind::Async, "st.global.b32"},
        Broken{"  wgmma.commit_group.sync.aligned;\n", FindingKind::Async, "st.global.b32"},
        Broken{"  @!%q2 bra WAIT;\n", FindingKind::AsyncRace, "wgmma.mma_async"}})
    for (Schedule schedule : {Schedule::Eager, Schedule::Lazy, Schedule::Random}) {
      std::string broken = without(good, line);
      SCOPED_TRACE(std::string(line) + nameOf(schedule));
      runCase(test, broken, schedule)->expectFinding(kind, lineOf(broken, where));
    }
}

TEST(Wgmma, ItsSourceMustNotChangeBeforeTheWait) {
  Case test{kTypes[0], 64, false};
  std::string good = replaced(test.ptx(), "  mul.wide.u32 %rd6",
                              "  bar.sync 1;\n  st.shared.u32 [tile], %t;\n  mul.wide.u32 %rd6");
  good = replaced(good, "st.shared.u32", "@%q1 st.shared.u32");
  runCase(test, good, Schedule::Eager)->expectClean();
  std::string wait = "  wgmma.wait_group.sync.aligned 0;\n";
  std::string broken = replaced(without(good, wait), "[tile], %t;\n", "[tile], %t;\n" + wait);
  runCase(test, broken, Schedule::Eager)
      ->expectFinding(FindingKind::AsyncRace, lineOf(broken, "st.shared.u32"));
}

TEST(Wgmma, GenericWritesNeedAProxyFence) {
  Case test{kTypes[0], 64, false};
  std::string good = replaced(test.ptx(), "  mov.u64 %rd1, tile;\n", R"(  ld.shared.u32 %r1, [tile];
  bar.sync 1;
  @%q1 st.shared.u32 [tile+4], %r1;
  fence.proxy.async;
  bar.sync 1;
  mov.u64 %rd1, tile;
)");
  runCase(test, good, Schedule::Eager)->expectClean();
  std::string broken = without(good, "  fence.proxy.async;\n");
  runCase(test, broken, Schedule::Eager)
      ->expectFinding(FindingKind::Proxy, lineOf(broken, "wgmma.mma_async"));
}

TEST(Wgmma, WarpsThatPartAreReported) {
  Case test{kTypes[0], 64, false};
  std::string broken =
      replaced(test.ptx(), "  wgmma.fence.sync.aligned;\n",
               "  setp.lt.u32 %q5, %t, 32;\n  @%q5 ret;\n  wgmma.fence.sync.aligned;\n");
  auto gpu = runCase(test, broken, Schedule::Eager);
  ASSERT_FALSE(gpu->findings.empty());
  EXPECT_EQ(gpu->findings[0].kind, FindingKind::Deadlock);
  EXPECT_NE(gpu->findings[0].message.find("other warps of its warpgroup"), std::string::npos);
}

TEST(Wgmma, DescriptorsOutsideSharedMemory) {
  Case test{kTypes[0], 64, false};
  std::string broken = replaced(test.ptx(), "  shr.u64 %rd2, %rd1, 4;\n",
                                "  add.u64 %rd1, %rd1, 16384;\n  shr.u64 %rd2, %rd1, 4;\n");
  runCase(test, broken, Schedule::Eager)
      ->expectFinding(FindingKind::OutOfBounds, lineOf(broken, "wgmma.mma_async"));
}

} // namespace
} // namespace tile::vgpu
