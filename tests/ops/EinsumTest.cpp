// einsum: formulas against a plain sum of products, random ones too; strides, dtypes, refusals with their marks.
#include "tests/execution/Harness.h"
#include "tests/ops/Refusals.h"

#include <tile/ops/Arithmetic.h>
#include <tile/ops/Einsum.h>

#include <map>
#include <numeric>

using namespace tile;
using namespace tile::test;
using ops::Operand;

namespace {

using Shape = std::vector<int64_t>;

int64_t elements(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

/// Terms without spaces and dots, the output last.
struct Formula {
  std::vector<std::string> terms;
  std::string output;
  std::map<char, int64_t> extents;

  Shape shapeOf(const std::string &term) const {
    Shape shape;
    for (char label : term)
      shape.push_back(extents.at(label));
    return shape;
  }
  std::string text() const {
    std::string text;
    for (const std::string &term : terms)
      text += (&term == terms.data() ? "" : ",") + term;
    return text + "->" + output;
  }
};

/// For every index of all labels the product of the operands, added to the element of the result.
std::vector<double> reference(const Formula &formula,
                              const std::vector<std::vector<double>> &operands) {
  std::vector<double> result(size_t(elements(formula.shapeOf(formula.output))), 0);
  int64_t index[128], extents[128]; // of each label
  int64_t all = 1;
  for (auto [label, extent] : formula.extents)
    all *= extents[int(label)] = extent;
  auto offset = [&](const std::string &term) {
    int64_t at = 0;
    for (const char *label = term.c_str(); *label; ++label)
      at = at * extents[int(*label)] + index[int(*label)];
    return size_t(at);
  };
  for (int64_t i = 0; i < all; ++i) {
    int64_t rest = i;
    for (auto [label, extent] : formula.extents)
      index[int(label)] = rest % extent, rest /= extent;
    double product = 1;
    for (size_t operand = 0; operand < operands.size(); ++operand)
      product *= operands[operand][offset(formula.terms[operand])];
    result[offset(formula.output)] += product;
  }
  return result;
}

class Einsum : public OnDevice {
protected:
  template <class T> Tensor given(const Shape &shape, std::vector<double> &values, unsigned seed) {
    auto numbers = uniform<T>(elements(shape), -1, 1, seed);
    for (const T &number : numbers)
      values.push_back(exact(number));
    return input(shape, numbers);
  }

  template <class T>
  void expectResult(const Tensor &y, const Formula &formula,
                    const std::vector<std::vector<double>> &values, Within within) {
    auto expected = reference(formula, values);
    ASSERT_EQ(Shape(y.extents().begin(), y.extents().end()), formula.shapeOf(formula.output));
    auto results = TensorOf<T>(y).download();
    for (size_t i = 0; i < expected.size(); ++i)
      if (!expectNear<T>(results[i], expected[i], within,
                         [&] { return "element " + std::to_string(i); }))
        return;
  }
  /// In the form that allocates.
  template <class T = double> void check(const Formula &formula, Within within = {64, 1e-12}) {
    SCOPED_TRACE(formula.text());
    std::vector<std::vector<double>> values(formula.terms.size());
    std::vector<Operand> operands;
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < formula.terms.size(); ++i)
      tensors.push_back(given<T>(formula.shapeOf(formula.terms[i]), values[i], unsigned(i + 1)));
    operands.assign(tensors.begin(), tensors.end());
    expectResult<T>(ops::einsum(stream, formula.text(), operands), formula, values, within);
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, Einsum, ::testing::ValuesIn(deviceNames(Targets::One)),
                         [](const auto &run) { return testName(run.param); });

TEST_P(Einsum, Products) {
  check({{"ij", "jk"}, "ik", {{'i', 5}, {'j', 7}, {'k', 3}}});
  check({{"ij", "jk"}, "ki", {{'i', 5}, {'j', 7}, {'k', 3}}});
  check({{"ij", "j"}, "i", {{'i', 5}, {'j', 70}}});
  check({{"i", "i"}, "", {{'i', 3000}}}, {64, 1e-10});
  check({{"bi", "bi"}, "b", {{'b', 4}, {'i', 50}}});
  check({{"i", "j"}, "ji", {{'i', 5}, {'j', 7}}});
  check({{"ij", "ij"}, "ji", {{'i', 5}, {'j', 7}}});
  check({{"ij", ""}, "ij", {{'i', 5}, {'j', 7}}});
  check({{"bhqd", "bhkd"}, "bhqk", {{'b', 2}, {'h', 3}, {'q', 5}, {'k', 7}, {'d', 4}}});
  check({{"bqhd", "bkhd"}, "bhqk", {{'b', 2}, {'h', 3}, {'q', 5}, {'k', 7}, {'d', 4}}});
  // Two letters act as one: they lie so, in another order, in one operand only, across the output.
  check({{"abk", "kc"}, "abc", {{'a', 3}, {'b', 4}, {'k', 5}, {'c', 6}}});
  check({{"abk", "kc"}, "bac", {{'a', 3}, {'b', 4}, {'k', 5}, {'c', 6}}});
  check({{"abk", "kc"}, "acb", {{'a', 3}, {'b', 4}, {'k', 5}, {'c', 6}}});
  check({{"akb", "kcl"}, "abcl", {{'a', 3}, {'b', 4}, {'k', 5}, {'c', 6}, {'l', 2}}});
  check({{"ajk", "jkb"}, "ab", {{'a', 3}, {'b', 4}, {'k', 5}, {'j', 6}}});
  check({{"ajk", "kjb"}, "ab", {{'a', 3}, {'b', 4}, {'k', 5}, {'j', 6}}});
  check({{"jak", "kbj"}, "ab", {{'a', 3}, {'b', 4}, {'k', 5}, {'j', 6}}});
}

TEST_P(Einsum, SumsDiagonalsAndTransposes) {
  check({{"ij"}, "ji", {{'i', 5}, {'j', 7}}});
  check({{"ij"}, "j", {{'i', 5}, {'j', 7}}});
  check({{"ijk"}, "", {{'i', 5}, {'j', 7}, {'k', 3}}});
  check({{"ii"}, "", {{'i', 6}}});
  check({{"ii"}, "i", {{'i', 6}}});
  check({{"iji"}, "ji", {{'i', 6}, {'j', 3}}});
  check({{"iii"}, "i", {{'i', 4}}});
  check({{"iij", "jkk"}, "ik", {{'i', 4}, {'j', 5}, {'k', 3}}});
  // Letters of one operand alone are summed over first.
  check({{"ijx", "jky"}, "ik", {{'i', 4}, {'j', 5}, {'k', 3}, {'x', 6}, {'y', 2}}});
  check({{"ix", "y"}, "i", {{'i', 4}, {'x', 6}, {'y', 2}}});
}

TEST_P(Einsum, ThreeAndMoreOperands) {
  check({{"ij", "jk", "kl"}, "il", {{'i', 4}, {'j', 5}, {'k', 3}, {'l', 6}}});
  check({{"i", "ij", "j"}, "", {{'i', 14}, {'j', 15}}});
  check({{"bi", "bij", "bj"}, "b", {{'b', 3}, {'i', 4}, {'j', 5}}});
  check({{"i", "j", "k", "ijk"}, "i", {{'i', 4}, {'j', 5}, {'k', 3}}});
  check({{"ab", "b", "ab", "a"}, "ba", {{'a', 4}, {'b', 5}}});
}

TEST_P(Einsum, Dtypes) {
  Formula formula = {{"bqd", "bkd"}, "bqk", {{'b', 3}, {'q', 20}, {'k', 33}, {'d', 40}}};
  check<float>(formula, {64, 1e-5});
  check<half>(formula, {0.6, 1e-5});
  check<bfloat16>(formula, {0.6, 1e-5});
  for (const Formula &products : {Formula{{"bd", "bd"}, "b", {{'b', 3}, {'d', 700}}},
                                  {{"bd", "bd"}, "db", {{'b', 3}, {'d', 50}}}}) {
    check<float>(products, {64, 1e-5});
    check<half>(products, {0.6, 1e-5});
  }
  // 16-bit operands, f32 result: rounded once.
  std::vector<std::vector<double>> values(2);
  auto q = given<half>({3, 20, 40}, values[0], 1), k = given<half>({3, 33, 40}, values[1], 2);
  auto y = output<float>({3, 20, 33}, 2);
  ops::einsum(stream, "bqd,bkd->bqk", {q, k}, y.tensor());
  auto expected = reference(formula, values);
  expectAll(y.result(), [&](int64_t i) { return expected[size_t(i)]; }, {64, 1e-5});
}

TEST_P(Einsum, StridedOperandsAndResults) {
  // Every operand and the result is a permuted, spaced view.
  Formula formula = {{"bqhd", "bkhd"}, "bhqk", {{'b', 2}, {'h', 3}, {'q', 5}, {'k', 7}, {'d', 4}}};
  std::vector<std::vector<double>> values(2);
  auto q = given<double>({2, 5, 3, 4}, values[0], 1), k = given<double>({2, 7, 3, 4}, values[1], 2);
  auto spaced = device().tensor<double>({5, 4, 3, 2, 2}),
       wide = device().tensor<double>({7, 3, 3, 9});
  auto a = spaced.withStrides({2, 5, 3, 4}, {2, 48, 4, 12});
  auto b = wide.withStrides({2, 7, 3, 4}, {4, 81, 27, 1});
  ops::copy(stream, q, a), ops::copy(stream, k, b);
  auto memory = device().tensor<double>({7, 2, 3, 6});
  memory.fill(-9);
  auto y = memory.withStrides({2, 3, 5, 7}, {18, 6, 1, 36});
  ops::einsum(stream, formula.text(), {a, b}, y);
  auto expected = reference(formula, values);
  auto results = y.download(), all = memory.download();
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(results[i], expected[i], 1e-12) << i;
  // The gap after each row of five is as it was.
  for (size_t i = 5; i < all.size(); i += 6)
    ASSERT_EQ(all[i], -9) << i;
}

TEST_P(Einsum, ImplicitOutputsSpacesAndDots) {
  auto x = input({2, 3}, uniform<double>(6)), y = input({3, 4}, uniform<double>(12));
  auto shapeOf = [&](std::string_view text, std::initializer_list<Operand> operands) {
    Tensor result = ops::einsum(stream, text, operands);
    return Shape(result.extents().begin(), result.extents().end());
  };
  EXPECT_EQ(shapeOf("ij,jk", {x, y}), (Shape{2, 4}));
  EXPECT_EQ(shapeOf("kj,ji", {x, y}), (Shape{4, 2})) << "alphabetical";
  EXPECT_EQ(shapeOf("aB,Bc", {x, y}), (Shape{2, 4}));
  EXPECT_EQ(shapeOf("aj,jB", {x, y}), (Shape{4, 2})) << "upper case first";
  EXPECT_EQ(shapeOf(" i j , j k -> i k ", {x, y}), (Shape{2, 4}));
  EXPECT_EQ(shapeOf("ba", {x}), (Shape{3, 2})) << "a transpose";
  auto square = input({3, 3}, uniform<double>(9));
  EXPECT_EQ(shapeOf("ii", {square}), (Shape{}));
  EXPECT_EQ(shapeOf("...j,jk->...k", {x, y}), (Shape{2, 4}));
  EXPECT_EQ(shapeOf("...j,jk", {x, y}), (Shape{2, 4}));
  auto row = input({1, 3}, uniform<double>(3)), cube = input({5, 2, 3}, uniform<double>(30));
  EXPECT_EQ(shapeOf("...,...", {cube, row}), (Shape{5, 2, 3}));
  EXPECT_EQ(shapeOf("...a->a...", {cube}), (Shape{3, 5, 2}));
  EXPECT_EQ(shapeOf("...ij,...j", {cube, row}), (Shape{5, 2}));
}

TEST_P(Einsum, DotsBroadcast) {
  // The expected values are those of a formula with a letter for each dimension that the dots stand for.
  std::vector<std::vector<double>> values(2);
  auto a = given<double>({4, 1, 3, 5}, values[0], 1), b = given<double>({2, 5, 6}, values[1], 2);
  auto y = TensorOf<double>(ops::einsum(stream, "...ij,...jk->...ik", {a, b}));
  ASSERT_EQ(Shape(y.extents().begin(), y.extents().end()), (Shape{4, 2, 3, 6}));
  Formula formula = {{"aij", "bjk"}, "abik", {{'a', 4}, {'b', 2}, {'i', 3}, {'j', 5}, {'k', 6}}};
  auto expected = reference(formula, values), results = y.download();
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(results[i], expected[i], 1e-12) << i;
}

TEST_P(Einsum, ExtentsOfOneAreRepeated) {
  // The expected values are those of the formula where the repeated letter has one of its own in the operand that repeats it.
  struct Case {
    const char *text;
    Shape a, b;
    Formula same;
  };
  const Case cases[] = {
      {"ij,jk->ik", {3, 1}, {5, 2}, {{"ix", "jk"}, "ik", {{'i', 3}, {'x', 1}, {'j', 5}, {'k', 2}}}},
      {"ij,jk->ik", {3, 5}, {1, 2}, {{"ij", "xk"}, "ik", {{'i', 3}, {'x', 1}, {'j', 5}, {'k', 2}}}},
      {"bij,bjk->bik",
       {1, 3, 5},
       {4, 5, 2},
       {{"xij", "bjk"}, "bik", {{'x', 1}, {'b', 4}, {'i', 3}, {'j', 5}, {'k', 2}}}},
      {"ij,ij->", {1, 4}, {3, 1}, {{"xj", "iy"}, "", {{'x', 1}, {'y', 1}, {'i', 3}, {'j', 4}}}},
      {"ii,ij->ij", {1, 1}, {3, 4}, {{"xy", "ij"}, "ij", {{'x', 1}, {'y', 1}, {'i', 3}, {'j', 4}}}},
      {"...j,jk->k",
       {2, 3, 5},
       {5, 4},
       {{"xyj", "jk"}, "k", {{'x', 2}, {'y', 3}, {'j', 5}, {'k', 4}}}},
      {"...,...->", {2, 3}, {3}, {{"ij", "j"}, "", {{'i', 2}, {'j', 3}}}}};
  for (const Case &each : cases) {
    SCOPED_TRACE(each.text);
    std::vector<std::vector<double>> values(2);
    auto a = given<double>(each.a, values[0], 1), b = given<double>(each.b, values[1], 2);
    auto y = TensorOf<double>(ops::einsum(stream, each.text, {a, b}));
    EXPECT_EQ(Shape(y.extents().begin(), y.extents().end()), each.same.shapeOf(each.same.output));
    auto expected = reference(each.same, values), results = y.download();
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(results[i], expected[i], 1e-12) << i;
  }
}

TEST_P(Einsum, DotsThatTheResultLacksAreSummed) {
  std::vector<std::vector<double>> values(1);
  auto x = given<double>({2, 3, 4}, values[0], 1);
  auto y = TensorOf<double>(ops::einsum(stream, "...i->i", {x})).download();
  auto expected = reference({{"abi"}, "i", {{'a', 2}, {'b', 3}, {'i', 4}}}, values);
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(y[i], expected[i], 1e-12) << i;
}

TEST_P(Einsum, EmptyTensors) {
  auto none = device().tensor<float>({3, 0}), other = device().tensor<float>({0, 4});
  auto zeros = TensorOf<float>(ops::einsum(stream, "ij,jk->ik", {none, other})).download();
  EXPECT_EQ(zeros, std::vector<float>(12, 0.0f));
  EXPECT_EQ(TensorOf<float>(ops::einsum(stream, "ij->i", {none})).download(),
            std::vector<float>(3, 0.0f));
  EXPECT_EQ(TensorOf<float>(ops::einsum(stream, "ij,ij->", {none, none})).download()[0], 0);
  EXPECT_EQ(ops::einsum(stream, "ij,jk->jk", {none, other}).numel(), 0);
  auto cube = device().tensor<float>({2, 3, 0}), back = device().tensor<float>({0, 3, 2});
  EXPECT_EQ(TensorOf<float>(ops::einsum(stream, "ijk,kjl->il", {cube, back})).download(),
            std::vector<float>(4, 0.0f));
}

/// Random terms over a few letters.
Formula randomFormula(Random &random) {
  Formula formula;
  const std::string letters = "abcdeXY";
  auto below = [&](uint64_t n) { return random.bits() % n; };
  std::string used;
  for (uint64_t i = 0, count = 1 + below(3); i < count; ++i) {
    std::string term;
    for (uint64_t dim = 0, rank = below(5); dim < rank; ++dim)
      term += letters[below(letters.size())]; // twice: a diagonal
    formula.terms.push_back(term);
    used += term;
  }
  std::ranges::sort(used);
  used.erase(std::unique(used.begin(), used.end()), used.end());
  for (char label : used) {
    formula.extents[label] = int64_t(1 + below(4));
    if (below(2))
      formula.output.insert(below(formula.output.size() + 1), 1, label);
  }
  return formula;
}

TEST_P(Einsum, RandomFormulas) {
  Random random(20);
  for (int i = 0; i < 150 && !HasFailure(); ++i)
    check(randomFormula(random));
}

TEST_P(Einsum, Refusals) {
  auto x = device().tensor<float>({3, 5}), y = device().tensor<float>({7, 2});
  auto refused = [&](ErrorCode code, const std::string &words, std::string_view text,
                     std::initializer_list<Operand> operands) {
    expectRefused(code, words, [&] { ops::einsum(stream, text, operands); });
  };
  auto wrong = ErrorCode::InvalidArgument, shape = ErrorCode::InvalidShape;
  refused(shape,
          "einsum: j is 5 in operand 0 (f32 3x5), but 7 in operand 1 (f32 7x2): they must be "
          "equal, or one of them 1\n"
          "  ij,jk->ik\n"
          "     ^",
          "ij,jk->ik", {x, y});
  refused(shape, "i is 3 and 5 in operand 0 (f32 3x5): a diagonal has equal extents\n  ii\n   ^",
          "ii", {x});
  refused(shape, "operand 1 is f32 7x2, of rank 2, but its term has 3 letters\n  ij,kla\n     ^",
          "ij,kla", {x, y});
  refused(shape, "operand 0 is f32 3x5, of rank 2, but its term has 1 letter\n  i\n  ^", "i", {x});
  refused(wrong, "no operand has z\n  ij->iz\n       ^", "ij->iz", {x});
  refused(wrong, "i stands twice behind ->\n  ij->ii\n       ^", "ij->ii", {x});
  refused(wrong, "a letter, ... , a comma or -> is expected\n  i1->i\n   ^", "i1->i", {x});
  refused(wrong, "a letter, ... , a comma or -> is expected\n  i?\n   ^", "i\n", {x});
  refused(wrong, "-> is expected\n  ij-i\n    ^", "ij-i", {x});
  refused(wrong, "the formula should end here\n  ij->i,j\n       ^", "ij->i,j", {x});
  refused(wrong, "three dots are expected\n  ..ij\n  ^", "..ij", {x});
  refused(wrong, "... stands twice in a term\n  ...i...\n      ^", "...i...", {x});
  auto one = device().tensor<float>({1, 3});
  refused(shape, "i is 1 and 3 in operand 0 (f32 1x3): a diagonal has equal extents\n  ii,ij\n   ^",
          "ii,ij", {one, x});
  refused(shape,
          "a dimension of ... is 3 in operand 0 (f32 3x5), but 7 in operand 1 (f32 7x2): they must "
          "be equal, or one of them 1\n  ...,...\n      ^",
          "...,...", {x, y});
  refused(wrong, "operands given: 0; 1 to 16 are possible", "", {});
  auto five = device().tensor<float>({1, 1, 1, 1, 1});
  refused(
      ErrorCode::Unsupported,
      "a product on the way to y has 10 dimensions; at most 8 are possible: give the operands in "
      "another order",
      "abcde,fghij,abcde,fghij->a", {five, five, five, five});
  refused(wrong, "operands given: 2, but the terms end here\n  ij->i\n    ^", "ij->i", {x, y});
  refused(wrong, "operands given: 1, but there is another term\n  ij,jk\n     ^", "ij,jk", {x});
  refused(wrong, "operand 1 is f16 5x2", "ij,jk", {x, device().tensor<half>({5, 2})});
  refused(wrong, "operand 0 is i32 3; supported dtypes: f16, bf16, f32, f64", "i",
          {device().tensor<int32_t>({3})});
  expectRefused(shape, "y is f32 3x5, but the result is f32 5x3: both need the same extents", [&] {
    ops::einsum(stream, "ij->ji", {x}, device().tensor<float>({3, 5}));
  });
  expectRefused(ErrorCode::Aliasing, "y overlaps operand 1", [&] {
    auto square = device().tensor<float>({3, 3});
    ops::einsum(stream, "ij,jk->ik", {device().tensor<float>({3, 3}), square}, square);
  });
}

} // namespace
