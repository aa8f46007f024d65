// The kernel that stands beside one by hand in bench/static: the gradient of attention, as the op's is.
#include "bench/static/GradientBy80Queries.h"
#include "tests/execution/Harness.h"
#include "tests/ops/AttentionReference.h"

namespace tile::test {
namespace {

constexpr int64_t kTile = 80, kHead = 128;

Doubles wide(const std::vector<bfloat16> &x) {
  Doubles result;
  for (bfloat16 value : x)
    result.push_back(exact(value));
  return result;
}

/// What the kernel is given a row, for whole tiles of queries.
struct RowSums {
  std::vector<float> shift, delta;

  RowSums(const AttentionCase &c, int64_t padded, const AttentionReference &forward,
          const Doubles &dout)
      : shift(static_cast<size_t>(c.batches * c.heads * padded), -INFINITY), delta(shift.size()) {
    for (int64_t row = 0; row < c.rows(); ++row) {
      auto at = static_cast<size_t>(row / c.queries * padded + row % c.queries);
      shift[at] = static_cast<float>(-forward.lse[static_cast<size_t>(row)] / std::log(2));
      delta[at] =
          static_cast<float>(rowProduct(forward.out, row * kHead, dout, row * kHead, kHead));
    }
  }
};

/// Where the kernel adds up the element of dq in a row of a head, which is a column there; see asThreadsHold.
int64_t placeOf(int64_t column, int64_t query, int64_t padded) {
  int64_t h = query / 8 % 2, t = query / 2 % 4, e = query % 2;
  int64_t block = query / 16;
  return column / 8 * 8 * padded + block * 128 + column % 8 * 16 + 4 * t + 2 * h + e;
}

EXECUTION_SUITE(GradientBy80Queries);

// More tiles of queries than a ring has slots; the last tiles are cut.
TEST_P(GradientBy80Queries, IsThatOfAttention) {
  if (device().target() != "sm_90a")
    GTEST_SKIP() << "without wgmma a thread has too few registers for its tiles";
  const AttentionCase c = {1, 2, 2, 4 * kTile + 10, 200, kHead, false, 0.1};
  const int64_t padded = 5 * kTile;
  auto values = [](int64_t count, double most, uint64_t seed) {
    return uniform<bfloat16>(count, -most, most, seed);
  };
  auto q = values(c.queryNumel(), 2, 1), k = values(c.keyNumel(), 2, 2),
       v = values(c.keyNumel(), 1, 3), dout = values(c.queryNumel(), 1, 4);
  AttentionReference expected(c, wide(q), wide(k), wide(v));
  RowSums rows(c, padded, expected, wide(dout));
  expected.backward(wide(dout));

  const std::vector<int64_t> ofQueries = {1, c.heads, c.queries, kHead},
                             ofKeys = {1, c.heads, c.keys, kHead}, ofRows = {1, c.heads, padded};
  auto dq =
      device().tensor<float>({1, c.heads, kHead / 8, 8 * padded},
                             std::vector<float>(static_cast<size_t>(c.heads * kHead * padded)));
  auto dk = device().tensor<bfloat16>(ofKeys), dv = device().tensor<bfloat16>(ofKeys);
  bench::gradientBy80Queries(stream, input(ofQueries, q), input(ofKeys, k), input(ofKeys, v),
                             input(ofQueries, dout), input(ofRows, rows.shift),
                             input(ofRows, rows.delta), dq, dk, dv, static_cast<float>(c.scale));

  auto near = [](const Doubles &reference) {
    double largest = 0;
    for (double x : reference)
      largest = std::max(largest, std::abs(x));
    return Within{0.51, 3e-3 * largest};
  };
  expectAll(
      dk.download(), [&](int64_t i) { return expected.dk[size_t(i)]; }, near(expected.dk));
  expectAll(
      dv.download(), [&](int64_t i) { return expected.dv[size_t(i)]; }, near(expected.dv));
  std::vector<float> sums = dq.download(), inOrder;
  for (int64_t row = 0; row < c.rows(); ++row)
    for (int64_t column = 0; column < kHead; ++column) {
      int64_t query = row % c.queries, head = row / c.queries;
      int64_t at = head * kHead * padded + placeOf(column, query, padded);
      inOrder.push_back(sums[static_cast<size_t>(at)] * static_cast<float>(c.scale));
    }
  expectAll(
      inOrder, [&](int64_t i) { return expected.dq[size_t(i)]; }, near(expected.dq));
}

} // namespace
} // namespace tile::test
