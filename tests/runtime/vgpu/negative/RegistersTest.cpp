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
          {"asks for more than was given",
           {{"u32 136", "u32 144"}},
           {Deadlock},
           "",
           "for 1536 registers, of which"},
          {"nothing is given",
           {{"  setmaxnreg.dec.sync.aligned.u32 56;\n"}},
           {Deadlock},
           "",
           "for 1280 registers, of which 0 are free"},
          {"gives up to more than it has",
           {{"u32 56", "u32 104"}},
           {FindingKind::Barrier},
           "setmaxnreg.dec",
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

// The assembler knows what a thread has by .maxnreg, or by the limits of threads and blocks together: 65536 / (2 * 256).
TEST(NegativeRegisters, SharesOfTheRegisterFile) {
  const std::string limits = ")\n.maxntid 256, 1, 1\n.minnctapersm 2\n{";
  expectFaults(edited(hopper(kTrade), {{")\n{", limits}, {"u32 136", "u32 200"}}), unchanged,
               {
                   {"asks for more than was given", {{"u32 200", "u32 208"}}, {Deadlock}},
               },
               {{1}, {256}, {}, {}});
}

// Where there are few threads they begin with more than consumers are used to ask for, which runs on hardware.
TEST(NegativeRegisters, AskingForLessThanThereIsChangesNothing) {
  std::string limits = ")\n.maxntid 256, 1, 1\n.minnctapersm 1\n{";
  auto gpu = launch(edited(hopper(kTrade), {{")\n{", limits}, {"u32 136", "u32 240"}}),
                    Schedule::Eager, 0, {{1}, {256}, {}, {}});
  gpu->expectClean();
  ASSERT_EQ(gpu->device->notes().size(), 1u);
  EXPECT_NE(gpu->device->notes()[0].text().find(
                "setmaxnreg.inc to 240 changes nothing: a thread has 248"),
            std::string::npos)
      << gpu->device->notes()[0].text();
}

// Else it warns and ignores setmaxnreg; warpgroups must still meet there.
TEST(NegativeRegisters, AreIgnoredWithoutLimits) {
  const std::string more = "  setmaxnreg.inc.sync.aligned.u32 256;\n";
  for (const char *limits : {"", ".maxntid 256\n", ".minnctapersm 1\n"}) {
    std::string good = edited(hopper(kTrade), {{")\n{", std::string(")\n") + limits + "{"},
                                               {"  setmaxnreg.dec.sync.aligned.u32 56;\n", more}});
    auto gpu = launch(good, Schedule::Eager, 0, {{1}, {256}, {}, {}});
    for (const Note &note : gpu->device->notes())
      EXPECT_NE(note.text().find("setmaxnreg changes nothing"), std::string::npos) << note.text();
    EXPECT_EQ(gpu->device->notes().size(), 2u) << "one a line";
    expectFaults(good, unchanged,
                 {{"one warp of the group alone",
                   {{more, "  setp.ne.u32 %q2, %w, 3;\n  @!%q2 bra DONE;\n" + more}},
                   {Divergence},
                   "setmaxnreg.inc.sync.aligned.u32 256",
                   "warpgroup"}},
                 {{1}, {256}, {}, {}});
  }
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
