// st.async and red.async: what must be expected, waited for, and told to the right barrier.
#include "tests/runtime/vgpu/HopperKernels.h"
#include "tests/runtime/vgpu/negative/Faults.h"

namespace tile::vgpu {
namespace {

const Shape kPair{{2}, {64}, {2, 1, 1}, {}};

// Of six rounds of 32 numbers each, combined in their order.
uint32_t roundsCombined(size_t lane) {
  uint32_t sum = 0;
  for (uint32_t round = 0; round < 6; ++round)
    sum = sum * 3 + round * 1000 + static_cast<uint32_t>(lane);
  return sum;
}

TEST(NegativeAsyncStore, ARingInTheOtherBlock) {
  const std::string expect = "  @%q15 mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 128;\n",
                    read = "  mad.lo.u32 %r7, %l, 4, %r6;\n  ld.shared.u32 %r8, [%r7];\n",
                    wait = "CWAIT:\n  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 "
                           "%q3, [%r4], %r3;\n  @!%q3 bra CWAIT;\n";
  expectFaults(
      hopper(kRemoteRing),
      [](size_t i) {
        return i >= 4096 && i < 4128 ? roundsCombined(i - 4096) : static_cast<uint32_t>(i);
      },
      {
          {"expects no bytes",
           {{expect, "  @%q15 mbarrier.arrive.shared.b64 _, [%r4];\n"}},
           {AsyncRace, Async, Deadlock, Race, Uninitialised}},
          {"neither arrives nor expects", {{expect}}, {Deadlock}, "", "1 of 1 arrivals pending"},
          {"expects fewer bytes",
           {{"_, [%r4], 128", "_, [%r4], 112"}},
           {Deadlock, Async},
           "",
           "bytes outstanding"},
          {"expects more bytes", {{"_, [%r4], 128", "_, [%r4], 144"}}, {Deadlock}, "", "16 bytes"},
          {"does not wait", {{"  @!%q3 bra CWAIT;\n"}}, {AsyncRace, Race, Async, Uninitialised}},
          {"reads before it waits", {{wait + read, read + wait}}, {AsyncRace, Race, Uninitialised}},
          {"the wait orders nothing",
           {{"CWAIT:\n  mbarrier.try_wait.parity.acquire",
             "CWAIT:\n  mbarrier.try_wait.parity.relaxed"}},
           {AsyncRace}},
          {"tells the barrier of its own block",
           {{"mapa.shared::cluster.u32 %r14, %r4, 0", "mapa.shared::cluster.u32 %r14, %r4, 1"}},
           {Deadlock},
           "",
           "bytes outstanding"},
          {"tells the barrier of the other stage",
           {{"  mapa.shared::cluster.u32 %r14, %r4, 0;\n",
             "  mapa.shared::cluster.u32 %r14, %r4, 0;\n  xor.b32 %r14, %r14, 8;\n"}},
           {AsyncRace, Deadlock}},
          {"stores into its own block",
           {{"mapa.shared::cluster.u32 %r13, %r7, 0", "mapa.shared::cluster.u32 %r13, %r7, 1"}},
           {Uninitialised}},
          {"does not wait for the stage to be read",
           {{"  @!%q3 bra PWAIT;\n"}},
           {AsyncRace, Race, Async}},
          {"the reader's arrival orders nothing",
           {{"mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r15]",
             "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r15]"}},
           {Race, AsyncRace},
           "st.async"},
          {"the reader gives nothing back",
           {{"  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r15];\n"}},
           {Deadlock},
           "",
           "32 of 32 arrivals pending"},
          {"a target that is not aligned", {{"[%r13], %r8", "[%r13+2], %r8"}}, {Misaligned}},
          {"a target outside", {{"[%r13], %r8", "[%r13+16384], %r8"}}, {OutOfBounds}},
          {"a barrier that is none", {{"[%r14];", "[%r14+64];"}}, {Async}, "st.async"},
      },
      kPair);
}

TEST(NegativeAsyncStore, SumsInTheOtherBlock) {
  auto sums = [](size_t i) {
    return static_cast<uint32_t>(i >= 4096 && i < 4160 ? i - 4096 + 5 + 1005 : i);
  };
  const std::string wait = "WAIT:\n  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q3, "
                           "[full], 0;\n  @!%q3 bra WAIT;\n",
                    read = "  ld.shared.u32 %r8, [%r3];\n";
  expectFaults(
      hopper(kRemoteSums), sums,
      {
          {"expects the bytes of one block", {{"512;", "256;"}}, {Async, AsyncRace, Deadlock}},
          {"expects too many", {{"512;", "528;"}}, {Deadlock}, "", "16 bytes outstanding"},
          {"no expectation",
           {{"  @%q1 mbarrier.arrive.expect_tx.shared.b64 _, [full], 512;\n"}},
           {Deadlock},
           "",
           "-512 bytes outstanding"},
          {"does not wait", {{"  @!%q3 bra WAIT;\n"}}, {AsyncRace, Race}},
          {"reads before it waits", {{wait + read, read + wait}}, {AsyncRace, Race}},
          {"tells the barrier of the wrong rank",
           {{"mapa.shared::cluster.u32 %r6, %r2, 0", "mapa.shared::cluster.u32 %r6, %r2, 1"}},
           {Deadlock, Async}},
          {"the words are set without a barrier before the sums",
           {{"  barrier.cluster.arrive.release.aligned;\n",
             "  barrier.cluster.arrive.relaxed.aligned;\n"}},
           {Race, Async}},
          {"a plain store beside the sums",
           {{"  setp.ne.u32 %q2, %r4, 0;\n",
             "  @!%q15 st.shared.u32 [%r3], 9;\n  setp.ne.u32 %q2, %r4, 0;\n"}},
           {AsyncRace, Race}},
      },
      kPair);
}

// Sums are made through the generic proxy: a bulk copy sees them after a fence.
TEST(NegativeAsyncStore, ABulkCopyOfTheSums) {
  std::string good =
      hopper(edited(kRemoteSums, {{"  ld.shared.u32 %r8, [%r3];\n", R"(  @!%q15 bra DONE;
  fence.proxy.async;
  add.u64 %rd1, %p, 16384;
  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 256;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
)"},
                                  {"  st.global.u32 [%a+16384], %r8;\n", ""}}));
  expectFaults(
      good,
      [](size_t i) { return static_cast<uint32_t>(i >= 4096 && i < 4160 ? i - 4096 + 1010 : i); },
      {{"no proxy fence", {{"  fence.proxy.async;\n"}}, {Proxy}, "cp.async.bulk.global"}}, kPair);
}

} // namespace
} // namespace tile::vgpu
