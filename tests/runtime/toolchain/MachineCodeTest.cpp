// Loops of machine code: branches as sm_80 and sm_90 encode them, and which loops count.
#include "runtime/toolchain/MachineCode.h"
#include "runtime/toolchain/Assemble.h"

#include <gtest/gtest.h>

#include <cstring>

namespace tile::jit {
namespace {

using Kind = MachineInstruction::Kind;

/// The first and the second half of each instruction, as nvdisasm prints them.
std::vector<std::byte> bytesOf(const std::vector<std::pair<uint64_t, uint64_t>> &halves) {
  std::vector<std::byte> bytes(halves.size() * sizeof(halves[0]));
  std::memcpy(bytes.data(), halves.data(), bytes.size());
  return bytes;
}

TEST(MachineCode, BranchesOfSm80) {
  auto code = decodeControl(bytesOf({
                                {0x000002e00000b947, 0x000fea0003800000}, // @!P3 BRA .+0x2f0
                                {0xfffffdb00000b947, 0x000fea000383ffff}, // @!P3 BRA .-0x240
                                {0xfffffff000007947, 0x000fc0000383ffff}, // BRA .
                                {0x000000000000894d, 0x000fea0003800000}, // @!P0 EXIT
                                {0x000000000000794d, 0x000fea0003800000}, // EXIT
                                {0x0000000000007918, 0x000fc00000000000}, // NOP
                            }),
                            80);
  std::vector<MachineInstruction> expected = {
      {Kind::Branch, 47, true}, {Kind::Branch, 2 - 37, true}, {Kind::Branch, 2, false},
      {Kind::End, -1, true},    {Kind::End, -1, false},       {Kind::Padding},
  };
  EXPECT_EQ(code, expected);
}

TEST(MachineCode, BranchesOfSm90HaveTheirLowestBitsElsewhere) {
  auto code = decodeControl(bytesOf({
                                {0x0000025000007945, 0x000fe20003800000}, // BSSY B0, .+0x260
                                {0x00000000007c0947, 0x000ff00003800000}, // @P0 BRA .+0x200
                                {0x0000008800308947, 0x000ff60003800000}, // @!P0 BRA .+0x88d0
                                {0xffffffd400841947, 0x000fec000383ffff}, // @P1 BRA .-0x29e0
                                {0x0000000000007941, 0x002fea0003800000}, // BSYNC B0
                                {0x03800000ff0075a7, 0x000e640008000148}, // SYNCS.PHASECHK
                                {0x03800000ffff29a7, 0x0003e40008000004}, // SYNCS.ARRIVE
                            }),
                            90);
  std::vector<MachineInstruction> expected = {
      {},
      {Kind::Branch, 1 + 0x20, true},
      {Kind::Branch, 2 + 0x88d, true},
      {Kind::Branch, 3 - 0x29e, true},
      {Kind::Branch, 0x26, false},
      {Kind::Wait},
      {},
  };
  EXPECT_EQ(code, expected);
}

MachineInstruction to(int64_t target, bool mayFallThrough = true) {
  return {Kind::Branch, target, mayFallThrough};
}

const MachineInstruction kPlain{}, kWait{Kind::Wait}, kEnd{Kind::End, -1, false};

using Loops = std::vector<int64_t>;

TEST(MachineCode, LoopsInTheOrderOfTheCode) {
  EXPECT_EQ(innermostLoops({kPlain, kPlain, to(1), kPlain, kPlain, kPlain, to(3), kEnd}),
            Loops({2, 4}));
  EXPECT_EQ(innermostLoops({kPlain, kPlain, kEnd}), Loops());
  EXPECT_EQ(innermostLoops({}), Loops());
}

TEST(MachineCode, LoopsAroundOthersAreNotInnermost) {
  EXPECT_EQ(innermostLoops({kPlain, kPlain, kPlain, to(1), kPlain, to(0), kEnd}), Loops({3}));
}

TEST(MachineCode, BranchesWithinALoopCountWithBothSides) {
  EXPECT_EQ(innermostLoops({kPlain, to(3), kPlain, kPlain, to(0), kEnd}), Loops({5}));
  // A side that stands behind the end, as the assembler likes it.
  EXPECT_EQ(innermostLoops({kPlain, to(4), to(0), kEnd, kPlain, to(2, false)}), Loops({5}));
}

TEST(MachineCode, WaitsAreNoLoops) {
  // Ten plain instructions and a wait, which is tried again after the end.
  std::vector<MachineInstruction> around(10);
  around.insert(around.end(), {kWait, to(15), kPlain, to(0), kEnd, kWait, to(15), to(12, false)});
  EXPECT_EQ(innermostLoops(around), Loops({17}));
  EXPECT_EQ(innermostLoops({kPlain, kWait, to(1), kEnd}), Loops());
  // A loop in which much else is done is one.
  std::vector<MachineInstruction> loop(20);
  loop.insert(loop.end(), {kWait, to(0), kEnd});
  EXPECT_EQ(innermostLoops(loop), Loops({22}));
}

TEST(MachineCode, WhatIsNeverReachedAndTrapsAreNone) {
  EXPECT_EQ(innermostLoops({kPlain, kEnd, to(2, false)}), Loops());
  EXPECT_EQ(innermostLoops({kEnd, kPlain, to(1, false)}), Loops({2})); // by itself: no entry
}

TEST(MachineCode, LoopsOfTwoEntriesAreLoops) {
  EXPECT_EQ(innermostLoops({to(3), kPlain, kPlain, kPlain, to(1), kEnd}), Loops({4}));
}

TEST(MachineCode, BytesThatAreNoCubin) {
  std::vector<std::byte> bytes(500, std::byte{0xff});
  for (size_t size = 0; size <= bytes.size(); size += 50)
    EXPECT_EQ(machineCodeOf(std::span(bytes).first(size), 90).instructions, 0);
}

TEST(MachineCode, OfAnAssembler) {
  if (!findPtxas())
    GTEST_SKIP() << "no ptxas";
  const char *ptx = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n) {
  .reg .pred %q; .reg .b32 %r<4>; .reg .b64 %d;
  ld.param.u64 %d, [p];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, 0;
LOOP:
  ld.volatile.global.u32 %r3, [%d];
  add.s32 %r2, %r2, %r3;
  sub.s32 %r1, %r1, 1;
  setp.ne.s32 %q, %r1, 0;
  .pragma "nounroll";
  @%q bra LOOP;
  st.global.u32 [%d], %r2;
  ret;
})";
  AssemblerReport report = inspectAssembly(ptx, "sm_80");
  ASSERT_EQ(report.code.innermostLoops.size(), 1u);
  EXPECT_GE(report.code.innermostLoops[0], 5); // as many as in PTX, but a few for the pipeline
  EXPECT_LT(report.code.innermostLoops[0], report.code.instructions);
  EXPECT_LT(report.code.instructions, 60);
}

} // namespace
} // namespace tile::jit
