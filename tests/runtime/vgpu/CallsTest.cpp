// Calls: under guards, through pointers, and those that cannot be made.
#include "tests/runtime/vgpu/Twins.h"

namespace tile::vgpu {
namespace {

const std::string kFunctions = R"(
.func (.param .b32 r) plusOne(.param .b32 x)
{
  .reg .b32 %v;
  ld.param.b32 %v, [x];
  add.u32 %v, %v, 1;
  st.param.b32 [r], %v;
  ret;
}
.func (.param .b32 r) timesThree(.param .b32 x)
{
  .reg .b32 %v;
  ld.param.b32 %v, [x];
  mul.lo.u32 %v, %v, 3;
  st.param.b32 [r], %v;
  ret;
}
.func (.param .b64 r) wide(.param .b64 x)
{
  ret;
}
.global .u64 table[3] = {plusOne, timesThree, wide};
)";

// A call of `callee`, guarded or not, of the thread's number; %r2 is 1000 before.
std::string calling(const std::string &setUp, const std::string &guard, const std::string &callee,
                    const std::string &after = "") {
  return kernel("  mov.u32 %r2, 1000;\n" + setUp +
                    "  {\n  .param .b32 x;\n  .param .b32 r;\n  st.param.b32 [r], %r2;\n  "
                    "st.param.b32 [x], %t;\n"
                    "  prototype: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                    "  targets: .calltargets plusOne, timesThree;\n  " +
                    guard + "call (r), " + callee + ", (x)" + after +
                    ";\n  ld.param.b32 %r2, [r];\n  }\n  st.global.u32 [%a], %r2;\n",
                kFunctions);
}

std::vector<uint32_t> results(const std::string &ptx) {
  Gpu gpu(ptx);
  auto memory = gpu.upload(std::vector<uint32_t>(64, 0));
  gpu.run("k", {1}, {64}, 0, memory);
  gpu.expectClean();
  return gpu.download<uint32_t>(memory, 64);
}

TEST(Calls, AGuardMasksLanes) {
  for (std::string guard : {"@%q1 ", "@!%q1 "}) {
    auto result = results(calling("  setp.lt.u32 %q1, %l, 10;\n", guard, "plusOne"));
    for (uint32_t i = 0; i < 64; ++i)
      EXPECT_EQ(result[i], (i % 32 < 10) == (guard == "@%q1 ") ? i + 1 : 1000);
  }
}

TEST(Calls, EachLaneFollowsItsPointer) {
  std::string pick =
      "  and.b32 %r3, %t, 1;\n  mov.u64 %rd1, table;\n  mad.wide.u32 %rd1, %r3, 8, %rd1;\n"
      "  ld.global.u64 %rd2, [%rd1];\n";
  for (std::string list : {"prototype", "targets"}) {
    auto result = results(calling(pick, "", "%rd2", ", " + list));
    for (uint32_t i = 0; i < 64; ++i)
      EXPECT_EQ(result[i], i % 2 ? 3 * i : i + 1);
  }
  auto guarded =
      results(calling(pick + "  setp.lt.u32 %q1, %t, 7;\n", "@%q1 ", "%rd2", ", prototype"));
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(guarded[i], i >= 7 ? 1000 : i % 2 ? 3 * i : i + 1);
}

TEST(Calls, APointerToAnotherKindOfFunctionIsReported) {
  for (std::string pointer : {"  mov.u64 %rd2, wide;\n", "  mov.u64 %rd2, 0;\n"}) {
    std::string ptx = calling(pointer, "", "%rd2", ", prototype");
    run(ptx, 32)->expectFinding(FindingKind::Trap, lineOf(ptx, "call (r)"));
  }
  std::string ptx = calling("", "", "%rd2", ", prototype");
  run(ptx, 32)->expectFinding(FindingKind::Uninitialised, lineOf(ptx, "call (r)"));
}

TEST(Calls, WhatCannotBeCalledIsNamed) {
  auto expectError = [](const std::string &ptx, const std::string &part) {
    try {
      run(ptx, 32);
      ADD_FAILURE() << part;
    } catch (const Error &error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  expectError(calling("", "", "missing"), "'missing'");
  expectError(calling("", "", "%rd2"), "needs a .callprototype or .calltargets");
  std::string recursive = replaced(calling("", "", "timesThree"), "  mul.lo.u32 %v, %v, 3;\n",
                                   "  call (r), timesThree, (x);\n");
  expectError(recursive, "recursive");
}

} // namespace
} // namespace tile::vgpu
