// Arithmetic in several words through the condition code, against wider integers.
#include "tests/runtime/vgpu/Lanewise.h"

namespace tile::vgpu {
namespace {

using Wide = unsigned __int128;

std::vector<uint64_t> words() { return integerEdges<uint64_t>(); }

// The low and high halves of a 64-bit register, as 32-bit registers, and joined again.
std::string inHalves(const std::string &code) {
  return "{ .reg .b32 %a, %b, %e, %f, %g, %h; mov.b64 {%a, %b}, %x; mov.b64 {%e, %f}, %y; " + code +
         " mov.b64 %d, {%g, %h}; }";
}

void check(const std::string &code, auto reference) {
  auto [x, y] = allPairs(words());
  auto result = applyPtx<uint64_t>(code, x, y);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(result[i], static_cast<uint64_t>(reference(x[i], y[i])))
        << code << " " << x[i] << ", " << y[i];
}

TEST(Carry, SumsAndDifferencesOfTwoWords) {
  check(inHalves("add.cc.u32 %g, %a, %e; addc.u32 %h, %b, %f;"),
        [](uint64_t x, uint64_t y) { return x + y; });
  check(inHalves("sub.cc.s32 %g, %a, %e; subc.s32 %h, %b, %f;"),
        [](uint64_t x, uint64_t y) { return x - y; });
}

// x * y + x, of which the upper 64 bits come through four words.
TEST(Carry, ProductOfTwoWords) {
  std::string product =
      "{ .reg .b32 %a, %b, %e, %f, %g, %h, %u, %v; mov.b64 {%a, %b}, %x; mov.b64 {%e, %f}, %y; "
      "mad.lo.cc.u32 %g, %a, %e, %a; madc.hi.cc.u32 %h, %a, %e, %b; madc.hi.cc.u32 %u, %a, %f, 0; "
      "addc.u32 %v, 0, 0; mad.lo.cc.u32 %h, %a, %f, %h; madc.hi.cc.u32 %u, %b, %e, %u; "
      "addc.u32 %v, %v, 0; mad.lo.cc.u32 %h, %b, %e, %h; madc.lo.cc.u32 %u, %b, %f, %u; "
      "madc.hi.u32 %v, %b, %f, %v; ";
  check(product + "mov.b64 %d, {%u, %v}; }",
        [](uint64_t x, uint64_t y) { return (Wide{x} * y + x) >> 64; });
  check(product + "mov.b64 %d, {%g, %h}; }",
        [](uint64_t x, uint64_t y) { return Wide{x} * y + x; });
}

TEST(Carry, OutOfSixtyFourBits) {
  check("add.cc.u64 %d, %x, %y; addc.u64 %d, 0, 0;",
        [](uint64_t x, uint64_t y) { return (Wide{x} + y) >> 64; });
  check("sub.cc.s64 %d, %x, %y; subc.s64 %d, 0, 0;",
        [](uint64_t x, uint64_t y) { return x < y ? -1 : 0; });
  check("mad.hi.cc.s64 %d, %x, %y, %x; addc.u64 %d, 0, 0;", [](uint64_t x, uint64_t y) {
    auto high =
        static_cast<uint64_t>((__int128{static_cast<int64_t>(x)} * static_cast<int64_t>(y)) >> 64);
    return (Wide{high} + x) >> 64;
  });
}

// The flag of a difference is the carry of a + ~b + 1, also for a sum after it.
TEST(Carry, OfADifferenceSaysThatNothingWasBorrowed) {
  check("sub.cc.u64 %d, %x, %y; addc.u64 %d, 0, 0;",
        [](uint64_t x, uint64_t y) { return x >= y ? 1 : 0; });
  check("sub.cc.u64 %d, %x, %y; subc.cc.u64 %d, %x, 1; addc.u64 %d, %d, %y;",
        [](uint64_t x, uint64_t y) {
          Wide difference = Wide{x} + ~uint64_t{1} + (x >= y ? 1 : 0);
          return static_cast<uint64_t>(difference) + y + (difference >> 64);
        });
  check("add.cc.u64 %d, %x, %y; subc.u64 %d, %x, %y;",
        [](uint64_t x, uint64_t y) { return Wide{x} + ~y + ((Wide{x} + y) >> 64); });
}

// An addc passes on a carry that its own carry-in makes, and only .cc changes the flag.
TEST(Carry, RipplesAndStays) {
  check("{ .reg .b32 %a; mov.b32 %a, -1; add.cc.u32 %a, %a, 1; addc.cc.u64 %d, %x, %y; "
        "addc.u64 %x, %x, 1; addc.u64 %d, 0, 0; }",
        [](uint64_t x, uint64_t y) { return (Wide{x} + y + 1) >> 64; });
}

// Lanes that a guard masks off keep their flag.
TEST(Carry, GuardedLanesKeepTheirs) {
  check(
      "add.cc.u64 %d, %x, %y; setp.gt.u64 %p, %x, 50; @%p add.cc.u64 %d, 0, 0; addc.u64 %d, 0, 0;",
      [](uint64_t x, uint64_t y) { return x > 50 ? 0 : (Wide{x} + y) >> 64; });
}

} // namespace
} // namespace tile::vgpu
