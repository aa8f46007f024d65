// attention: lengths round its tiles, head sizes, dtypes, causality, grouped heads, memory orders,
// special values, the gradient, refusals.
#include "tests/execution/Assembly.h"
#include "tests/execution/Harness.h"
#include "tests/ops/AttentionReference.h"
#include "tests/ops/Refusals.h"

#include <tile/ops/Attention.h>

using namespace tile;
using namespace tile::test;

namespace {

const bool gate = assembleEverything(Spills::Forbidden, Share::Half);

template <class T> Doubles wide(const std::vector<T> &x) {
  Doubles result;
  for (T value : x)
    result.push_back(exact(value));
  return result;
}

std::string describe(const AttentionCase &c) {
  std::string text = std::to_string(c.batches) + "x" + std::to_string(c.heads) + "/" +
                     std::to_string(c.keyHeads) + ", " + std::to_string(c.queries) + " queries, " +
                     std::to_string(c.keys) + " keys of " + std::to_string(c.head);
  return text + (c.causal ? ", causal" : "");
}

ops::AttentionOptions optionsOf(const AttentionCase &c, Precision precision) {
  return {.scale = float(c.scale), .causal = c.causal, .precision = precision};
}

ops::AttentionOptions inAnyOrder(ops::AttentionOptions options) {
  options.deterministic = false;
  return options;
}

class AttentionOp : public OnDevice {
protected:
  /// In memory as B x L x H x D.
  template <class T> TensorOf<T> headsInside(const TensorOf<T> &x) {
    auto memory = device().template tensor<T>({x.extent(0), x.extent(2), x.extent(1), x.extent(3)});
    auto result = memory.permute({0, 2, 1, 3});
    result.upload(x.download());
    return result;
  }
  template <class T> TensorOf<T> queriesOf(const AttentionCase &c, const std::vector<T> &x) {
    return input({c.batches, c.heads, c.queries, c.head}, x);
  }
  template <class T> TensorOf<T> keysOf(const AttentionCase &c, const std::vector<T> &x) {
    return input({c.batches, c.keyHeads, c.keys, c.head}, x);
  }
  template <class T> Guarded<T, 4> queryOutput(const AttentionCase &c) {
    return output<T>({c.batches, c.heads, c.queries, c.head}, 3);
  }
  template <class T> Guarded<T, 4> keyOutput(const AttentionCase &c) {
    return output<T>({c.batches, c.keyHeads, c.keys, c.head}, 5);
  }

  /// Tolerances of `out`, relative to weights of 1, and of lse.
  template <class T>
  void check(const AttentionCase &c, double tolerance, Precision precision = Precision::tf32x3) {
    SCOPED_TRACE(describe(c));
    auto q = uniform<T>(c.queryNumel(), -2, 2, 1), k = uniform<T>(c.keyNumel(), -2, 2, 2),
         v = uniform<T>(c.keyNumel(), -1, 1, 3);
    auto out = queryOutput<T>(c);
    auto lse = output<float>({c.batches, c.heads, c.queries}, 2);
    ops::attention(stream, queriesOf(c, q), keysOf(c, k), keysOf(c, v), out.tensor(), lse.tensor(),
                   optionsOf(c, precision));
    AttentionReference expected(c, wide(q), wide(k), wide(v));
    expectAll(out.result(), [&](int64_t i) { return expected.out[size_t(i)]; }, {0.51, tolerance});
    double scoreTolerance = sizeof(T) == 2 ? 2e-5 : tolerance * 8;
    expectAll(lse.result(), [&](int64_t i) { return expected.lse[size_t(i)]; },
              {2, scoreTolerance});
  }

  /// Tolerance relative to the largest element of each gradient.
  template <class T>
  void checkGradient(const AttentionCase &c, double tolerance,
                     Precision precision = Precision::tf32x3) {
    checkGradient<T>(c, tolerance, optionsOf(c, precision));
  }
  template <class T>
  void checkGradient(const AttentionCase &c, double tolerance,
                     const ops::AttentionOptions &options) {
    SCOPED_TRACE(describe(c));
    auto q = uniform<T>(c.queryNumel(), -2, 2, 1), k = uniform<T>(c.keyNumel(), -2, 2, 2),
         v = uniform<T>(c.keyNumel(), -1, 1, 3), dout = uniform<T>(c.queryNumel(), -1, 1, 4);
    auto deviceQ = queriesOf(c, q), deviceDout = queriesOf(c, dout);
    auto deviceK = keysOf(c, k), deviceV = keysOf(c, v);
    auto out = device().template tensor<T>({c.batches, c.heads, c.queries, c.head});
    auto lse = device().tensor<float>({c.batches, c.heads, c.queries});
    ops::attention(stream, deviceQ, deviceK, deviceV, out, lse, options);
    auto dq = queryOutput<T>(c), dk = keyOutput<T>(c), dv = keyOutput<T>(c);
    ops::attentionBackward(stream, deviceQ, deviceK, deviceV, out, lse, deviceDout, dq.tensor(),
                           dk.tensor(), dv.tensor(), options);
    AttentionReference expected(c, wide(q), wide(k), wide(v));
    expected.backward(wide(dout));
    expectGradient("dq", dq.result(), expected.dq, tolerance);
    expectGradient("dk", dk.result(), expected.dk, tolerance);
    expectGradient("dv", dv.result(), expected.dv, tolerance);
  }
  template <class T>
  void expectGradient(const char *name, const std::vector<T> &got, const Doubles &expected,
                      double tolerance) {
    SCOPED_TRACE(name);
    double largest = 0.01; // of inputs near 1; exact zeros come out of differences
    for (double x : expected)
      largest = std::max(largest, std::abs(x));
    expectAll(got, [&](int64_t i) { return expected[size_t(i)]; }, {0.51, tolerance * largest});
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, AttentionOp, ::testing::ValuesIn(deviceNames()),
                         [](const auto &run) { return testName(run.param); });

constexpr double kF16 = 4e-4, kBf16 = 3e-3, kF32 = 4e-6, kTf32 = 3e-3;

TEST_P(AttentionOp, LengthsRoundTheTiles) {
  for (auto [queries, keys] : {std::pair<int64_t, int64_t>{1, 1},
                               {1, 100},
                               {7, 3},
                               {16, 64},
                               {17, 65},
                               {63, 64},
                               {64, 63},
                               {65, 129},
                               {130, 70}})
    for (bool causal : {false, true})
      check<half>({1, 2, 2, queries, keys, 32, causal}, kF16);
}

// Tiles of keys that the diagonal or the last key cuts are looked at, others are not: just before, at and just after
// each border of tiles of 64 x 64, 128 x 32 and 64 x 32.
TEST_P(AttentionOp, MasksAtTileBorders) {
  for (bool causal : {false, true}) {
    for (auto [queries, keys] : {std::pair<int64_t, int64_t>{64, 128},
                                 {64, 127},
                                 {64, 129},
                                 {128, 128},
                                 {128, 65},
                                 {129, 128},
                                 {127, 192},
                                 {65, 64}})
      check<half>({1, 1, 1, queries, keys, 16, causal}, kF16);
    for (auto [queries, keys] :
         {std::pair<int64_t, int64_t>{128, 64}, {128, 63}, {128, 65}, {129, 160}, {64, 33}})
      check<half>({1, 1, 1, queries, keys, 128, causal, 0.1}, kF16);
    check<float>({1, 1, 1, 64, 65, 32, causal}, kF32);
    for (auto [queries, keys] : {std::pair<int64_t, int64_t>{64, 128}, {65, 127}, {128, 129}})
      checkGradient<half>({1, 1, 1, queries, keys, 32, causal}, 2e-3);
  }
}

// From so many queries on three teams read the same keys on sm_90a, one of which may have none of the queries.
TEST_P(AttentionOp, TeamsOfQueries) {
  check<half>({1, 1, 1, 1540, 200, 64, false}, kF16);
  check<half>({1, 2, 1, 1540, 260, 48, true}, kF16);
  check<bfloat16>({1, 1, 1, 1730, 1740, 16, true}, kBf16);
}

// Beyond 8192 keys tiles of heads of 128 have 176 keys on sm_90a, of which the last has 106, 98 and 176.
TEST_P(AttentionOp, ManyKeys) {
  check<half>({1, 1, 1, 70, 8202, 128, false, 0.1}, kF16);
  check<bfloat16>({1, 1, 1, 130, 8194, 128, true, -0.1}, kBf16);
  check<half>({1, 1, 1, 70, 8272, 128, true, 0.1}, kF16);
}

TEST_P(AttentionOp, HeadSizes) {
  for (int64_t head : {1, 16, 17, 40, 64, 80, 96, 128, 160, 192, 250, 256})
    check<half>({1, 1, 1, 70, 90, head, head % 3 == 1, 2 / std::sqrt(double(head))}, kF16);
}

TEST_P(AttentionOp, DtypesAndPrecisions) {
  for (int64_t head : {33, 64, 128, 256}) {
    AttentionCase c = {1, 2, 1, 67, 75, head, true, 2 / std::sqrt(double(head))};
    check<bfloat16>(c, kBf16);
    check<float>(c, kF32);
    check<float>(c, kF32, Precision::ieee);
    check<float>(c, kTf32, Precision::tf32);
  }
  check<float>({1, 1, 1, 40, 50, 96, false, 0.2}, kF32); // the last size of tf32x3
}

// Weights add up to 1 and |v| is at most 1: a tile of 64 keys is rounded to f16 8 times at most, weights once each.
TEST_P(AttentionOp, ValuesSummedInF16) {
  constexpr double kOfTiles = 64 / 8 * 0x1p-11, kOfWeights = 0x1p-11;
  for (bool causal : {false, true})
    for (int64_t head : {32, 128}) {
      AttentionCase c{1, 2, 1, 70, 150, head, causal};
      SCOPED_TRACE(describe(c));
      auto q = uniform<half>(c.queryNumel(), -2, 2, 1), k = uniform<half>(c.keyNumel(), -2, 2, 2),
           v = uniform<half>(c.keyNumel(), -1, 1, 3);
      auto out = queryOutput<half>(c), usual = queryOutput<half>(c);
      auto lse = output<float>({c.batches, c.heads, c.queries}, 2);
      ops::AttentionOptions options = optionsOf(c, Precision::tf32x3);
      ops::attention(stream, queriesOf(c, q), keysOf(c, k), keysOf(c, v), usual.tensor(), options);
      options.accumulator = f16;
      ops::attention(stream, queriesOf(c, q), keysOf(c, k), keysOf(c, v), out.tensor(),
                     lse.tensor(), options);
      AttentionReference expected(c, wide(q), wide(k), wide(v));
      std::vector<half> got = out.result(), wider = usual.result();
      expectAll(got, [&](int64_t i) { return expected.out[size_t(i)]; },
                {0.51, kOfTiles + kOfWeights});
      expectAll(lse.result(), [&](int64_t i) { return expected.lse[size_t(i)]; }, {2, 2e-5});
      bool areEqual = std::ranges::equal(
          got, wider, {}, [](half x) { return float(x); }, [](half x) { return float(x); });
      EXPECT_FALSE(areEqual) << "sums of f16 round otherwise than those of f32";
    }
}

TEST_P(AttentionOp, GroupedHeadsAndBatches) {
  for (auto [heads, keyHeads] : {std::pair<int64_t, int64_t>{6, 1}, {6, 2}, {6, 3}, {6, 6}})
    for (bool causal : {false, true})
      check<half>({3, heads, keyHeads, 20, 30, 16, causal}, kF16);
}

TEST_P(AttentionOp, EmptyExtentsAndRowsThatSeeNothing) {
  check<half>({2, 2, 2, 5, 0, 32}, 0);            // no keys: 0 and -infinity
  check<half>({1, 2, 1, 90, 20, 32, true}, kF16); // the first 70 queries see none
  check<half>({0, 2, 1, 5, 5, 32}, 0);
  check<half>({2, 0, 0, 5, 5, 32}, 0);
  check<half>({2, 2, 1, 0, 5, 32}, 0);
}

TEST_P(AttentionOp, MemoryOrders) {
  AttentionCase c = {2, 4, 2, 37, 45, 48, true};
  auto q = uniform<half>(c.queryNumel(), -2, 2, 1), k = uniform<half>(c.keyNumel(), -2, 2, 2),
       v = uniform<half>(c.keyNumel(), -1, 1, 3);
  AttentionReference expected(c, wide(q), wide(k), wide(v));
  auto inside = output<half>({c.batches, c.queries, c.heads, c.head}, 3);
  auto out = inside.tensor().permute({0, 2, 1, 3});
  ops::attention(stream, headsInside(queriesOf(c, q)), headsInside(keysOf(c, k)), keysOf(c, v), out,
                 optionsOf(c, Precision::tf32x3));
  inside.result();
  expectAll(out.download(), [&](int64_t i) { return expected.out[size_t(i)]; }, {0.51, kF16});
  // No dimension of unit stride, and k transposed.
  auto spread =
      device()
          .tensor<half>({c.batches, c.heads, c.queries, 2 * c.head})
          .withStrides({c.batches, c.heads, c.queries, c.head},
                       {c.heads * c.queries * 2 * c.head, c.queries * 2 * c.head, 2 * c.head, 2});
  spread.upload(q);
  auto turned =
      device().tensor<half>({c.batches, c.keyHeads, c.head, c.keys}).permute({0, 1, 3, 2});
  turned.upload(k);
  Tensor result =
      ops::attention(stream, spread, turned, keysOf(c, v), optionsOf(c, Precision::tf32x3));
  expectAll(TensorOf<half>(result).download(), [&](int64_t i) { return expected.out[size_t(i)]; },
            {0.51, kF16});
}

TEST_P(AttentionOp, DefaultScaleAndExtremeOnes) {
  AttentionCase c = {1, 1, 1, 20, 70, 64, false, 0.125};
  auto q = uniform<half>(c.queryNumel(), -2, 2, 1), k = uniform<half>(c.keyNumel(), -2, 2, 2),
       v = uniform<half>(c.keyNumel(), -1, 1, 3);
  AttentionReference expected(c, wide(q), wide(k), wide(v));
  Tensor out = ops::attention(stream, queriesOf(c, q), keysOf(c, k), keysOf(c, v));
  expectAll(TensorOf<half>(out).download(), [&](int64_t i) { return expected.out[size_t(i)]; },
            {0.51, kF16});
  for (double scale : {0.0, -0.3, 100.0})
    check<float>({1, 1, 1, 20, 70, 64, false, scale}, std::max(1.0, scale) * kF32);
}

TEST_P(AttentionOp, ScalesOfEitherSign) {
  for (double scale : {-0.3, 0.0, 1e-39, -1e-39, 1e-20})
    for (bool causal : {false, true}) {
      check<half>({1, 2, 1, 90, 150, 32, causal, scale}, kF16);
      check<half>({1, 2, 1, 90, 20, 32, causal, scale}, kF16); // rows that see nothing
      check<float>({1, 1, 1, 70, 100, 32, causal, scale}, kF32);
      checkGradient<half>({1, 2, 1, 70, 90, 32, causal, scale}, 2e-3);
    }
}

// Scores of such size are far apart: the largest alone weigh, all the same, and what was summed up before they came
// fades. At the edge the way in which exponents are rounded changes.
TEST_P(AttentionOp, LargeScoresWeighAsTheyCompare) {
  AttentionCase c = {1, 1, 1, 4, 160, 16, false, 1};
  constexpr float kEdge = 0x1p23f / 1.44269504f; // the exponent is in base 2
  std::array<float, 5> tops = {1e3f, kEdge * 0.999f, kEdge * 1.001f, 1.3f * kEdge, 1e9f};
  auto v = uniform<float>(c.keyNumel(), -1, 1, 3);
  for (bool isRising : {true, false}) {
    SCOPED_TRACE(isRising);
    std::vector<float> q(size_t(c.queryNumel())), k(size_t(c.keyNumel()));
    for (size_t row = 0; row < 4; ++row)
      q[row * 16] = std::array{1.0f, -1.0f, 0.25f, -64.0f}[row];
    for (size_t key = 0; key < 160; ++key) // of each 32 keys the last two have the largest score
      k[key * 16] = tops[isRising ? key / 32 : 4 - key / 32] * (key % 32 < 30 ? 0.5f : 1.0f);
    auto out = queryOutput<float>(c);
    auto lse = output<float>({1, 1, 4}, 2);
    ops::attention(stream, queriesOf(c, q), keysOf(c, k), keysOf(c, v), out.tensor(), lse.tensor(),
                   {.scale = 1.0f, .precision = Precision::ieee});
    AttentionReference expected(c, wide(q), wide(k), wide(v));
    expectAll(out.result(), [&](int64_t i) { return expected.out[size_t(i)]; }, {0.51, 1e-6});
    expectAll(lse.result(), [&](int64_t i) { return expected.lse[size_t(i)]; }, {2, 1e-4});
  }
}

TEST_P(AttentionOp, SpecialValues) {
  AttentionCase c = {1, 1, 1, 6, 40, 16, false, 1};
  std::vector<float> q(size_t(c.queryNumel()), 0.0f), k(size_t(c.keyNumel()), 1.0f),
      v = uniform<float>(c.keyNumel());
  for (int64_t d = 0; d < 16; ++d)
    q[size_t(16 + d)] = -INFINITY; // all scores -infinity: nothing seen
  q[2 * 16] = NAN, q[3 * 16] = INFINITY, q[4 * 16] = 1e30f, q[5 * 16] = -1e30f;
  auto out = output<float>({1, 1, 6, 16});
  auto lse = output<float>({1, 1, 6});
  ops::attention(stream, queriesOf(c, q), keysOf(c, k), keysOf(c, v), out.tensor(), lse.tensor(),
                 {.scale = 1.0f, .precision = Precision::ieee});
  auto results = out.result(), logs = lse.result();
  for (int64_t d = 0; d < 16; ++d) {
    double mean = 0;
    for (int64_t j = 0; j < 40; ++j)
      mean += exact(v[size_t(j * 16 + d)]) / 40;
    for (int64_t row : {0, 4, 5})
      EXPECT_NEAR(results[size_t(row * 16 + d)], mean, 1e-6) << "row " << row;
    EXPECT_EQ(results[size_t(16 + d)], 0);
    EXPECT_TRUE(std::isnan(results[size_t(2 * 16 + d)]));
    EXPECT_TRUE(std::isnan(results[size_t(3 * 16 + d)]));
  }
  EXPECT_NEAR(logs[0], std::log(40.0), 1e-5);
  EXPECT_EQ(logs[1], -INFINITY);
  EXPECT_TRUE(std::isnan(logs[2]) && std::isnan(logs[3]));
  EXPECT_NEAR(logs[4], 1e30, 1e24);
}

TEST_P(AttentionOp, HiddenKeysReachNoRow) {
  AttentionCase c = {1, 2, 1, 40, 50, 16, true, 0.3};
  auto q = uniform<half>(c.queryNumel(), -2, 2, 1), k = uniform<half>(c.keyNumel(), -2, 2, 2),
       v = uniform<half>(c.keyNumel(), -1, 1, 3);
  AttentionReference expected(c, wide(q), wide(k), wide(v));
  for (half spoilt : {half(NAN), half(INFINITY), half(-INFINITY)}) {
    auto hidden = k;
    std::fill(hidden.end() - c.head, hidden.end(),
              spoilt); // the last key, which the last query sees
    auto out = queryOutput<half>(c);
    ops::attention(stream, queriesOf(c, q), keysOf(c, hidden), keysOf(c, v), out.tensor(),
                   optionsOf(c, Precision::tf32x3));
    auto results = out.result();
    for (int64_t i = 0; i < c.queryNumel(); ++i) {
      bool seesIt = i / c.head % c.queries == c.queries - 1;
      double result = exact(results[size_t(i)]);
      ASSERT_TRUE(seesIt || std::abs(result - expected.out[size_t(i)]) <= 1e-3) << i;
      ASSERT_TRUE(!seesIt || !std::isnan(exact(spoilt)) || std::isnan(result)) << i;
    }
  }
}

// That they spill no registers the gate of this program sees.
TEST_P(AttentionOp, TilesOfAllHeadSizes) {
  auto launch = [&]<class T>(const Device &on, int64_t head, Precision precision, T) {
    auto q = on.tensor<T>({1, 1, 64, head}, std::vector<T>(size_t(64 * head)));
    auto lse = on.tensor<float>({1, 1, 64});
    auto out = on.tensor<T>({1, 1, 64, head});
    ops::AttentionOptions options = {.causal = head % 16 == 0, .precision = precision};
    Stream onStream = on.stream();
    ops::attention(onStream, q, q, q, out, lse, options);
    ops::attentionBackward(onStream, q, q, q, out, lse, q, options);
    for (T x : TensorOf<T>(out).download())
      ASSERT_EQ(exact(x), 0);
  };
  for (int64_t head : {24, 105, 176, 192, 208})
    launch(device(), head, Precision::tf32x3, bfloat16());
  for (int64_t head : {56, 80, 96})
    launch(device(), head, Precision::tf32x3, 0.0f);
  launch(device(), 105, Precision::tf32, 0.0f);
  Device hopper = Device::open("virtual:sm_90a");
  launch(hopper, 128, Precision::tf32x3, half());
  launch(hopper, 64, Precision::tf32x3, 0.0f);
}

// GPUs whose blocks have 99 KB of shared memory: tiles are smaller there.
class AttentionInLittleMemory : public AttentionOp {};
INSTANTIATE_TEST_SUITE_P(Devices, AttentionInLittleMemory,
                         ::testing::Values("virtual:sm_86", "virtual:sm_89"),
                         [](const auto &run) { return testName(run.param); });

TEST_P(AttentionInLittleMemory, WideHeadsOfFloats) {
  auto caseOf = [](int64_t queries, int64_t head) {
    return AttentionCase{1, 2, 1, queries, queries + 7, head, true, 2 / std::sqrt(double(head))};
  };
  for (int64_t head : {200, 256})
    check<float>(caseOf(33, head), kF32);
  for (int64_t head : {128, 256})
    checkGradient<float>(caseOf(33, head), kF32);
}

TEST_P(AttentionOp, GradientOfLengthsAndHeads) {
  for (auto [queries, keys] : {std::pair<int64_t, int64_t>{1, 1}, {7, 40}, {65, 33}, {70, 130}})
    for (bool causal : {false, true})
      checkGradient<half>({2, 4, 2, queries, keys, 32, causal}, 2e-3);
  for (int64_t head : {1, 40, 64, 80, 128, 192, 200, 256})
    checkGradient<half>({1, 2, 1, 40, 70, head, true, 2 / std::sqrt(double(head))}, 2e-3);
}

// Either kernel sweeps more tiles than its ring has slots.
TEST_P(AttentionOp, GradientOfLongSequences) {
  checkGradient<half>({1, 1, 1, 330, 330, 128, true}, 2e-3);
  checkGradient<half>({1, 2, 1, 530, 520, 64, false}, 2e-3);
}

// Where one kernel computes all of it: blocks of 64 queries or, of narrow heads, 128, one and more of them, more than slots,
// cut by the diagonal and by the ends; grouped heads; other dtypes and widths, which have the other kernels. So has all that
// runs on sm_80, where one case shows it.
TEST_P(AttentionOp, GradientInAnyOrder) {
  const AttentionCase cases[] = {{1, 2, 1, 330, 330, 128, true},
                                 {1, 1, 1, 200, 140, 128, false},
                                 {2, 2, 2, 40, 70, 80, true, 1},
                                 {1, 2, 1, 390, 300, 64, true},
                                 {1, 4, 2, 130, 129, 32, false},
                                 {1, 1, 1, 130, 40, 48, true},
                                 {1, 1, 1, 64, 128, 16, false},
                                 {1, 1, 1, 40, 70, 192, true, 0.2},
                                 {1, 2, 1, 9, 0, 64},
                                 {1, 2, 1, 0, 9, 64}};
  for (const AttentionCase &c : cases) {
    checkGradient<half>(c, 2e-3, inAnyOrder(optionsOf(c, Precision::tf32x3)));
    if (device().target() == "sm_80")
      return;
  }
  AttentionCase wide = {1, 2, 2, 70, 45, 33, true};
  checkGradient<bfloat16>(wide, 1.5e-2, inAnyOrder(optionsOf(wide, Precision::tf32x3)));
  checkGradient<float>(wide, 1e-5, inAnyOrder(optionsOf(wide, Precision::ieee)));
}

TEST_P(AttentionOp, GradientOfDtypesAndPrecisions) {
  for (int64_t head : {33, 64, 128, 256}) {
    AttentionCase c = {1, 2, 2, 50, 45, head, true, 2 / std::sqrt(double(head))};
    checkGradient<bfloat16>(c, 1.5e-2);
    checkGradient<float>(c, 2e-5);
    checkGradient<float>(c, 1e-5, Precision::ieee);
    checkGradient<float>(c, 1e-2, Precision::tf32);
  }
}

TEST_P(AttentionOp, GradientOfRowsThatSeeNothingAndEmptyExtents) {
  checkGradient<half>({1, 2, 1, 90, 20, 32, true}, 2e-3);
  checkGradient<half>({1, 2, 1, 9, 0, 32}, 0);
  checkGradient<half>({1, 2, 1, 0, 9, 32}, 0);
  checkGradient<half>({0, 2, 1, 9, 9, 32}, 0);
}

TEST_P(AttentionOp, GradientIsTheSlopeOfTheReference) {
  AttentionCase c = {1, 2, 1, 5, 6, 4, true, 0.7};
  auto q = uniform<float>(c.queryNumel(), -2, 2, 1), k = uniform<float>(c.keyNumel(), -2, 2, 2),
       v = uniform<float>(c.keyNumel(), -1, 1, 3), dout = uniform<float>(c.queryNumel(), -1, 1, 4);
  auto deviceQ = queriesOf(c, q), deviceK = keysOf(c, k), deviceV = keysOf(c, v);
  auto out = device().tensor<float>({1, 2, 5, 4});
  auto lse = device().tensor<float>({1, 2, 5});
  ops::AttentionOptions options = optionsOf(c, Precision::ieee);
  ops::attention(stream, deviceQ, deviceK, deviceV, out, lse, options);
  ops::AttentionGradients got = ops::attentionBackward(stream, deviceQ, deviceK, deviceV, out, lse,
                                                       queriesOf(c, dout), options);
  std::array<Doubles, 3> inputs = {wide(q), wide(k), wide(v)};
  auto loss = [&] {
    AttentionReference reference(c, inputs[0], inputs[1], inputs[2]);
    return rowProduct(reference.out, 0, wide(dout), 0, c.queryNumel());
  };
  std::array<Tensor, 3> gradients = {got.dq, got.dk, got.dv};
  for (size_t input = 0; input < 3; ++input)
    expectAll(TensorOf<float>(gradients[input]).download(),
              [&](int64_t i) {
                double &x = inputs[input][size_t(i)], kept = x;
                constexpr double kStep = 1e-4;
                x = kept + kStep;
                double above = loss();
                x = kept - kStep;
                double below = loss();
                x = kept;
                return (above - below) / (2 * kStep);
              },
              {0, 2e-6});
}

TEST_P(AttentionOp, GradientOfOtherMemoryOrders) {
  AttentionCase c = {2, 4, 2, 20, 25, 24, true};
  auto q = uniform<half>(c.queryNumel(), -2, 2, 1), k = uniform<half>(c.keyNumel(), -2, 2, 2),
       v = uniform<half>(c.keyNumel(), -1, 1, 3), dout = uniform<half>(c.queryNumel(), -1, 1, 4);
  AttentionReference expected(c, wide(q), wide(k), wide(v));
  expected.backward(wide(dout));
  auto deviceQ = headsInside(queriesOf(c, q)), deviceK = headsInside(keysOf(c, k)),
       deviceV = headsInside(keysOf(c, v)), deviceDout = headsInside(queriesOf(c, dout));
  auto out = headsInside(device().tensor<half>({2, 4, 20, 24}));
  auto lse = device().tensor<float>({2, 20, 4}).permute({0, 2, 1});
  ops::AttentionOptions options = optionsOf(c, Precision::tf32x3);
  ops::attention(stream, deviceQ, deviceK, deviceV, out, lse, options);
  auto dq = headsInside(device().tensor<half>({2, 4, 20, 24}));
  auto dk = headsInside(device().tensor<half>({2, 2, 25, 24})), dv = headsInside(dk);
  ops::attentionBackward(stream, deviceQ, deviceK, deviceV, out, lse, deviceDout, dq, dk, dv,
                         options);
  expectGradient("dq", dq.download(), expected.dq, 2e-3);
  expectGradient("dk", dk.download(), expected.dk, 2e-3);
  expectGradient("dv", dv.download(), expected.dv, 2e-3);
}

TEST_P(AttentionOp, SameBitsTwice) {
  AttentionCase c = {2, 4, 2, 70, 90, 64, true};
  auto q = queriesOf(c, uniform<half>(c.queryNumel(), -2, 2, 1));
  auto k = keysOf(c, uniform<half>(c.keyNumel(), -2, 2, 2));
  auto v = keysOf(c, uniform<half>(c.keyNumel(), -1, 1, 3));
  auto bitsOf = [](const Tensor &x) {
    std::vector<unsigned char> bytes(x.bytes());
    x.downloadBytes(bytes.data(), bytes.size());
    return bytes;
  };
  std::vector<std::vector<unsigned char>> first;
  for (int run = 0; run < 2; ++run) {
    auto out = device().tensor<half>({2, 4, 70, 64});
    auto lse = device().tensor<float>({2, 4, 70});
    ops::attention(stream, q, k, v, out, lse, {.causal = true});
    auto [dq, dk, dv] = ops::attentionBackward(stream, q, k, v, out, lse, out, {.causal = true});
    std::vector all = {bitsOf(out), bitsOf(lse), bitsOf(dq), bitsOf(dk), bitsOf(dv)};
    if (run == 0)
      first = all;
    else
      EXPECT_EQ(first, all);
  }
}

TEST_P(AttentionOp, Refusals) {
  auto q = device().tensor<half>({2, 6, 5, 32}), k = device().tensor<half>({2, 3, 7, 32}), v = k;
  auto out = device().tensor<half>({2, 6, 5, 32});
  auto lse = device().tensor<float>({2, 6, 5});
  auto refused = [&](ErrorCode code, const std::string &words, const Tensor &q, const Tensor &k,
                     const Tensor &v, const Tensor &out, const Tensor &lse) {
    expectRefused(code, words, [&] { ops::attention(stream, q, k, v, out, lse); });
  };
  refused(ErrorCode::InvalidShape, "q is f16 12x5x32, of rank 3", q.reshape({12, 5, 32}), k, v, out,
          lse);
  auto wide = device().tensor<float>({1, 1, 4, 16});
  expectRefused(ErrorCode::InvalidArgument,
                "attention: options.accumulator is f16, but products of f32 are summed in f32",
                [&] { ops::attention(stream, wide, wide, wide, {.accumulator = f16}); });
  refused(ErrorCode::InvalidArgument, "supported dtypes: f16, bf16, f32",
          device().tensor<double>({2, 6, 5, 32}), k, v, out, lse);
  refused(ErrorCode::InvalidArgument, "q is f16 2x6x5x32, but k is f32 2x3x7x32", q,
          device().tensor<float>({2, 3, 7, 32}), v, out, lse);
  refused(ErrorCode::InvalidShape, "k is f16 2x3x7x32, but v is f16 2x3x6x32", q, k,
          device().tensor<half>({2, 3, 6, 32}), out, lse);
  auto fourHeads = device().tensor<half>({2, 4, 7, 32});
  refused(ErrorCode::InvalidShape, "q.extent(1) is 6, but k.extent(1) is 4", q, fourHeads,
          fourHeads, out, lse);
  refused(ErrorCode::InvalidShape, "q is f16 2x6x5x32, but out is f16 2x6x4x32", q, k, v,
          device().tensor<half>({2, 6, 4, 32}), lse);
  refused(ErrorCode::InvalidShape, "lse.extent(2) is 4, but q.extent(2) is 5", q, k, v, out,
          device().tensor<float>({2, 6, 4}));
  refused(ErrorCode::Aliasing, "out overlaps q", q, k, v, q, lse);
  auto broad = device().tensor<half>({1, 1, 4, 257});
  expectRefused(ErrorCode::InvalidShape,
                "attention: q.extent(3) is 257 (q is f16 1x1x4x257): 1 to 256 is supported",
                [&] { ops::attention(stream, broad, broad, broad); });
  expectRefused(ErrorCode::InvalidArgument, "options.precision",
                [&] { ops::attention(stream, q, k, v, {.precision = Precision::bf16x3}); });
  expectRefused(ErrorCode::Aliasing, "attentionBackward: dv overlaps dk", [&] {
    auto dk = device().tensor<half>({2, 3, 7, 32});
    ops::attentionBackward(stream, q, k, v, out, lse, out, device().tensor<half>({2, 6, 5, 32}), dk,
                           dk);
  });
  expectRefused(ErrorCode::InvalidShape, "attentionBackward: q is f16 2x6x5x32, but dout", [&] {
    ops::attentionBackward(stream, q, k, v, out, lse, device().tensor<half>({2, 6, 5, 16}));
  });
}

} // namespace
