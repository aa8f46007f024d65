// Kernels and their parameters, counted in PTX however it is written.
#include "runtime/device/PtxEntries.h"

#include <gtest/gtest.h>

using namespace tile::device;

namespace {

std::string textOf(const std::vector<PtxEntry> &entries) {
  std::string text;
  for (const PtxEntry &entry : entries)
    text += entry.name + ":" + std::to_string(entry.parameters) + " ";
  return text;
}

TEST(PtxEntries, AreFoundInAnyLayout) {
  EXPECT_EQ(textOf(ptxEntries(R"(.version 8.0
.target sm_80
// .entry commented(.param .u32 a)
.visible.entry tight(.param.u32 a,.param.align 8.b8 b[16],.param .u64 .ptr .global c){ret;}
/* .entry also(.param .u32 a) */ .entry
  wide // (.param .u32 none)
(
  .param .u32 wide_param_0, // .param .u32 none)
  .param .f64 wide_param_1 /* , .param .u32 none */
)
.maxntid 128, 1, 1
{
  .param .b32 inside;
  call (inside), function, (inside);
  ret;
}
.weak .entry none { ret; }
.entry empty()
{ ret; }
.func (.param .b32 result) function(.param .b32 a) { ret; }
)")),
            "tight:3 wide:2 none:0 empty:0 ");
}

TEST(PtxEntries, TextThatEndsEarlyIsNoFault) {
  EXPECT_EQ(textOf(ptxEntries("")), "");
  EXPECT_EQ(textOf(ptxEntries(".entry")), ":0 ");
  EXPECT_EQ(textOf(ptxEntries(".entry k(")), "k:0 ");
  EXPECT_EQ(textOf(ptxEntries(".entry k(.param .u32 a")), "k:1 ");
  EXPECT_EQ(textOf(ptxEntries(".entry k(.param .u32 a /")), "k:1 ");
  EXPECT_EQ(textOf(ptxEntries(".entry k /* (.param")), "k:0 ");
  EXPECT_EQ(textOf(ptxEntries("/")), "");
  EXPECT_EQ(textOf(ptxEntries("//")), "");
}

} // namespace
