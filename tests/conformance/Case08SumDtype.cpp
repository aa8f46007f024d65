// Case 8, the dtype of sums: 32x32 ones of i1 are 1024, or 0 when summed in i1; i8 sevens summed in i8 wrap modulo 256;
// ones of bf16 are 1024.
#include "tests/execution/Harness.h"

using namespace tile;
using namespace tile::test;

namespace {

EXECUTION_SUITE(SumDtype, Targets::One);

TEST_P(SumDtype, AsTheLanguageSays) {
  static const auto program = kernel(
      "sums", [](In<i1, 2> ones, In<i8, 2> sevens, In<bf16, 2> units, Out<u32, 1> counted,
                 Out<i1, 1> parity, Out<i8, 1> wrapped, Out<i32, 1> widened, Out<bf16, 1> total) {
        Value bits = ones.tile({32, 32})(0, 0), bytes = sevens.tile({32, 32})(0, 0);
        counted.tile({1})(0) = full(u32, {1}, sum(bits));
        parity.tile({1})(0) = splat(sum(bits, {}, {.dtype = i1}), {1});
        wrapped.tile({1})(0) = splat(sum(bytes, {}, {.dtype = i8}), {1});
        widened.tile({1})(0) = splat(sum(bytes), {1});
        total.tile({1})(0) = splat(sum(units.tile({32, 32})(0, 0)), {1});
      });
  auto ones = input({32, 32}, std::vector<bool>(1024, true));
  auto sevens = input({32, 32}, std::vector<int8_t>(1024, 7));
  auto units = input({32, 32}, std::vector<bfloat16>(1024, bfloat16(1.0f)));
  auto counted = output<uint32_t>({1});
  auto parity = output<bool>({1});
  auto wrapped = output<int8_t>({1});
  auto widened = output<int32_t>({1});
  auto total = output<bfloat16>({1});
  program.grid(1)(stream, ones, sevens, units, counted.tensor(), parity.tensor(), wrapped.tensor(),
                  widened.tensor(), total.tensor());
  EXPECT_EQ(counted.result()[0], 1024u);
  EXPECT_EQ(parity.result()[0], false);
  EXPECT_EQ(wrapped.result()[0], static_cast<int8_t>(1024 * 7));
  EXPECT_EQ(widened.result()[0], 1024 * 7);
  EXPECT_EQ(static_cast<float>(total.result()[0]), 1024.0f);
}

} // namespace
