// Special registers and addresses of shared memory, in launches with and without clusters, static and dynamic
// shared memory.
#include "tests/hardware/Probe.h"
#include "tests/hardware/Text.h"

#include <algorithm>

namespace tile::hardware {
namespace {

constexpr const char *kRegisters = "total_smem_size dynamic_smem_size aggr_smem_size "
                                   "reserved_smem_offset_begin reserved_smem_offset_end "
                                   "reserved_smem_offset_cap reserved_smem_offset_0 "
                                   "reserved_smem_offset_1 is_explicit_cluster cluster_nctarank "
                                   "cluster_ctarank cluster_ctaid.x cluster_ctaid.y "
                                   "cluster_nctaid.x cluster_nctaid.y clusterid.x clusterid.y "
                                   "nclusterid.x nclusterid.y ctaid.x ctaid.y nctaid.x nctaid.y "
                                   "tid.x tid.y tid.z laneid warpid nwarpid lanemask_le "
                                   "lanemask_gt envreg0 envreg31";
// After the registers: the addresses of static (else dynamic) and of dynamic shared memory, the former in ranks
// 0 to 3, its rank, and the last register again.
constexpr size_t kMappedRanks = 4, kWordsOfAddresses = 8;

struct Case {
  const char *name;
  device::LaunchConfig launch;
  size_t staticBytes = 0, alignment = 16;
  const char *directives = "";
};

std::string addressCode(const Case &of, size_t at) {
  std::string code = fill("  mov.u32 %a, $0;\n  st.global.b32 [%x+$1], %a;\n  mov.u32 %b, "
                          "dynamic;\n  st.global.b32 [%x+$2], %b;\n",
                          of.staticBytes ? "fixed" : "dynamic", 4 * at, 4 * (at + 1));
  for (size_t rank = 0; rank < std::min<size_t>(kMappedRanks, of.launch.cluster.count()); ++rank)
    code += fill("  mapa.shared::cluster.u32 %b, %a, $0;\n  st.global.b32 [%x+$1], %b;\n", rank,
                 4 * (at + 2 + rank));
  return code + fill("  getctarank.shared::cluster.u32 %b, %a;\n  st.global.b32 [%x+$0], %b;\n  "
                     "st.global.b32 "
                     "[%x+$1], %r;\n",
                     4 * (at + 2 + kMappedRanks), 4 * (at + 3 + kMappedRanks));
}

Probe specialProbe(const Case &of) {
  std::vector<std::string> registers = wordsOf(kRegisters);
  size_t words = registers.size() + kWordsOfAddresses;
  std::string body =
      of.staticBytes ? fill("  .shared .align $0 .b8 fixed[$1];\n", of.alignment, of.staticBytes)
                     : "";
  body += fill(R"(
  .reg .pred %p;
  .reg .b32 %r, %a, %b, %i, %n;
  .reg .b64 %x;
  mov.u32 %i, %ctaid.y;
  mov.u32 %n, %nctaid.x;
  mov.u32 %r, %ctaid.x;
  mad.lo.u32 %i, %i, %n, %r;
  mov.u32 %n, %ntid.z;
  mov.u32 %r, %tid.z;
  mad.lo.u32 %i, %i, %n, %r;
  mov.u32 %n, %ntid.y;
  mov.u32 %r, %tid.y;
  mad.lo.u32 %i, %i, %n, %r;
  mov.u32 %n, %ntid.x;
  mov.u32 %r, %tid.x;
  mad.lo.u32 %i, %i, %n, %r;
  ld.param.u64 %x, [p0];
  mad.wide.u32 %x, %i, $0, %x;
)",
               4 * words);
  for (size_t i = 0; i < registers.size(); ++i) {
    body += registers[i] == "is_explicit_cluster"
                ? "  mov.pred %p, %is_explicit_cluster;\n  selp.b32 %r, 1, 0, %p;\n"
                : fill("  mov.u32 %r, %$0;\n", registers[i]);
    body += fill("  st.global.b32 [%x+$0], %r;\n", 4 * i);
  }
  body += addressCode(of, registers.size());
  Entry entry{1, 0, "8.7", ".extern .shared .align 16 .b8 dynamic[];\n", of.directives};
  Probe probe{of.name,
              entry.around(body),
              {},
              {{4, words * of.launch.grid.count() * of.launch.block.count()}},
              of.launch};
  // The former is a slot of the multiprocessor, the latter a number of the driver's.
  for (size_t i = 0; i < registers.size(); ++i)
    if (registers[i] == "warpid" || registers[i] == "envreg0")
      probe.unrepeatable.push_back({words, i, 1});
  return probe;
}

} // namespace

std::vector<Probe> specialProbes() {
  std::vector<Probe> result;
  for (const Case &of :
       {Case{"specials.plain", {{2}, {64}, {}}}, Case{"specials.dynamic", {{2}, {32}, {}, 4096}},
        Case{"specials.both", {{1}, {8, 4, 2}, {}, 1000}, 100, 4},
        Case{"specials.static", {{2, 2}, {8, 4}, {}}, 3000, 128},
        Case{"specials.cluster", {{4}, {32}, {2}, 512}, 64},
        Case{"specials.cluster2", {{4, 2}, {32}, {2, 2}}, 64},
        Case{"specials.cluster1", {{4, 2}, {32}, {4, 1}, 2048}},
        Case{"specials.explicit",
             {{2}, {32}, {}},
             64,
             16,
             " .explicitcluster .reqnctapercluster 1, 1, 1"}})
    result.push_back(specialProbe(of));
  return result;
}

} // namespace tile::hardware
