// Dependent launches: what touches the data of the launch before it, which may still run, before griddepcontrol.wait.
#include "runtime/vgpu/machine/DependentLaunch.h"
#include "tests/runtime/vgpu/Kernels.h"

namespace tile::vgpu {
namespace {

// Each kernel gets the buffer: `%a` is the address of the thread's word.
std::string entry(const std::string &name, const std::string &body) {
  return ".visible .entry " + name + R"((.param .u64 p)
{
  .reg .pred %q<4>;
  .reg .b32 %t, %r<8>;
  .reg .b64 %p, %a, %rd<4>;
  .shared .align 128 .b8 )" +
         name + R"(_tile[256];
  .shared .align 8 .b64 )" +
         name + R"(_full;
  ld.param.u64 %p, [p];
  mov.u32 %t, %ctaid.x;
  mad.lo.u32 %t, %t, 64, %tid.x;
  mad.wide.u32 %a, %t, 4, %p;
)" + body +
         "  ret;\n}\n";
}

const std::string kHead = ".version 8.6\n.target sm_90a\n.address_size 64\n";
const std::string kTrigger = "  griddepcontrol.launch_dependents;\n",
                  kWait = "  griddepcontrol.wait;\n";
const std::string kWrites = "  st.global.u32 [%a], %t;\n", kReads = "  ld.global.u32 %r1, [%a];\n";
const std::string kCounts = "  red.global.add.u32 [%p], 1;\n";

constexpr device::Dim3 kGrid = {2}, kBlock = {64};

struct Pair {
  std::string first, second; // the bodies of the kernels
};

class Launches {
public:
  explicit Launches(const std::vector<std::string> &bodies, const std::string &checks = "all")
      : ptx(textOf(bodies)), gpu(ptx, "sm_90a", checks, 2) {
    buffer = gpu.upload(std::vector<uint32_t>(1024));
  }
  /// The kernel of that index; its findings are in `gpu`.
  void launch(size_t kernel, bool dependent, device::Stream stream = {}) {
    gpu.findings.clear();
    device::Arg args[] = {{&buffer, sizeof buffer}};
    device::LaunchConfig config{kGrid, kBlock, {}, 0, dependent};
    std::string name = "k" + std::to_string(kernel);
    gpu.device->launch(gpu.device->getFunction(gpu.module, name), config, args, stream);
  }
  void launchAll() {
    for (size_t i = 0; i < count; ++i)
      launch(i, i > 0);
  }

  static std::string textOf(const std::vector<std::string> &bodies) {
    std::string text = kHead;
    for (size_t i = 0; i < bodies.size(); ++i)
      text += entry("k" + std::to_string(i), bodies[i]);
    return text;
  }

  std::string ptx;
  Gpu gpu;
  device::DevicePtr buffer;
  size_t count = 2;
};

TEST(DependentLaunch, ReadsBeforeTheWaitAreReportedWithBothKernels) {
  Launches launches({kTrigger + kWrites, kReads + kWait});
  launches.launch(0, false);
  launches.gpu.expectClean();
  launches.launch(1, true);
  int line = lineOf(launches.ptx, "ld.global.u32 %r1");
  launches.gpu.expectFinding(FindingKind::Race, line);
  ASSERT_FALSE(launches.gpu.findings.empty());
  const Finding &finding = launches.gpu.findings[0];
  EXPECT_NE(finding.message.find("griddepcontrol.wait must come first"), std::string::npos)
      << finding.text();
  ASSERT_TRUE(finding.other);
  EXPECT_TRUE(finding.other->inEarlierLaunch);
  EXPECT_EQ(finding.other->kernel, "k0");
  EXPECT_EQ(finding.other->ptxLine, lineOf(launches.ptx, "st.global.u32"));
  EXPECT_NE(finding.text().find("the other: kernel k0, block (0,0,0), warp 0, lane 0, line "),
            std::string::npos)
      << finding.text();
}

TEST(DependentLaunch, WhatMustWait) {
  const std::string kTmaLoad = R"(  setp.ne.u32 %q1, %t, 0;
  @%q1 bra END;
  mbarrier.init.shared::cta.b64 [k1_full], 1;
  mbarrier.arrive.expect_tx.shared::cta.b64 %rd1, [k1_full], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [k1_tile], [%p], 256, [k1_full];
AGAIN:
  mbarrier.try_wait.parity.shared::cta.b64 %q2, [k1_full], 0;
  @!%q2 bra AGAIN;
END:
)";
  const std::string kOneWaits = "  setp.eq.u32 %q1, %t, 0;\n  @%q1 griddepcontrol.wait;\n";
  for (const Pair &broken : {
           Pair{kWrites + kTrigger, kReads},
           Pair{kReads + kTrigger, "  st.global.u32 [%a+256], %t;\n" + kWait},
           Pair{kCounts + kTrigger, kReads},
           Pair{kTrigger + kWrites, kTmaLoad + kWait},
           Pair{kTrigger + kWrites, kOneWaits + kReads},
       }) {
    SCOPED_TRACE(broken.first + "then\n" + broken.second);
    Launches launches({broken.first, broken.second});
    launches.launchAll();
    ASSERT_FALSE(launches.gpu.findings.empty());
    EXPECT_EQ(launches.gpu.findings[0].kind, FindingKind::Race);
  }
}

TEST(DependentLaunch, WhatNeedNotWait) {
  const std::string kBarrier = "  bar.sync 0;\n";
  const std::string kFirstWaits = R"(  mov.u32 %r2, %tid.x;
  setp.eq.u32 %q1, %r2, 0;
  @%q1 griddepcontrol.wait;
)";
  for (const Pair &good : {
           Pair{kTrigger + kWrites, kWait + kReads},
           Pair{kTrigger + kWrites, kFirstWaits + kBarrier + kReads},
           Pair{kWrites, kReads},                     // ends before the other starts
           Pair{kTrigger + kReads, kReads + kWait},   // nobody writes
           Pair{kTrigger + kCounts, kCounts + kWait}, // atomics of the same word
           Pair{kTrigger + kWrites, "  ld.global.u32 %r1, [%a+2048];\n" + kWait + kReads},
           Pair{kTrigger + kWrites, "  prefetch.global.L2 [%a];\n" + kWait + kReads},
       }) {
    SCOPED_TRACE(good.first + "then\n" + good.second);
    Launches launches({good.first, good.second});
    launches.launchAll();
    launches.gpu.expectClean();
  }
}

// Tensor cores' copies see what the launch before has written through the generic proxy.
TEST(DependentLaunch, AfterTheWaitCopiesNeedNoProxyFence) {
  Launches launches({kTrigger + kWrites, kWait + R"(  setp.ne.u32 %q1, %t, 0;
  @%q1 bra END;
  mbarrier.init.shared::cta.b64 [k1_full], 1;
  mbarrier.arrive.expect_tx.shared::cta.b64 %rd1, [k1_full], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [k1_tile], [%p], 256, [k1_full];
AGAIN:
  mbarrier.try_wait.parity.shared::cta.b64 %q2, [k1_full], 0;
  @!%q2 bra AGAIN;
END:
)"});
  launches.launchAll();
  launches.gpu.expectClean();
}

TEST(DependentLaunch, OnlyTheAttributeAndTheSameStreamLetItStartEarly) {
  Launches launches({kTrigger + kWrites, kReads});
  auto isClean = [&] { return launches.gpu.findings.empty(); };
  launches.launch(0, false);
  launches.launch(1, false);
  EXPECT_TRUE(isClean()) << "without the attribute";
  device::Device &device = *launches.gpu.device;
  device::Stream stream = device.createStream();
  device::Event event = device.createEvent();
  launches.launch(0, false, stream);
  device.record(event, stream);
  device.wait({}, event);
  launches.launch(1, true);
  EXPECT_TRUE(isClean()) << "in another stream";
  device.synchronize();
  launches.launch(0, false, stream);
  launches.launch(1, true, stream);
  EXPECT_FALSE(isClean());
  for (auto settle :
       {+[](device::Device &device, device::DevicePtr) { device.synchronize(); },
        +[](device::Device &device, device::DevicePtr) { device.record(device.createEvent()); },
        +[](device::Device &device, device::DevicePtr buffer) { device.fill(buffer, 0, 4096); }}) {
    launches.launch(0, false);
    settle(*launches.gpu.device, launches.buffer);
    launches.launch(1, true);
    EXPECT_TRUE(isClean()) << "something of the stream between";
  }
}

// A launch that lets the next one start before it has waited itself lets it overtake those before, too.
TEST(DependentLaunch, ALaunchMayOvertakeSeveral) {
  const std::string kElsewhere = "  st.global.u32 [%a+2048], %t;\n";
  Launches late({kTrigger + kWrites, kTrigger + kWait + kElsewhere, kReads});
  late.count = 3;
  late.launchAll();
  late.gpu.expectFinding(FindingKind::Race, lineOf(late.ptx, "ld.global.u32 %r1"));
  EXPECT_EQ(late.gpu.findings.at(0).other->kernel, "k0");
  Launches inTime({kTrigger + kWrites, kWait + kTrigger + kElsewhere, kReads});
  inTime.count = 3;
  inTime.launchAll();
  inTime.gpu.expectClean();
}

// A wait is for the launch before. That has ended after those before it only if it has waited itself.
TEST(DependentLaunch, AWaitIsForTheLaunchBeforeAlone) {
  const std::string kElsewhere = "  st.global.u32 [%a+2048], %t;\n";
  const std::string kOneWaits = "  setp.eq.u32 %q1, %t, 0;\n  @%q1 griddepcontrol.wait;\n";
  for (const std::string &trigger : {kTrigger, std::string()}) {
    SCOPED_TRACE(trigger);
    Launches broken({kTrigger + kWrites, trigger + kElsewhere, kWait + kReads});
    broken.count = 3;
    broken.launchAll();
    broken.gpu.expectFinding(FindingKind::Race, lineOf(broken.ptx, "ld.global.u32 %r1"));
    const Finding &finding = broken.gpu.findings.at(0);
    EXPECT_NE(finding.message.find("one between them has ended without griddepcontrol.wait"),
              std::string::npos)
        << finding.text();
    EXPECT_EQ(finding.other->kernel, "k0");
    EXPECT_EQ(finding.other->ptxLine, lineOf(broken.ptx, "st.global.u32"));
    for (const std::string &second : {kWait, kOneWaits}) {
      Launches good({kTrigger + kWrites, trigger + kElsewhere + second, kWait + kReads});
      good.count = 3;
      good.launchAll();
      good.gpu.expectClean();
    }
  }
}

// One that does not let the next one start has ended by then, whatever still runs of those before it.
TEST(DependentLaunch, WhatHasEndedNeedsNoWait) {
  const std::string kElsewhere = "  st.global.u32 [%a+2048], %t;\n";
  Launches launches({kTrigger + kWrites, kElsewhere, "  ld.global.u32 %r1, [%a+2048];\n", kReads});
  for (size_t kernel = 0; kernel < 3; ++kernel)
    launches.launch(kernel, kernel > 0);
  launches.gpu.expectClean();
  launches.launch(3, true);
  launches.gpu.expectFinding(FindingKind::Race, lineOf(launches.ptx, kReads));
  launches.launch(3, false);
  launches.gpu.expectClean();
}

TEST(DependentLaunch, ALongChainIsForgottenFromItsBegin) {
  auto readsAfter = [](size_t between) {
    Launches launches({kTrigger + kWrites, kTrigger, kReads});
    launches.launch(0, false);
    for (size_t i = 0; i < between; ++i)
      launches.launch(1, true);
    launches.launch(2, true);
    return !launches.gpu.findings.empty();
  };
  EXPECT_TRUE(readsAfter(kMostInFlight - 2));
  EXPECT_FALSE(readsAfter(kMostInFlight));
}

TEST(DependentLaunch, IsPartOfTheCheckOfRaces) {
  for (auto [checks, isFound] : {std::pair("race", true), std::pair("memory,init,sync", false)}) {
    Launches launches({kTrigger + kWrites, kReads}, checks);
    launches.launchAll();
    EXPECT_EQ(!launches.gpu.findings.empty(), isFound) << checks;
  }
}

} // namespace
} // namespace tile::vgpu
