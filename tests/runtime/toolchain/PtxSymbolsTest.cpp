// Symbols of a PTX text: definitions and declarations, initialisers with braces, comments.
#include "runtime/toolchain/PtxSymbols.h"

#include <gtest/gtest.h>

namespace tile::jit {
namespace {

std::string listOf(const std::string &ptx) {
  std::string list;
  for (const PtxSymbol &symbol : symbolsOf(ptx))
    list += (list.empty() ? "" : " ") + symbol.name + (symbol.isFunction ? "()" : "") +
            (symbol.isDefined ? "" : "?") + (symbol.isShared ? "#" : "");
  return list;
}

TEST(PtxSymbols, OfWhatACompilerWrites) {
  EXPECT_EQ(
      listOf(R"(// .func in_a_comment { }
.version 9.0
.target sm_80
.address_size 64
.extern .func  (.param .b32 func_retval0) vprintf
(
	.param .b64 vprintf_param_0
)
;
.visible .func  (.param .b32 func_retval0) f(.param .b32 f_param_0)
{
	.reg .b32 %r<2>;
	.local .align 4 .b8 depot[8];
	{ .param .b32 param0; }
	ret;
}
.func nothing()
{ ret; }
.func only_declared(.param .b32 x);
.global .align 4 .b8 table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
.extern .global .align 4 .u32 elsewhere;
.const .f32 $scale = 0f3F800000;
.global .align 8 .b8 matrix[2][4];
.extern .shared .align 16 .b8 dynamic[];
.shared .align 4 .b8 fixed[64];
)"),
      "vprintf()? f() nothing() only_declared()? table elsewhere? $scale matrix dynamic?# fixed#");
}

TEST(PtxSymbols, OfNothing) {
  EXPECT_EQ(listOf(""), "");
  EXPECT_EQ(listOf(".version 9.0\n.target sm_80\n"), "");
}

} // namespace
} // namespace tile::jit
