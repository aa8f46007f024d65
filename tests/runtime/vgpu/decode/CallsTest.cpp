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

// Parameters in registers, and values in place of variables.
TEST(Calls, ValuesArePassedAsTheyAre) {
  const std::string functions = R"(
.func (.reg .b32 r, .reg .b64 wide) sum(.reg .b32 a, .param .b32 b, .reg .f32 c)
{
  .reg .b32 %v, %w;
  .reg .pred %p;
  ld.param.b32 %v, [b];
  cvt.rzi.u32.f32 %w, c;
  add.u32 a, a, %v;
  setp.gt.u32 %p, a, 100;
  mul.wide.u32 wide, %w, 1000;
  mov.u32 r, 7;
  @%p ret;
  add.u32 r, a, %w;
}
)";
  const std::string body = R"(  mov.u32 %r1, 20;
  mov.f32 %f1, 0f40400000;
  call (%r2, %rd1), sum, (%t, %r1, %f1);
  call (%r3, _), sum, (1+2, 5, 2.0);
  {
  .param .b32 x;
  st.param.b32 [x], 100;
  call (%r4, %rd2), sum, (%r2, x, %f1);
  }
  cvt.u32.u64 %r5, %rd1;
  mad.lo.u32 %r2, %r3, 10000, %r2;
  mad.lo.u32 %r2, %r4, 1000000, %r2;
  add.u32 %r2, %r2, %r5;
  st.global.u32 [%a], %r2;
)";
  for (const char *checks : {"all", "none"}) {
    Gpu gpu(kernel(body, functions), "sm_80", checks);
    auto memory = gpu.upload(std::vector<uint32_t>(64, 0));
    gpu.run("k", {1}, {64}, 0, memory);
    gpu.expectClean();
    auto result = gpu.download<uint32_t>(memory, 64);
    for (uint32_t i = 0; i < 64; ++i)
      EXPECT_EQ(result[i], 7 * 1000000 + 10 * 10000 + (i + 20 + 3) + 3000) << checks;
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
}

// A function returns the address of its variable; what was there is nobody's once it has returned.
TEST(Calls, LocalVariablesEndWithTheirFunction) {
  std::string function = R"(
.func (.param .b64 r) place()
{
  .reg .b64 %x;
  .reg .b32 %y;
  .local .align 4 .b8 own[16];
  mov.u32 %y, 7;
  st.local.u32 [own+4], %y;
  mov.u64 %x, own;
  st.param.b64 [r], %x;
  ret;
}
)";
  auto callerWith = [&](const std::string &code) {
    return kernel(
        "  {\n  .param .b64 r;\n  call (r), place, ();\n  ld.param.b64 %rd1, [r];\n  }\n" + code +
            "  st.global.u32 [%a], %r1;\n",
        function);
  };
  std::string good = callerWith("  cvt.u32.u64 %r1, %rd1;\n");
  std::string broken = callerWith("  ld.local.u32 %r1, [%rd1+4];\n");
  expectTwin(good, broken, 32, FindingKind::Uninitialised, "st.global.u32 [%a], %r1;");
}

} // namespace
} // namespace tile::vgpu
