// Blocks of a cluster of two: stores and copies to the other's shared memory, multicasts, and where its memory is.
#include "tests/hardware/Copies.h"
#include "tests/hardware/Text.h"

namespace tile::hardware {
namespace {

constexpr size_t kTileBytes = 2048, kThreads = 128;
constexpr size_t kTries = 2000;
constexpr const char *kMeet =
    "  barrier.cluster.arrive.release.aligned;\n  barrier.cluster.wait.acquire.aligned;\n";

std::string beginCluster() {
  return beginCopies(kTileBytes) + R"(
  .reg .b32 %rank, %other, %to, %bar;
  .reg .b64 %own, %far, %near;
  mov.u32 %rank, %cluster_ctarank;
  xor.b32 %other, %rank, 1;
)";
}

// %to and %bar become the places in the other block of the 16 bytes of this thread and of its barrier; %x is
// the address of the thread's 16 bytes of input 0.
std::string placesOfThread() {
  return fill(R"(
  mad.lo.u32 %to, %t, 16, %tile;
  mapa.shared::cluster.u32 %to, %to, %other;
  mapa.shared::cluster.u32 %bar, %full, %other;
  ld.param.u64 %x, [p0];
  mad.lo.u32 %u0, %w, $0, %t;
  mad.wide.u32 %x, %u0, 16, %x;
)",
              kThreads);
}

device::LaunchConfig inPairs(uint32_t blocks) { return {{blocks}, {kThreads}, {2}}; }

// All threads store `bytes` each to the other block.
Probe asyncStoreProbe(const std::string &name, const std::string &code, size_t bytes) {
  constexpr uint64_t kSeed = 64001;
  constexpr uint32_t kBlocks = 4;
  std::string body = beginCluster() + expectBytes(kThreads * bytes) + kMeet + placesOfThread() +
                     code + waitForPhase("WAIT", kTries) + storeDone(2) + dumpTile(kTileBytes, 1) +
                     kMeet;
  return {name,
          Entry{3}.around(body),
          {drawElements("u32", kSeed, kBlocks * kThreads * 4)},
          {{4, kBlocks * kTileBytes / 4}, {4, kBlocks}},
          inPairs(kBlocks)};
}

Probe asyncReductionProbe(const std::string &operation) {
  bool wide = operation.ends_with("64");
  std::string bits = wide ? "64" : "32", value = wide ? "%near" : "%c0";
  return asyncStoreProbe(
      "cluster.red.async." + operation,
      fill("  ld.global.b$0 $1, [%x];\n  red.async.relaxed.cluster.shared::cluster"
           ".mbarrier::complete_tx::bytes.$2 [%to], $1, [%bar];\n",
           bits, value, operation),
      wide ? 8 : 4);
}

// Rank 0 sends the left half of a box, rank 1 the right one, to the ranks of the mask; who is left out waits in vain.
Probe multicastProbe(int mask) {
  constexpr uint64_t kSeed = 64000;
  constexpr uint32_t kBlocks = 2;
  constexpr size_t kVainTries = 50;
  BoxedTensor tensor{"f16", {32, 64}, {8, 32}};
  std::string body = beginCluster() + expectBytes(kBlocks * tensor.boxBytes()) + kMeet + takeMap() +
                     fill(R"(
  .reg .b16 %mask;
  mov.b16 %mask, $0;
  mul.lo.u32 %c0, %rank, 32;
  mov.u32 %c1, 3;
  mad.lo.u32 %u0, %rank, $1, %tile;
  @%one cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%u0], [%map, {%c0, %c1}], [%full], %mask;
)",
                          mask, tensor.boxBytes());
  body += waitForPhase("WAIT", kVainTries) + storeDone(2) + kMeet + dumpTile(kTileBytes, 1) + kMeet;
  return {fill("cluster.multicast.$0", mask),
          Entry{3, 1}.around(body),
          {drawElements(tensor.type, kSeed, tensor.elements())},
          {{4, kBlocks * kTileBytes / 4}, {4, kBlocks}},
          inPairs(kBlocks),
          {{0, tensor.params()}}};
}

// Half a KiB to the other block, 1 KiB after the beginning of its tile.
Probe bulkProbe() {
  constexpr uint32_t kBlocks = 4;
  constexpr size_t kBytes = 4 * kThreads;
  std::string body = beginCluster() + expectBytes(kBytes) + kMeet +
                     fill(R"(
  mad.lo.u32 %u0, %t, 4, %tile;
  mad.lo.u32 %u1, %w, 1000, %t;
  st.shared.b32 [%u0], %u1;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  add.u32 %to, %tile, 1024;
  mapa.shared::cluster.u32 %to, %to, %other;
  mapa.shared::cluster.u32 %bar, %full, %other;
  @%one cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%to], [%tile], $0, [%bar];
)",
                          kBytes);
  body += waitForPhase("WAIT", kTries) + storeDone(1) + dumpTile(kTileBytes, 0) + kMeet;
  return {"cluster.bulk",
          Entry{2}.around(body),
          {},
          {{4, kBlocks * kTileBytes / 4}, {4, kBlocks}},
          inPairs(kBlocks)};
}

// 16 words a thread: bits that say which windows generic addresses are in (own, the other's, own by mapa; .cta
// and .cluster of each), the rank of the other's, shared addresses by mapa (other, own), what the generic ones
// differ in from the own address (two words each), the own address (generic, two words; shared).
Probe windowProbe() {
  constexpr uint32_t kBlocks = 4;
  constexpr size_t kWords = 16, kGenericAddress = 8;
  std::string body = beginCluster() + fill(R"(
  cvt.u64.u32 %own, %tile;
  cvta.shared.u64 %own, %own;
  mapa.u64 %far, %own, %other;
  mapa.u64 %near, %own, %rank;
  mov.b32 %u0, 0;
  ld.param.u64 %x, [p0];
  mad.lo.u32 %u1, %w, $0, %t;
  mad.wide.u32 %x, %u1, $1, %x;
)",
                                           kThreads, 4 * kWords);
  size_t bit = 1;
  for (const char *address : {"own", "far", "near"})
    for (const char *window : {"cta", "cluster"}) {
      body += fill(
          "  isspacep.shared::$0 %p, %$1;\n  selp.b32 %u1, $2, 0, %p;\n  or.b32 %u0, %u0, %u1;\n",
          window, address, bit);
      bit *= 2;
    }
  body += R"(
  getctarank.u64 %u1, %far;
  mapa.shared::cluster.u32 %u2, %tile, %other;
  mapa.shared::cluster.u32 %u3, %tile, %rank;
  st.global.v4.b32 [%x], {%u0, %u1, %u2, %u3};
  sub.u64 %far, %far, %own;
  sub.u64 %near, %near, %own;
  st.global.v2.b64 [%x+16], {%far, %near};
  st.global.b64 [%x+32], %own;
  st.global.b32 [%x+40], %tile;
)";
  Probe probe{"cluster.windows",
              Entry{1}.around(body + kMeet),
              {},
              {{4, kBlocks * kThreads * kWords}},
              inPairs(kBlocks)};
  probe.unrepeatable = {{kWords, kGenericAddress, 2}};
  return probe;
}

} // namespace

std::vector<Probe> clusterProbes() {
  std::vector<Probe> result;
  result.push_back(
      asyncStoreProbe("cluster.st.async",
                      "  ld.global.v4.b32 {%c0, %c1, %c2, %c3}, [%x];\n  st.async.shared::cluster"
                      ".mbarrier::complete_tx::bytes.v4.b32 [%to], {%c0, %c1, %c2, %c3}, [%bar];\n",
                      16));
  for (const char *operation :
       {"inc.u32", "dec.u32", "min.u32", "max.s32", "add.u32", "and.b32", "xor.b32", "add.u64"})
    result.push_back(asyncReductionProbe(operation));
  for (int mask : {3, 1, 2})
    result.push_back(multicastProbe(mask));
  result.push_back(bulkProbe());
  result.push_back(windowProbe());
  return result;
}

} // namespace tile::hardware
