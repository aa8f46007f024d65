// Functions that call themselves, with lanes at different depths.
#include "tests/runtime/vgpu/Twins.h"

#include <functional>

namespace tile::vgpu {
namespace {

void expectResults(const std::string &ptx, const std::function<uint32_t(uint32_t)> &expected) {
  for (const char *checks : {"all", "none"}) {
    SCOPED_TRACE(checks);
    Gpu gpu(ptx, "sm_80", checks);
    auto memory = gpu.upload(std::vector<uint32_t>(64, 0));
    gpu.run("k", {2}, {64}, 0, memory);
    gpu.expectClean();
    auto result = gpu.download<uint32_t>(memory, 64);
    for (uint32_t i = 0; i < 64; ++i)
      ASSERT_EQ(result[i], expected(i)) << i;
  }
}

std::string callOf(const std::string &function, const std::string &argument) {
  return "  {\n  .param .b32 x;\n  .param .b32 r;\n  st.param.b32 [x], " + argument +
         ";\n  call (r), " + function +
         ", (x);\n  ld.param.b32 %r2, [r];\n  }\n"
         "  st.global.u32 [%a], %r2;\n";
}

const std::string kFibonacci = R"(
.func (.param .b32 r) fib(.param .b32 n)
{
  .reg .b32 %n, %a, %b;
  .reg .pred %p;
  ld.param.b32 %n, [n];
  setp.lt.u32 %p, %n, 2;
  @%p bra SMALL;
  sub.u32 %a, %n, 1;
  {
  .param .b32 x;
  .param .b32 y;
  st.param.b32 [x], %a;
  call (y), fib, (x);
  ld.param.b32 %a, [y];
  }
  sub.u32 %b, %n, 2;
  {
  .param .b32 x;
  .param .b32 y;
  st.param.b32 [x], %b;
  call (y), fib, (x);
  ld.param.b32 %b, [y];
  }
  add.u32 %n, %a, %b;
SMALL:
  st.param.b32 [r], %n;
  ret;
}
)";

uint32_t fibonacci(uint32_t n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

TEST(Recursion, LanesAtDifferentDepths) {
  expectResults(kernel("  and.b32 %r1, %t, 7;\n" + callOf("fib", "%r1"), kFibonacci),
                [](uint32_t i) { return fibonacci(i % 8); });
}

// Each calls the other, and itself: with registers as parameters, and early returns.
const std::string kMutual = R"(
.func (.reg .u32 r) odd(.reg .u32 n);
.func (.reg .u32 r) even(.reg .u32 n)
{
  .reg .pred %p;
  .reg .u32 %m, %s;
  mov.u32 r, 1;
  setp.eq.u32 %p, n, 0;
  @%p ret;
  sub.u32 %m, n, 1;
  call (%s), odd, (%m);
  and.b32 %m, n, 3;
  setp.ne.u32 %p, %m, 0;
  mov.u32 r, %s;
  @%p ret;
  shr.u32 %m, n, 1;
  call (%m), even, (%m);
  mad.lo.u32 r, %m, 3, %s;
}
.func (.reg .u32 r) odd(.reg .u32 n)
{
  .reg .pred %p;
  .reg .u32 %m, %s;
  mov.u32 r, 0;
  setp.eq.u32 %p, n, 0;
  @%p ret;
  sub.u32 %m, n, 1;
  call (%s), even, (%m);
  add.u32 r, %s, n;
  setp.ne.u32 %p, n, 6;
  @%p ret;
  call (%m), odd, (2);
  add.u32 r, r, %m;
}
)";

uint32_t odd(uint32_t n);
uint32_t even(uint32_t n) {
  if (n == 0)
    return 1;
  uint32_t s = odd(n - 1);
  return n % 4 ? s : even(n / 2) * 3 + s;
}
uint32_t odd(uint32_t n) {
  if (n == 0)
    return 0;
  uint32_t r = even(n - 1) + n;
  return n == 6 ? r + odd(2) : r;
}

TEST(Recursion, FunctionsThatCallEachOther) {
  expectResults(kernel("  and.b32 %r1, %t, 15;\n  call (%r2), even, (%r1);\n"
                       "  call (%r3), odd, (%r1);\n  mad.lo.u32 %r2, %r3, 1000, %r2;\n"
                       "  st.global.u32 [%a], %r2;\n",
                       kMutual),
                [](uint32_t i) { return odd(i % 16) * 1000 + even(i % 16); });
}

// What an activation has not written, it does not find written by another.
TEST(Recursion, ActivationsAreUninitialised) {
  const std::string function = R"(
.func (.reg .u32 r) f(.reg .u32 n)
{
  .reg .pred %p;
  .reg .u32 %m, %u;
  setp.ne.u32 %p, n, 0;
  @!%p mov.u32 r, %u;
  @!%p ret;
  mov.u32 %u, 5;
  sub.u32 %m, n, 1;
  call (r), f, (%m);
}
)";
  std::string ptx = kernel("  call (%r2), f, (1);\n  st.global.u32 [%a], %r2;\n", function);
  run(ptx, 32)->expectFinding(FindingKind::Uninitialised, lineOf(ptx, "st.global.u32 [%a], %r2"));
}

TEST(Recursion, WithoutEndIsReported) {
  const std::string function = R"(
.func (.reg .u32 r) f(.reg .u32 n)
{
  call (r), f, (n);
}
)";
  std::string ptx = kernel("  call (%r2), f, (1);\n  st.global.u32 [%a], %r2;\n", function);
  run(ptx, 32)->expectFinding(FindingKind::StepLimit, lineOf(ptx, "call (r), f, (n)"));
}

TEST(Recursion, AddressesOfLocalVariablesAreRefused) {
  const std::string function = R"(
.func (.reg .u32 r) f(.reg .u32 n)
{
  .local .b8 depot[8];
  .reg .b64 %d;
  mov.u64 %d, depot;
  st.local.u32 [%d], n;
  call (r), f, (n);
}
)";
  EXPECT_THROW(run(kernel("  call (%r2), f, (1);\n", function), 32), Error);
}

} // namespace
} // namespace tile::vgpu
