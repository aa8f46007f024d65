// Random graphs, whose gradients a scalar autograd computes too.
#include "tests/execution/Harness.h"
#include "tests/ops/autograd/Functions.h"
#include "tests/ops/autograd/ScalarGraph.h"

#include <random>

using namespace tile;
using namespace tile::test;
using autograd::kTrained;

namespace {

EXECUTION_SUITE(RandomGraphs, Targets::One);

/// One graph of tensors and the same of numbers, one for each element.
struct Both {
  static constexpr int64_t kElements = 3;
  std::vector<Variable> variables;
  ScalarGraph scalars[kElements];

  void leaf(const Stream &stream, const std::vector<double> &values, autograd::Role role) {
    auto tensor = stream.tensor<double>({kElements});
    tensor.upload(values);
    variables.emplace_back(stream, tensor, role);
    for (size_t i = 0; i < kElements; ++i)
      scalars[i].leaf(values[i]);
  }
  void step(std::mt19937 &random) {
    auto pick = [&] { return int(random() % variables.size()); };
    int a = pick(), b = pick();
    auto of = [&](int node) -> const Variable & { return variables[size_t(node)]; };
    switch (random() % 3) {
    case 0:
      variables.push_back(of(a) + of(b));
      return each([&](ScalarGraph &graph) { graph.sum(a, b); });
    case 1:
      variables.push_back(of(a) * of(b));
      return each([&](ScalarGraph &graph) { graph.product(a, b); });
    default:
      variables.push_back(scale(of(a), -0.75));
      return each([&](ScalarGraph &graph) { graph.scaled(a, -0.75); });
    }
  }
  template <class F> void each(F f) {
    for (ScalarGraph &graph : scalars)
      f(graph);
  }
};

void expectNear(const Tensor &tensor, const Both &both, auto reference, const std::string &what) {
  std::vector<double> values =
      tensor ? TensorOf<double>(tensor).download() : std::vector<double>(Both::kElements, 0.0);
  for (size_t i = 0; i < Both::kElements; ++i) {
    double expected = reference(both.scalars[i]);
    ASSERT_NEAR(values[i], expected, 1e-9 * std::max(1.0, std::abs(expected))) << what;
  }
}

TEST_P(RandomGraphs, MatchAScalarAutograd) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("graph " + std::to_string(seed));
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    Both both;
    for (int i = 0; i < 4; ++i)
      both.leaf(stream, {uniform(random), uniform(random), uniform(random)},
                i == 3 ? autograd::kInput : kTrained);
    for (int i = 0; i < 25; ++i)
      both.step(random);
    int output = int(both.variables.size()) - 1;
    while (!both.variables[size_t(output)].requiresGrad())
      --output;
    const Variable &y = both.variables[size_t(output)];
    auto ones = stream.tensor<double>({Both::kElements});
    ones.fill(1);

    std::vector<Variable> wanted;
    std::vector<int> nodes;
    for (int node = 0; node <= output; node += 1 + int(random() % 4))
      if (both.variables[size_t(node)].requiresGrad())
        wanted.push_back(both.variables[size_t(node)]), nodes.push_back(node);
    Tensor seeds[] = {ones};
    auto gradients = autograd::grad({&y, 1}, wanted, seeds, {.retainGraph = true});
    for (size_t i = 0; i < nodes.size(); ++i)
      expectNear(
          gradients[i], both,
          [&](const ScalarGraph &graph) { return graph.gradients(output, 1)[size_t(nodes[i])]; },
          "grad() of node " + std::to_string(nodes[i]));

    y.backward(ones);
    expectNear(
        y.value(), both, [&](const ScalarGraph &graph) { return graph.value(output); }, "value");
    for (int node = 0; node < 3; ++node)
      expectNear(
          both.variables[size_t(node)].grad(), both,
          [&](const ScalarGraph &graph) { return graph.gradients(output, 1)[size_t(node)]; },
          "leaf " + std::to_string(node));
  }
  EXPECT_EQ(autograd::liveNodes(), 0u);
}

} // namespace
