// Which products feed one another row by row, and so share a grid of warps.
#include "passes/analysis/DotChains.h"

#include "ir/Context.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace tile::passes {
namespace {

/// A chain by the names of its products.
struct Named {
  std::vector<std::string> dots;
  bool passesRows = false, passesReductions = false;

  bool operator==(const Named &) const = default;
};
void PrintTo(const Named &chain, std::ostream *os) {
  for (const std::string &dot : chain.dots)
    *os << dot << ' ';
  *os << (chain.passesRows ? "pass rows" : "") << (chain.passesReductions ? " reductions" : "");
}

constexpr bool kRows = true, kReductions = true;

class DotChainsTest : public ::testing::Test {
protected:
  /// The chains of a function with this body, whose products have a "name" each. %q and %k are 64x64 of f16, %zero is
  /// 64x64 of f32, %c an i1, %n an i32.
  std::vector<Named> chainsOf(const std::string &body) {
    std::string text = R"(
      func.func @f(%q: tensor<64x64xf16>, %k: tensor<64x64xf16>, %zero: tensor<64x64xf32>,
                   %init: tensor<64xf32>, %c: i1, %n: i32) {
        %c0 = arith.constant 0 : i32
        %c1 = arith.constant 1 : i32
    )" + body + "return\n}\n";
    module = parseSourceString<ModuleOp>(text, context.get());
    if (!module) {
      ADD_FAILURE() << text;
      return {};
    }
    DotChains chains(*module->getOps<func::FuncOp>().begin());
    std::vector<Named> named;
    for (const DotChain &chain : chains.all()) {
      named.push_back({{}, chain.passesRows, chain.passesReductions});
      for (ir::DotOp dot : chain.dots) {
        named.back().dots.push_back(nameOf(dot));
        if (chains.hasComputedA(dot))
          computed.push_back(nameOf(dot));
      }
    }
    return named;
  }

  /// %x = a product.
  static std::string dot(const std::string &x, const std::string &a, const std::string &b,
                         const std::string &acc = "%zero") {
    return "%" + x + " = tile.dot " + a + ", " + b + ", " + acc + " {name = \"" + x +
           "\"} : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>\n";
  }
  /// %x = the tile in f16.
  static std::string narrow(const std::string &x, const std::string &tile) {
    return "%" + x + " = tile.convert " + tile + " : tensor<64x64xf32> -> tensor<64x64xf16>\n";
  }
  /// %x = the largest elements along the axis, 64 of them.
  static std::string largest(const std::string &x, const std::string &tile, int axis) {
    return "%" + x + " = tile.reduce " + tile + " axis " + std::to_string(axis) +
           " : tensor<64x64xf32> -> tensor<64xf32> {\n^bb0(%l: f32, %r: f32):\n"
           "%m = arith.maxnumf %l, %r : f32\ntile.yield %m : f32\n}\n";
  }
  /// %x = 64 values, one for each row, as a tile; or, with axis 0, one for each column.
  static std::string spread(const std::string &x, const std::string &values, int axis = 1) {
    std::string one = axis == 1 ? "tensor<64x1xf32>" : "tensor<1x64xf32>";
    return "%" + x + "_e = tile.expand_dims " + values + ", " + std::to_string(axis) +
           " : tensor<64xf32> -> " + one + "\n%" + x + " = tile.broadcast %" + x + "_e : " + one +
           " -> tensor<64x64xf32>\n";
  }
  static std::string multiply(const std::string &x, const std::string &a, const std::string &b) {
    return "%" + x + " = arith.mulf " + a + ", " + b + " : tensor<64x64xf32>\n";
  }

  std::vector<std::string> computed; ///< products whose A is computed

  static std::string nameOf(ir::DotOp dot) { return dot->getAttrOfType<StringAttr>("name").str(); }

  std::unique_ptr<MLIRContext> context = ir::makeContext();
  OwningOpRef<ModuleOp> module;
};

TEST_F(DotChainsTest, AttentionIsOneChain) {
  EXPECT_EQ(
      chainsOf("%r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%before = %init, %sums = %zero)\n"
               "    -> (tensor<64xf32>, tensor<64x64xf32>) : i32 {\n" +
               dot("scores", "%q", "%k") + largest("row", "%scores", 1) +
               "%now = arith.maxnumf %before, %row : tensor<64xf32>\n"
               "%fade = arith.subf %before, %now : tensor<64xf32>\n" +
               spread("shift", "%now") + spread("fades", "%fade") +
               "%weights = arith.subf %scores, %shift : tensor<64x64xf32>\n" +
               narrow("p", "%weights") + multiply("faded", "%sums", "%fades") +
               dot("next", "%p", "%k", "%faded") +
               "scf.yield %now, %next : tensor<64xf32>, tensor<64x64xf32>\n}\n"),
      (std::vector<Named>{{{"scores", "next"}, kRows, kReductions}}));
  EXPECT_EQ(computed, std::vector<std::string>{"next"});
}

TEST_F(DotChainsTest, ElementwiseResultsAreRows) {
  EXPECT_EQ(chainsOf(dot("x", "%q", "%k") + multiply("square", "%x", "%x") +
                     narrow("a", "%square") + dot("y", "%a", "%k")),
            (std::vector<Named>{{{"x", "y"}, kRows, false}}));
  EXPECT_EQ(computed, std::vector<std::string>{"y"});
}

// What the loop before has made of rows scales the accumulator; its A comes from memory.
TEST_F(DotChainsTest, FactorsOfTheAccumulatorAreCarriedRound) {
  EXPECT_EQ(chainsOf("%r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%before = %init, %sums = "
                     "%zero)\n    -> (tensor<64xf32>, tensor<64x64xf32>) : i32 {\n" +
                     spread("fades", "%before") + multiply("faded", "%sums", "%fades") +
                     dot("sum", "%q", "%k", "%faded") + dot("scores", "%k", "%q") +
                     largest("row", "%scores", 1) +
                     "scf.yield %row, %sum : tensor<64xf32>, tensor<64x64xf32>\n}\n"),
            (std::vector<Named>{{{"sum", "scores"}, false, kReductions}}));
  EXPECT_TRUE(computed.empty());
}

TEST_F(DotChainsTest, SumsAloneTieWithoutPassingRows) {
  EXPECT_EQ(chainsOf(dot("low", "%q", "%k") + dot("high", "%k", "%q", "%low")),
            (std::vector<Named>{{{"low", "high"}, false, false}}));
}

TEST_F(DotChainsTest, AProductAndItselfAreNoChain) {
  EXPECT_EQ(chainsOf("%r = scf.for %i = %c0 to %n step %c1 iter_args(%sums = %zero)\n"
                     "    -> tensor<64x64xf32> : i32 {\n" +
                     largest("row", "%sums", 1) + spread("rows", "%row") +
                     multiply("scaled", "%sums", "%rows") + dot("sum", "%q", "%k", "%scaled") +
                     "scf.yield %sum : tensor<64x64xf32>\n}\n"),
            (std::vector<Named>{{{"sum"}, false, false}}));
}

// The right operand is read by columns, a transposed one too.
TEST_F(DotChainsTest, RightAndTransposedOperandsAreOtherRows) {
  std::vector<Named> apart = {{{"x"}, false, false}, {{"y"}, false, false}};
  EXPECT_EQ(chainsOf(dot("x", "%q", "%k") + narrow("b", "%x") + dot("y", "%q", "%b")), apart);
  std::string turn = "%t = tile.permute %a, [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>\n";
  EXPECT_EQ(chainsOf(dot("x", "%q", "%k") + narrow("a", "%x") + turn + dot("y", "%t", "%k")),
            apart);
  std::string back = "%u = tile.permute %t, [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>\n";
  EXPECT_EQ(chainsOf(dot("x", "%q", "%k") + narrow("a", "%x") + turn + back + dot("y", "%u", "%k")),
            (std::vector<Named>{{{"x", "y"}, kRows, false}}));
}

TEST_F(DotChainsTest, ValuesOfColumnsAreNotOfRows) {
  std::vector<Named> apart = {{{"x"}, false, false}, {{"y"}, false, false}};
  EXPECT_EQ(chainsOf(dot("x", "%q", "%k") + largest("column", "%x", 0) +
                     spread("columns", "%column", 0) + dot("y", "%q", "%k", "%columns")),
            apart);
  EXPECT_EQ(chainsOf(dot("x", "%q", "%k") + largest("row", "%x", 1) + spread("columns", "%row", 0) +
                     dot("y", "%q", "%k", "%columns")),
            apart);
}

TEST_F(DotChainsTest, ReshapesKeepRowsOrLoseThem) {
  auto through = [&](const std::string &shape) {
    return chainsOf(dot("x", "%q", "%k") + narrow("flat", "%x") +
                    "%s = tile.reshape %flat : tensor<64x64xf16> -> tensor<" + shape +
                    "xf16>\n%a = tile.reshape %s : tensor<" + shape +
                    "xf16> -> tensor<64x64xf16>\n" + dot("y", "%a", "%k"));
  };
  std::vector<Named> tied = {{{"x", "y"}, kRows, false}};
  EXPECT_EQ(through("1x1x64x64"), tied);
  EXPECT_EQ(through("64x8x8"), tied);
  EXPECT_EQ(through("4096"), (std::vector<Named>{{{"x"}, false, false}, {{"y"}, false, false}}));
}

TEST_F(DotChainsTest, RowsGoThroughBranchesAndLoops) {
  std::string branch = "%b = scf.if %c -> tensor<64x64xf32> {\nscf.yield %x : tensor<64x64xf32>\n"
                       "} else {\nscf.yield %zero : tensor<64x64xf32>\n}\n";
  EXPECT_EQ(chainsOf(dot("x", "%q", "%k") + branch + narrow("a", "%b") + dot("y", "%a", "%k")),
            (std::vector<Named>{{{"x", "y"}, kRows, false}}));
  std::string loop =
      "%w = scf.while (%t = %x) : (tensor<64x64xf32>) -> tensor<64x64xf32> {\n"
      "scf.condition(%c) %t : tensor<64x64xf32>\n} do {\n^bb0(%u: tensor<64x64xf32>):\n"
      "scf.yield %u : tensor<64x64xf32>\n}\n";
  EXPECT_EQ(chainsOf(dot("x", "%q", "%k") + loop + narrow("a", "%w") + dot("y", "%a", "%k")),
            (std::vector<Named>{{{"x", "y"}, kRows, false}}));
}

TEST_F(DotChainsTest, ScansOfRowsStayInTheirRow) {
  auto scan = [](int axis) {
    return "%s = tile.scan %x axis " + std::to_string(axis) +
           " : tensor<64x64xf32> -> tensor<64x64xf32> {\n^bb0(%l: f32, %r: f32):\n"
           "%m = arith.addf %l, %r : f32\ntile.yield %m : f32\n}\n";
  };
  EXPECT_EQ(chainsOf(dot("x", "%q", "%k") + scan(1) + narrow("a", "%s") + dot("y", "%a", "%k")),
            (std::vector<Named>{{{"x", "y"}, kRows, kReductions}}));
  EXPECT_EQ(chainsOf(dot("x", "%q", "%k") + scan(0) + narrow("a", "%s") + dot("y", "%a", "%k")),
            (std::vector<Named>{{{"x"}, false, false}, {{"y"}, false, false}}));
}

TEST_F(DotChainsTest, RowsOfABatchComeAfterIt) {
  std::string types = "tensor<2x64x64xf16>, tensor<2x64x64xf16>, tensor<2x64x64xf32>\n";
  EXPECT_EQ(chainsOf("%z = arith.constant dense<0.0> : tensor<2x64x64xf32>\n"
                     "%g = arith.constant dense<0.0> : tensor<2x64x64xf16>\n"
                     "%x = tile.dot %g, %g, %z {name = \"x\"} : " +
                     types +
                     "%a = tile.convert %x : tensor<2x64x64xf32> -> tensor<2x64x64xf16>\n"
                     "%y = tile.dot %a, %g, %z {name = \"y\"} : " +
                     types),
            (std::vector<Named>{{{"x", "y"}, kRows, false}}));
}

} // namespace
} // namespace tile::passes
