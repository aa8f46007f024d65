// Sums over programs of a launch: one launch after the other, of several sizes, in graphs. Elsewhere under every schedule.
#include "tests/execution/Harness.h"

#include <tile/Graph.h>

namespace tile::test {
namespace {

EXECUTION_SUITE(GridSums, Targets::One);

constexpr int64_t kElements = 512;

/// y[i] is the sum of `parts` tiles of x that follow each other.
const auto sums = kernel("sums_of_programs", [](In<f32, 1> x, Out<f32, 1> y, Const parts) {
  Value program = program_id(0);
  grid_sum(x.tile({kElements})(program), parts,
           [&](const Value &sum) { y.tile({kElements})(program / int64_t{parts}) = sum; });
});

// Numbers whose sum depends on the order of additions show it.
std::vector<float> summands(int64_t programs) {
  std::vector<float> values;
  for (int64_t i = 0; i < programs * kElements; ++i)
    values.push_back((i / kElements % 2 ? 1e7f : 1.f) / static_cast<float>(3 + i % 1000));
  return values;
}

void expectSums(const TensorOf<float> &y, const std::vector<float> &x, int parts) {
  std::vector<float> result = y.download();
  for (size_t i = 0; i < result.size(); ++i) {
    size_t first = i / kElements * static_cast<size_t>(parts) * kElements + i % kElements;
    float sum = x[first];
    for (int part = 1; part < parts; ++part)
      sum += x[first + static_cast<size_t>(part) * kElements];
    ASSERT_EQ(result[i], sum) << "element " << i << " of " << parts << " parts";
  }
}

TEST_P(GridSums, HaveTheirOrderInEveryLaunch) {
  for (auto [groups, parts] : {std::pair{1, 2}, {40, 8}, {3, 5}, {700, 2}, {1, 256}}) {
    std::vector<float> values = summands(groups * parts);
    auto x = device().tensor<float>({groups * parts * kElements}, values),
         y = device().tensor<float>({groups * kElements});
    auto launcher = sums.consts(parts).grid(groups * parts);
    for (int launch = 0; launch < 3; ++launch)
      launcher(stream, x, y);
    stream.synchronize();
    expectSums(y, values, parts);
  }
}

TEST_P(GridSums, HaveTheirOrderInReplays) {
  std::vector<float> values = summands(24);
  auto x = device().tensor<float>({24 * kElements}, values),
       y = device().tensor<float>({6 * kElements}), z = device().tensor<float>({3 * kElements});
  auto work = [&] {
    sums.consts(4).grid(24)(stream, x, y);
    sums.consts(2).grid(6)(stream, y, z);
  };
  Graph graph = Graph::capture(stream, work);
  for (int i = 0; i < 3; ++i) {
    graph.replay(stream);
    work();
  }
  stream.synchronize();
  expectSums(y, values, 4);
  expectSums(z, y.download(), 2);
}

} // namespace
} // namespace tile::test
