// Clusters: each other's shared memory, barriers of other blocks, multicasts.
#include "tests/runtime/vgpu/HopperKernels.h"
#include "tests/runtime/vgpu/negative/Faults.h"

namespace tile::vgpu {
namespace {

const Shape kPair{{2}, {64}, {2, 1, 1}, {}}, kPairs{{4}, {64}, {2, 1, 1}, {}};
// Each of `words` words is the neighbour's number of the same thread.
auto neighboursWordsOf(size_t words) {
  return [words](size_t i) {
    return static_cast<uint32_t>(i < words ? (i / 64 % 2 ? 0 : 1000) + i % 64 : i);
  };
}
const std::string kEnd = "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n";
const std::string kMeet =
    "  barrier.cluster.arrive.release.aligned;\n  barrier.cluster.wait.acquire.aligned;\n";

TEST(NegativeCluster, NeighboursWords) {
  expectFaults(
      hopper(kCluster), neighboursWords,
      {
          {"no barrier", {{kMeet}}, {Race, Uninitialised}},
          {"a barrier of the block alone", {{kMeet, "  bar.sync 0;\n"}}, {Race, Uninitialised}},
          {"the arrival orders nothing",
           {{"arrive.release", "arrive.relaxed"}},
           {Race},
           "ld.shared::cluster"},
          {"no wait",
           {{"  barrier.cluster.wait.acquire.aligned;\n"}},
           {FindingKind::Barrier},
           "barrier.cluster.arrive.aligned"},
          {"no arrival",
           {{"  barrier.cluster.arrive.release.aligned;\n"}},
           {FindingKind::Barrier},
           "barrier.cluster.wait.acquire",
           "without having arrived"},
          {"waits twice",
           {{"  barrier.cluster.wait.acquire.aligned;\n",
             "  barrier.cluster.wait.acquire.aligned;\n  barrier.cluster.wait.acquire.aligned;\n"}},
           {FindingKind::Barrier}},
          {"one warp does not arrive",
           {{kMeet, "  setp.eq.u32 %q1, %w, 1;\n  @%q1 bra SKIP;\n" + kMeet + "SKIP:\n"}},
           {Race, Uninitialised, Deadlock}},
          {"half a warp",
           {{"  barrier.cluster.arrive.release",
             "  setp.lt.u32 %q1, %l, 16;\n  @%q1 barrier.cluster.arrive.release"}},
           {Divergence, FindingKind::Barrier}},
          {"a rank that the cluster has not",
           {{"xor.b32 %r5, %r3, 1", "add.u32 %r5, %r3, 1"}},
           {OutOfBounds},
           "mapa",
           "in a cluster of 2"},
          {"outside the neighbour's memory",
           {{"[%r6]", "[%r6+16384]"}},
           {OutOfBounds},
           "ld.shared::cluster"},
          {"what the neighbour never wrote",
           {{"[%r6]", "[%r6+2048]"}},
           {Uninitialised},
           "st.global"},
          {"not aligned", {{"[%r6]", "[%r6+2]"}}, {Misaligned}, "ld.shared::cluster"},
          {"its own words instead", {{"[%r6];\n", "[%r6];\n  st.shared.u32 [%r2], 0;\n"}}, {Race}},
      },
      kPairs);
}

// Rank 0 goes on for long while rank 1 ends.
TEST(NegativeCluster, ExitedNeighbour) {
  std::string good = edited(kCluster, {{"  ld.shared::cluster", R"(  mov.u32 %r20, 0;
LOOP:
  add.u32 %r20, %r20, 1;
  setp.lt.u32 %q4, %r20, 200;
  setp.eq.and.u32 %q5, %r3, 0, %q4;
  @%q5 bra LOOP;
  ld.shared::cluster)"}});
  std::string broken = hopper(edited(good, {{kEnd}}));
  expectRuns(hopper(good), 128, neighboursWords, kPair);
  ++CorpusSize::good;
  ++CorpusSize::broken;
  bool found = false;
  for (uint64_t seed = 0; seed < 40 && !found; ++seed) {
    auto gpu = launch(broken, Schedule::Random, seed, kPair);
    for (const Finding &finding : gpu->findings)
      found |= finding.kind == UseAfterFree;
  }
  EXPECT_TRUE(found);
}

TEST(NegativeCluster, Multicast) {
  expectFaults(
      hopper(kMulticast), multicastWords,
      {
          {"one block is left out",
           {{"mov.b16 %h1, 3", "mov.b16 %h1, 1"}},
           {Deadlock},
           "",
           "256 bytes outstanding"},
          {"a block that is not there",
           {{"mov.b16 %h1, 3", "mov.b16 %h1, 7"}},
           {OutOfBounds},
           "cp.async.bulk"},
          {"no cluster barrier after the initialisation", {{kMeet}}, {Async, Race, AsyncRace}},
          {"no initialisation", {{"  @%q15 mbarrier.init.shared.b64 [full], 1;\n"}}, {Async}},
          {"expects the bytes of one block twice",
           {{"[full], 256;", "[full], 512;"}},
           {Deadlock},
           "",
           "256 bytes outstanding"},
          {"no wait", {{"  @!%q1 bra WAIT;\n"}}, {AsyncRace, Race, Uninitialised}},
          {"both blocks copy", {{"  @%q3 bra WAIT;\n"}}, {Async, AsyncRace, Race}},
      },
      kPair);
}

// fence.mbarrier_init suffices for a relaxed arrival.
TEST(NegativeCluster, InitialisationByAFence) {
  std::string good = replaced(kMulticast, "barrier.cluster.arrive.release.aligned",
                              "barrier.cluster.arrive.relaxed.aligned");
  expectFaults(hopper(good), multicastWords,
               {{"no fence",
                 {{"  fence.mbarrier_init.release.cluster;\n"}},
                 {Async},
                 "",
                 "nothing orders this after mbarrier.init"}},
               kPair);
}

// Rank 1 writes into rank 0's memory and arrives at rank 0's barrier.
const std::string kRemote = R"(  @%q15 mbarrier.init.shared.b64 [full], 64;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  mov.u32 %r1, tile;
  mad.lo.u32 %r2, %t, 4, %r1;
  mov.u32 %r3, %cluster_ctarank;
  setp.eq.u32 %q2, %r3, 0;
  @%q2 bra WAIT;
  mapa.shared::cluster.u32 %r4, %r2, 0;
  mov.u32 %r5, full;
  mapa.shared::cluster.u32 %r6, %r5, 0;
  st.shared::cluster.u32 [%r4], %t;
  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];
  bra DONE;
WAIT:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q1, [full], 0;
  @!%q1 bra WAIT;
  ld.shared.u32 %r7, [%r2];
  add.u32 %r7, %r7, 9;
  st.global.u32 [%a], %r7;
DONE:
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
)";

TEST(NegativeCluster, RemoteArrivals) {
  const std::string store = "  st.shared::cluster.u32 [%r4], %t;\n",
                    arrive = "  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];\n";
  expectFaults(
      hopper(kRemote), [](size_t i) { return static_cast<uint32_t>(i < 64 ? i + 9 : i); },
      {
          {"at the barrier of the wrong rank",
           {{"%r6, %r5, 0", "%r6, %r5, 1"}},
           {Deadlock},
           "",
           "64 of 64 arrivals pending"},
          {"into the memory of the wrong rank",
           {{"%r4, %r2, 0", "%r4, %r2, 1"}},
           {Uninitialised},
           "st.global"},
          {"arrives before it writes", {{store + arrive, arrive + store}}, {Race}},
          {"orders nothing",
           {{"arrive.release.cluster", "arrive.relaxed.cluster"}},
           {Race},
           "ld.shared"},
          {"the wait orders nothing", {{"parity.acquire", "parity.relaxed"}}, {Race}, "ld.shared"},
          {"no arrival", {{arrive}}, {Deadlock}, "", "64 of 64"},
          {"a shared::cta instruction at another block's barrier",
           {{"shared::cluster.b64 _, [%r6]", "shared::cta.b64 %rd1, [%r6]"}},
           {OutOfBounds},
           "[%r6]",
           "use .shared::cluster"},
          {"a remote wait",
           {{"%q1, [full], 0", "%q1, [%r8], 0"},
            {"  setp.eq.u32 %q2",
             "  mov.u32 %r9, full;\n  mapa.shared::cluster.u32 %r8, %r9, 1;\n  setp.eq.u32 %q2"}},
           {OutOfBounds},
           "try_wait"},
          {"no cluster barrier after the initialisation", {{kMeet}}, {Async}},
      },
      kPair);
}

// Copies from one block's shared memory into the other's.
TEST(NegativeCluster, RemoteCopies) {
  const std::string end =
      "  barrier.cluster.arrive.release.aligned;\n  barrier.cluster.wait.acquire.aligned;\n";
  const size_t last = kRemoteCopy.rfind(end);
  const std::string store = "  st.global.u32 [%rd1], %r10;\n";
  expectFaults(hopper(kRemoteCopy), neighboursWordsOf(128),
               {
                   {"a block exits while its words are read",
                    {{store + kRemoteCopy.substr(last), store}},
                    {Async},
                    "cp.async.bulk",
                    "exits while this read of its shared memory is in flight",
                    true},
                   {"no proxy fence", {{"  fence.proxy.async;\n"}}, {Proxy}, "cp.async.bulk"},
                   {"no wait", {{"  @!%q3 bra WAIT;\n"}}, {AsyncRace}, "ld.shared"},
                   {"tells its own barrier",
                    {{"%r9, %r2, %r5", "%r9, %r2, %r4"}},
                    {AsyncRace, Async, Uninitialised}},
               },
               kPair);
}

// Scopes: what orders threads of a block does not reach the neighbour.
const std::string kFlag = R"(  mov.u32 %r1, tile;
  mov.u32 %r2, %cluster_ctarank;
  @%q15 st.shared.u32 [%r1+256], 0;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  mapa.shared::cluster.u32 %r3, %r1, 0;
  setp.eq.u32 %q2, %r2, 0;
  @!%q15 bra DONE;
  @%q2 bra WAIT;
  st.shared::cluster.u32 [%r3], 77;
  st.release.cluster.shared::cluster.u32 [%r3+256], 1;
  bra DONE;
WAIT:
  ld.acquire.cluster.shared::cta.u32 %r4, [%r1+256];
  setp.eq.u32 %q3, %r4, 0;
  @%q3 bra WAIT;
  ld.shared.u32 %r5, [%r1];
  st.global.u32 [%p], %r5;
DONE:
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
)";

TEST(NegativeCluster, FlagsInSharedMemory) {
  expectFaults(
      hopper(kFlag), [](size_t i) { return static_cast<uint32_t>(i ? i : 77); },
      {
          {"a relaxed store of the flag", {{"st.release", "st.relaxed"}}, {Race}, "ld.shared.u32"},
          {"a relaxed load", {{"ld.acquire", "ld.relaxed"}}, {Race}, "ld.shared.u32"},
          {"scope of the block",
           {{"st.release.cluster", "st.release.cta"}, {"ld.acquire.cluster", "ld.acquire.cta"}},
           {Race}},
          {"a plain flag", {{"st.release.cluster.shared", "st.shared"}}, {Race}},
          {"nobody sets the flag",
           {{"  st.release.cluster.shared::cluster.u32 [%r3+256], 1;\n"}},
           {Deadlock}},
      },
      kPair);
}

} // namespace
} // namespace tile::vgpu
