// setmaxnreg: what a warp may ask for, and that someone must give it.
#include "tests/runtime/vgpu/negative/Faults.h"

namespace tile::vgpu {
namespace {

// Warpgroup 0 gives registers away, warpgroup 1 takes them.
const std::string kTrade = R"(  setp.lt.u32 %q1, %w, 4;
  @%q1 bra GIVE;
  setmaxnreg.inc.sync.aligned.u32 136;
  bra DONE;
GIVE:
  setmaxnreg.dec.sync.aligned.u32 56;
DONE:
  st.global.u32 [%a], %t;
)";

TEST(NegativeRegisters, Trade) {
  std::string good = replaced(hopper(kTrade), ")\n{", ")\n.maxnreg 96\n{");
  Shape groups{{1}, {256}, {}, {}};
  expectFaults(
      good, unchanged,
      {
          {"asks for more than was given", {{"u32 136", "u32 144"}}, {Deadlock}, "", "setmaxnreg"},
          {"nothing is given",
           {{"  setmaxnreg.dec.sync.aligned.u32 56;\n"}},
           {Deadlock},
           "",
           "setmaxnreg"},
          {"gives up to more than it has",
           {{"u32 56", "u32 104"}},
           {FindingKind::Barrier},
           "setmaxnreg.dec",
           "while a thread has 96"},
          {"takes down to less than it has",
           {{"u32 136", "u32 88"}},
           {FindingKind::Barrier},
           "setmaxnreg.inc",
           "while a thread has 96"},
          {"half a warp",
           {{"  setmaxnreg.inc", "  setp.lt.u32 %q2, %l, 16;\n  @%q2 setmaxnreg.inc"}},
           {Divergence},
           "setmaxnreg.inc"},
          {"one warp of the group alone",
           {{"  setmaxnreg.dec", "  setp.ne.u32 %q2, %w, 3;\n  @!%q2 bra DONE;\n  setmaxnreg.dec"},
            {"u32 136", "u32 120"}},
           {Divergence},
           "setmaxnreg.dec",
           "warpgroup"},
      },
      groups);
}

TEST(NegativeRegisters, Counts) {
  for (const char *count : {"16", "264", "100"}) {
    ++CorpusSize::broken;
    std::string broken = replaced(hopper(kTrade), "u32 56", std::string("u32 ") + count);
    EXPECT_THROW(launch(broken, Schedule::Eager, 0, {{1}, {256}, {}, {}}), Error) << count;
  }
}

} // namespace
} // namespace tile::vgpu
