// The assembler's log: numbers, sentences with a code, and the source lines they mean.
#include "runtime/toolchain/Assemble.h"

#include <gtest/gtest.h>

namespace tile::jit {
namespace {

// The names of files stand behind their uses, as LLVM prints them.
constexpr const char *kPtx = R"(.entry k()
{
	.loc	1 12 0
	wgmma.fence.sync.aligned;
	.loc	2 34 0
	add.f32 %f1, %f1, %f2;
	.loc	1 56 0
	ret;
}
	.file	1 "ops/Matmul.cpp"
	.file	2 "include/tile/Ops.h"
)";

TEST(AssemblerMessages, NumbersOfAKernel) {
  AssemblerLog log = readAssemblerLog(R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k' for 'sm_90a'
ptxas info    : Function properties for k
    16 bytes stack frame, 24 bytes spill stores, 40 bytes spill loads
ptxas info    : Used 168 registers, used 3 barriers, 8 bytes smem
ptxas info    : Compile time = 17.779 ms
)",
                                      kPtx);
  EXPECT_EQ(log.registers, 168);
  EXPECT_EQ(log.spillStoreBytes, 24);
  EXPECT_EQ(log.spillLoadBytes, 40);
  EXPECT_EQ(log.barriers, 3);
  EXPECT_TRUE(log.messages.empty());
}

TEST(AssemblerMessages, FunctionsThatTheKernelCallsSpillToo) {
  AssemblerLog log = readAssemblerLog(R"(ptxas info    : Function properties for callee
    0 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads
ptxas info    : Function properties for k
    0 bytes stack frame, 16 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 40 registers, used 0 barriers
)",
                                      kPtx);
  EXPECT_EQ(log.registers, 40);
  EXPECT_EQ(log.spillStoreBytes, 24);
  EXPECT_EQ(log.spillLoadBytes, 20);
}

TEST(AssemblerMessages, SentencesStandOnceAndAreNoNumbers) {
  AssemblerLog log = readAssemblerLog(
      R"(ptxas info    : (C7514) Potential Performance Loss: 1 of 9 registers (C1) in the function 'k'
ptxas info    : (C7514) Potential Performance Loss: 1 of 9 registers (C1) in the function 'k'
ptxas info    : Used 30 registers, used 0 barriers
)",
      kPtx);
  ASSERT_EQ(log.messages.size(), 1u);
  EXPECT_EQ(log.messages[0],
            (AssemblerMessage{
                "C7514", "Potential Performance Loss: 1 of 9 registers (C1) in the function 'k'",
                "", 0}));
  EXPECT_EQ(log.registers, 30);
}

TEST(AssemblerMessages, ALineOfThePtxIsALineOfTheSource) {
  auto placed = [](int ptxLine) {
    AssemblerLog log = readAssemblerLog("ptxas info : (C7517) a wait is injected in around line " +
                                            std::to_string(ptxLine) + " in function 'k'\n",
                                        kPtx);
    return log.messages.at(0).file + ":" + std::to_string(log.messages.at(0).line);
  };
  EXPECT_EQ(placed(4), "ops/Matmul.cpp:12");
  EXPECT_EQ(placed(6), "include/tile/Ops.h:34");
  EXPECT_EQ(placed(1000), "ops/Matmul.cpp:56");
  EXPECT_EQ(placed(2), ":0"); // above every .loc
}

TEST(AssemblerMessages, OddLogsSayNothing) {
  for (const char *log : {"", "(C75", "(C7514", "(C75x4) a", "(C75141) a", "registers",
                          " registers", "used ", "9999999999999999999999 registers"}) {
    AssemblerLog read = readAssemblerLog(log, "");
    EXPECT_TRUE(read.messages.empty()) << log;
    EXPECT_EQ(read.registers, 0) << log;
    EXPECT_EQ(read.barriers, 0) << log;
  }
  EXPECT_EQ(readAssemblerLog("(C7514) at line 7", ".loc\t\n.file\n.loc 1\n").messages.at(0).line,
            0);
}

// A product that is in flight when its sums are read: the assembler serialises it.
constexpr const char *kEarlyUse = R"(
.version 8.4
.target sm_90a
.address_size 64
.visible .entry early(.param .u64 out, .param .u64 operands, .param .u32 count)
.reqntid 128
{
  .reg .f32 %f<5>;
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [operands];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r1, [count];
  mov.f32 %f1, 0f00000000;
  mov.f32 %f2, 0f00000000;
  mov.f32 %f3, 0f00000000;
  mov.f32 %f4, 0f00000000;
$again:
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd1, 1, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned PENDING;
  mul.f32 %f1, %f1, 0f40000000;
  sub.s32 %r1, %r1, 1;
  setp.ne.s32 %p1, %r1, 0;
  @%p1 bra $again;
  wgmma.wait_group.sync.aligned 0;
  st.global.f32 [%rd2], %f1;
  st.global.f32 [%rd2+4], %f2;
  st.global.f32 [%rd2+8], %f3;
  st.global.f32 [%rd2+12], %f4;
  ret;
}
)";

AssemblerReport inspectEarlyUse(const std::string &pending) {
  std::string ptx = kEarlyUse;
  ptx.replace(ptx.find("PENDING"), std::string("PENDING").size(), pending);
  return inspectAssembly(ptx, "sm_90a");
}

TEST(AssemblerMessages, AnAccumulatorReadInFlightIsReported) {
  if (!findPtxas())
    GTEST_SKIP() << "no ptxas";
  AssemblerReport early = inspectEarlyUse("1"), waited = inspectEarlyUse("0");
  ASSERT_EQ(early.messages.size(), 1u);
  EXPECT_EQ(early.messages[0].code.substr(0, 3), "C75");
  EXPECT_NE(early.messages[0].text.find("serialized"), std::string::npos) << early.messages[0].text;
  EXPECT_TRUE(waited.messages.empty()) << waited.messages[0].text;
  EXPECT_GT(waited.registers, 0);
}

} // namespace
} // namespace tile::jit
