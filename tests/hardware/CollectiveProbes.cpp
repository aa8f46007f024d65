// Instructions in which the lanes of a warp take part together. A lane has operands %a, %b, %c and results %d, %e.
#include "tests/hardware/Lanes.h"
#include "tests/hardware/Text.h"

namespace tile::hardware {

Probe laneProbe(const std::string &name, const std::string &code, uint64_t seed,
                const LaneOptions &options) {
  constexpr uint64_t kSeedsOfProbe = 8;
  std::string body = options.declarations + R"(
  .reg .pred %p, %q;
  .reg .b32 %lane, %block, %i, %a, %b, %c, %d, %e, %r<5>, %f<4>;
  .reg .b64 %x;
  mov.u32 %lane, %laneid;
  mov.u32 %block, %ctaid.x;
  mad.lo.u32 %i, %block, 32, %lane;
  mov.b32 %d, 0;
  mov.b32 %e, 0;
)";
  Probe probe{name, "", {}, {{4, 2 * 32 * options.warps}}, {{options.warps}, {32}, {}}};
  for (size_t k = 0; k < options.kinds.size(); ++k) {
    body += fill(
        "  ld.param.u64 %x, [p$0];\n  mad.wide.u32 %x, %i, 4, %x;\n  ld.global.b32 %$1, [%x];\n", k,
        std::string(1, "abc"[k]));
    probe.inputs.push_back(
        pack(draw(options.kinds[k], seed * kSeedsOfProbe + k, 32 * options.warps), 32));
  }
  body += code + fill("  ld.param.u64 %x, [p$0];\n  mad.wide.u32 %x, %i, 8, %x;\n  "
                      "st.global.v2.b32 [%x], {%d, %e};\n",
                      options.kinds.size());
  probe.ptx = Entry{options.kinds.size() + 1}.around(body);
  return probe;
}

namespace {

constexpr const char *kPredicateToE = "  selp.b32 %e, 1, 0, %p;\n";
// Goes on with the lanes of a random mask, which %r0 holds, and at least lane 12.
constexpr const char *kSomeLanes = R"(
  shfl.sync.idx.b32 %r0, %a, 0, 31, -1;
  or.b32 %r0, %r0, 0x1000;
  shr.u32 %r1, %r0, %lane;
  and.b32 %r1, %r1, 1;
  setp.ne.u32 %q, %r1, 0;
  @!%q bra AWAY;
)";

void addShufflesAndVotes(std::vector<Probe> &result) {
  uint64_t seed = 40001;
  for (const char *mode : {"up", "down", "bfly", "idx"})
    result.push_back(
        laneProbe(fill("shfl.$0", mode),
                  fill("  shfl.sync.$0.b32 %d|%p, %a, %b, %c, -1;\n", mode) + kPredicateToE, seed++,
                  {.kinds = {"u32", "shift", "u32"}}));
  for (const char *vote : {"all", "any", "uni"})
    result.push_back(laneProbe(fill("vote.$0", vote),
                               fill(R"(
  and.b32 %r0, %a, %b;
  setp.ne.u32 %p, %r0, 0;
  vote.sync.$0.pred %q, %p, -1;
  selp.b32 %d, 1, 0, %q;
)",
                                    vote),
                               seed++));
  result.push_back(laneProbe(
      "vote.ballot", "  setp.lt.u32 %p, %a, %b;\n  vote.sync.ballot.b32 %d, %p, -1;\n", 40008));
  result.push_back(
      laneProbe("match.any", "  and.b32 %r0, %a, 7;\n  match.any.sync.b32 %d, %r0, -1;\n", 40009));
  // All lanes have 0, but lane i % 4 of warp i.
  result.push_back(laneProbe("match.all", std::string(R"(
  and.b32 %r1, %block, 3;
  setp.eq.u32 %q, %r1, %lane;
  selp.b32 %r0, %a, 0, %q;
  match.all.sync.b32 %d|%p, %r0, -1;
)") + kPredicateToE,
                             40010));
}

} // namespace

std::vector<Probe> collectiveProbes() {
  std::vector<Probe> result;
  addShufflesAndVotes(result);
  uint64_t seed = 40018;
  for (const char *operation : {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32",
                                "and.b32", "or.b32", "xor.b32"})
    result.push_back(laneProbe(fill("redux.$0", operation),
                               fill("  redux.sync.$0 %d, %a, -1;\n", operation), seed++));
  auto partial = [&](const char *name, const std::string &code, uint64_t ofSeed,
                     const LaneOptions &options = {}) {
    result.push_back(laneProbe(name, kSomeLanes + code + "AWAY:\n", ofSeed, options));
  };
  result.push_back(laneProbe("elect.whole",
                             std::string("  elect.sync %d|%p, -1;\n") + kPredicateToE, 40036,
                             {.warps = 1}));
  partial("elect.partial", std::string("  elect.sync %d|%p, %r0;\n") + kPredicateToE, 40037);
  partial("activemask.partial", "  activemask.b32 %d;\n", 40038);
  partial("redux.partial", "  redux.sync.add.u32 %d, %b, %r0;\n  match.any.sync.b32 %e, %b, %r0;\n",
          40039);
  partial("shfl.inactive",
          std::string("  shfl.sync.idx.b32 %d|%p, %b, %c, 31, %r0;\n") + kPredicateToE, 40040,
          {.kinds = {"u32", "u32", "shift"}});
  return result;
}

} // namespace tile::hardware
