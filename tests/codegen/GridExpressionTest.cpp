// The grid expression without the compiler agrees with the affine map that it was made from.
#include "codegen/compiled/GridExpression.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

using namespace mlir;

namespace tile::codegen {
namespace {

class GridExpressionTest : public ::testing::Test {
protected:
  AffineMap map(StringRef text) {
    auto attribute = dyn_cast_or_null<AffineMapAttr>(parseAttribute(text, &context));
    EXPECT_TRUE(attribute) << text.str();
    return attribute ? attribute.getValue() : AffineMap::get(&context);
  }

  std::array<int64_t, 3> evaluate(StringRef text, std::vector<int64_t> values) {
    return GridExpression(map(text), {}).evaluate(values);
  }

  MLIRContext context;
};

using Grid = std::array<int64_t, 3>;

TEST_F(GridExpressionTest, MissingAxesHaveOneProgram) {
  EXPECT_EQ(evaluate("affine_map<()[s0] -> (s0 ceildiv 128)>", {1000}), (Grid{8, 1, 1}));
  EXPECT_EQ(evaluate("affine_map<()[s0, s1] -> (s0 ceildiv 64, s1 ceildiv 32)>", {65, 64}),
            (Grid{2, 2, 1}));
  EXPECT_EQ(evaluate("affine_map<()[s0] -> (2, s0, 7)>", {3}), (Grid{2, 3, 7}));
}

TEST_F(GridExpressionTest, RoundsTowardTheNamedSide) {
  EXPECT_EQ(
      evaluate("affine_map<()[s0] -> (s0 floordiv 4 + 10, s0 ceildiv 4 + 10, s0 mod 4)>", {-5}),
      (Grid{8, 9, 3}));
  EXPECT_EQ(evaluate("affine_map<()[s0] -> (s0 floordiv 4, s0 ceildiv 4, s0 mod 4)>", {5}),
            (Grid{1, 2, 1}));
}

TEST_F(GridExpressionTest, NegativeCountsAreZero) {
  EXPECT_EQ(evaluate("affine_map<()[s0] -> (s0 - 10)>", {3}), (Grid{0, 1, 1}));
}

TEST_F(GridExpressionTest, EmptyExtentsGiveEmptyGrids) {
  EXPECT_EQ(evaluate("affine_map<()[s0, s1] -> (s0 ceildiv 128, s1)>", {0, 5}), (Grid{0, 5, 1}));
}

TEST_F(GridExpressionTest, LargeExtentsDoNotOverflow) {
  EXPECT_EQ(evaluate("affine_map<()[s0, s1] -> (s0 * 1048576, s1)>", {1 << 30, 1}),
            (Grid{int64_t(1) << 50, 1, 1}));
}

TEST_F(GridExpressionTest, KnowsWhetherItWasDerived) {
  EXPECT_FALSE(GridExpression().isDerived());
  GridExpression grid(map("affine_map<()[s0] -> (s0)>"), {{2, -1}});
  EXPECT_TRUE(grid.isDerived());
  EXPECT_EQ(grid.symbols(), (std::vector<GridExpression::Symbol>{{2, -1}}));
}

// Division by zero can be written down with a symbol for the divisor; it must not bring the launch
// down.
TEST_F(GridExpressionTest, SurvivesADivisorOfZero) {
  AffineExpr s0 = getAffineSymbolExpr(0, &context), s1 = getAffineSymbolExpr(1, &context);
  AffineMap divided = AffineMap::get(0, 2, {s0.ceilDiv(s1), s0.floorDiv(s1), s0 % s1}, &context);
  EXPECT_EQ(GridExpression(divided, {}).evaluate(std::vector<int64_t>{7, 0})[2], 0);
}

// A random expression over two symbols, with what it must come to.
struct Tree {
  AffineExpr expr;
  int64_t value;
};

Tree randomTree(MLIRContext *context, ArrayRef<int64_t> symbols, int depth) {
  int kind = depth == 0 ? *rc::gen::inRange(0, 2) : *rc::gen::inRange(0, 7);
  if (kind == 0) {
    auto value = *rc::gen::inRange<int64_t>(-20, 20);
    return {getAffineConstantExpr(value, context), value};
  }
  if (kind == 1) {
    auto index = *rc::gen::inRange<unsigned>(0, symbols.size());
    return {getAffineSymbolExpr(index, context), symbols[index]};
  }
  Tree a = randomTree(context, symbols, depth - 1);
  if (kind == 2) {
    Tree b = randomTree(context, symbols, depth - 1);
    return {a.expr + b.expr, a.value + b.value};
  }
  auto number = *rc::gen::inRange<int64_t>(1, 9);
  auto floor = [](int64_t x, int64_t y) { return x >= 0 ? x / y : -((-x + y - 1) / y); };
  switch (kind) {
  case 3:
    return {a.expr * number, a.value * number};
  case 4:
    return {a.expr.floorDiv(number), floor(a.value, number)};
  case 5:
    return {a.expr.ceilDiv(number), floor(a.value + number - 1, number)};
  default:
    return {a.expr % number, a.value - floor(a.value, number) * number};
  }
}

RC_GTEST_FIXTURE_PROP(GridExpressionTest, AgreesWithDirectEvaluation, ()) {
  std::vector<int64_t> symbols{*rc::gen::inRange<int64_t>(0, 1000),
                               *rc::gen::inRange<int64_t>(-50, 50)};
  Tree tree = randomTree(&context, symbols, 4);
  GridExpression grid(AffineMap::get(0, 2, tree.expr), {});
  RC_ASSERT(grid.evaluate(symbols)[0] == std::max<int64_t>(0, tree.value));
}

} // namespace
} // namespace tile::codegen
