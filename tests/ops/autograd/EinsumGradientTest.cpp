// The gradients of einsum: formulas of every kind, random ones too.
#include "tests/ops/autograd/Gradients.h"

#include <tile/autograd/Einsum.h>
#include <tile/autograd/Ops.h>

#include <map>

using namespace tile;
using namespace tile::test;
using namespace tile::autograd;

namespace {

class EinsumGradients : public Gradients {
protected:
  void check(const std::string &formula, std::vector<Variable> operands) {
    SCOPED_TRACE(formula);
    EXPECT_EQ(gradcheck([&](std::span<const Variable> v) { return einsum(formula, v); }, operands),
              "");
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, EinsumGradients, ::testing::ValuesIn(deviceNames()),
                         [](const auto &run) { return testName(run.param); });

TEST_P(EinsumGradients, Products) {
  check("ij,jk->ik", {leaf({3, 5}), leaf({5, 4}, 2)});
  check("ij,jk->ki", {stridedLeaf(3, 5), stridedLeaf(5, 4, 2)});
  check("bhqd,bhkd->bhqk", {leaf({2, 2, 3, 2}), leaf({2, 2, 4, 2}, 2)});
  check("i,j", {leaf({3}), leaf({4}, 2)});
  check("i,i->", {leaf({5}), leaf({5}, 2)});
  check("ij,jk,kl->il", {leaf({3, 2}), leaf({2, 4}, 2), leaf({4, 3}, 3)});
}

TEST_P(EinsumGradients, LettersOfOneOperandAlone) {
  check("ij->", {leaf({3, 4})});
  check("ijx,jky->ik", {leaf({2, 3, 2}), leaf({3, 2, 2}, 2)});
  check("x,ij->ji", {leaf({3}), leaf({2, 2}, 2)});
}

TEST_P(EinsumGradients, Diagonals) {
  check("ii->", {leaf({4, 4})});
  check("iij,jk->ik", {leaf({3, 3, 2}), leaf({2, 2}, 2)});
  check("iii->i", {leaf({3, 3, 3})});
  check("ixx,i->", {leaf({2, 3, 3}), leaf({2}, 2)});
}

TEST_P(EinsumGradients, Dots) {
  check("...ij,...jk->...ik", {leaf({2, 1, 2, 3}), leaf({3, 3, 2}, 2)});
  check("...a->a...", {leaf({2, 3, 2})});
  check("a...,b...->ab...", {leaf({2, 1}), leaf({3, 2, 3}, 2)});
}

TEST_P(EinsumGradients, OneVariableTwice) {
  EXPECT_EQ(gradcheck(
                [](std::span<const Variable> v) {
                  return einsum("ij,kj->ik", {v[0], v[0]});
                },
                {leaf({3, 4})}),
            "");
}

TEST_P(EinsumGradients, OperandsThatAreNotTrained) {
  auto right = uniform<double>(8);
  Variable a = leaf({3, 4}), b(stream, input({4, 2}, right));
  einsum("ij,jk->ik", {a, b}).backward(input({3, 2}, std::vector<double>(6, 1.0)));
  auto slopes = TensorOf<double>(a.grad()).download();
  for (size_t i = 0; i < 12; ++i)
    ASSERT_NEAR(slopes[i], right[i % 4 * 2] + right[i % 4 * 2 + 1], 1e-14) << i;
}

TEST_P(EinsumGradients, RandomFormulas) {
  Random random(11);
  auto below = [&](uint64_t n) { return random.bits() % n; };
  const std::string letters = "abcd";
  for (int round = 0; round < 30 && !HasFailure(); ++round) {
    std::map<char, int64_t> extents;
    for (char letter : letters)
      extents[letter] = int64_t(1 + below(3));
    std::string formula, used;
    std::vector<Variable> operands;
    for (uint64_t i = 0, count = 1 + below(3); i < count; ++i) {
      std::vector<int64_t> shape;
      formula += i ? "," : "";
      for (uint64_t dim = 0, rank = below(4); dim < rank; ++dim) {
        char letter = letters[below(letters.size())];
        formula += letter, used += letter;
        shape.push_back(extents[letter]);
      }
      operands.push_back(leaf(shape, unsigned(i + 1)));
    }
    formula += "->";
    for (char letter : letters)
      if (used.find(letter) != std::string::npos && below(2))
        formula += letter;
    check(formula, operands);
  }
}

} // namespace
