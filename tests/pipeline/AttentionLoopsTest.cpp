// Loops with two products an iteration, and tiles that more than one operation reads.
#include "tests/pipeline/StagedLoops.h"

namespace tile::test {
namespace {

constexpr int kRows = 64, kWidth = 16, kKeys = 32;

class AttentionLoops : public StagedLoops {
protected:
  /// Keys that end inside the last tile.
  static int64_t keysOf(int steps) { return std::max(steps * kKeys - 5, 0); }

  /// Row r has its 1 in column r modulo kWidth.
  static std::vector<half> oneHotRows(int64_t rows) {
    std::vector<half> values(static_cast<size_t>(rows * kWidth));
    for (int64_t row = 0; row < rows; ++row)
      values[static_cast<size_t>(row * kWidth + row % kWidth)] = half(1.0f);
    return values;
  }
};

/// A row of kWidth values for each key; zeros behind the last.
struct KeyRows {
  std::vector<half> values;

  KeyRows(int64_t keys, uint64_t seed) : values(smallIntegers<half>(keys * kWidth, seed)) {}
  double operator()(int64_t key, int64_t column) const {
    auto at = static_cast<size_t>(key * kWidth + column);
    return at < values.size() ? exact(values[at]) : 0;
  }
};

/// Rows of q have a single 1, so scores are elements of k: integers. Then their powers of two, and all sums, are exact.
TEST_P(AttentionLoops, OnlineSoftmax) {
  static const auto program = kernel(
      "online_softmax", [](In<f16, 2> q, In<f16, 2> k, In<f16, 2> v, Out<f32, 2> d,
                           Out<f32, 1> weights, Const stages, ConstOf<bool> rotates, Const unroll) {
        Value queries = q.tile({kRows, kWidth})(0, 0);
        auto sums = var(zeros(f32, {kRows, kWidth}));
        auto total = var(zeros(f32, {kRows})), largest = var(full(f32, {kRows}, -INFINITY));
        Range loop = range(cdiv(k.dim(0), kKeys)).stages(stages).unroll(unroll);
        for (auto j : rotates ? loop.overlap_dots() : loop) {
          Value scores = dot(queries, k.T().tile({kWidth, kKeys})(0, j));
          Value next = max(largest, reduce_max(scores, 1));
          Value fade = exp2(largest - next), powers = exp2(scores - expand_dims(next, 1));
          total = total * fade + sum(powers, 1);
          sums = dot(cast(f16, powers), v.tile({kKeys, kWidth})(j, 0), sums * expand_dims(fade, 1));
          largest = next;
        }
        d.tile({kRows, kWidth})(0, 0) = sums;
        weights.tile({kRows})(0) = total;
      });
  auto q = input<half>({kRows, kWidth}, oneHotRows(kRows));
  auto d = input<float>({kRows, kWidth}, std::vector<float>(kRows * kWidth));
  auto weights = input<float>({kRows}, std::vector<float>(kRows));
  forEveryRotation([&](int stages, int steps, bool rotates) {
    int64_t keys = keysOf(steps), padded = int64_t(steps) * kKeys;
    KeyRows k(keys, 1), v(keys, 2);
    auto total = [&](int64_t row, auto value) {
      double most = -INFINITY, result = 0;
      for (int64_t key = 0; key < padded; ++key)
        most = std::max(most, k(key, row % kWidth));
      for (int64_t key = 0; key < padded; ++key)
        result += std::exp2(k(key, row % kWidth) - most) * value(key);
      return result;
    };
    int unroll = rotates && stages == 3 ? 2 : 1; // the steps that are left over are a loop, too
    runUnderEverySchedule(
        program.consts(stages, rotates, unroll).grid(1), steps,
        {Written(d, smallIntegers<float>(kRows * kWidth, 3)),
         Written(weights, smallIntegers<float>(kRows, 4))},
        [&] {
          expectAll(d, [&](int64_t i) {
            return total(i / kWidth, [&](int64_t key) { return v(key, i % kWidth); });
          });
          expectAll(weights, [&](int64_t row) { return total(row, [](int64_t) { return 1.0; }); });
        },
        q, input<half>({keys, kWidth}, k.values), input<half>({keys, kWidth}, v.values), d,
        weights);
  });
}

// Keys are values: one tile from memory is an operand of both products, as it is and transposed.
TEST_P(AttentionLoops, OneSourceForTwoProducts) {
  static const auto program =
      kernel("keys_are_values",
             [](In<f16, 2> q, In<f16, 2> kv, Out<f32, 2> d, Const stages, ConstOf<bool> rotates) {
               Value queries = q.tile({kRows, kWidth})(0, 0);
               auto sums = var(zeros(f32, {kRows, kWidth}));
               Range loop = range(cdiv(kv.dim(0), kKeys)).stages(stages);
               for (auto j : rotates ? loop.overlap_dots() : loop) {
                 Value keys = kv.tile({kKeys, kWidth})(j, 0);
                 sums = dot(cast(f16, dot(queries, trans(keys))), keys, sums);
               }
               d.tile({kRows, kWidth})(0, 0) = sums;
             });
  std::vector<half> qValues = smallIntegers<half>(kRows * kWidth, 1);
  auto q = input<half>({kRows, kWidth}, qValues);
  auto d = input<float>({kRows, kWidth}, std::vector<float>(kRows * kWidth));
  forEveryRotation([&](int stages, int steps, bool rotates) {
    int64_t keys = keysOf(steps);
    std::vector<half> values = smallIntegers<half>(keys * kWidth, 2);
    auto at = [&](int64_t key, int64_t column) {
      return exact(values[static_cast<size_t>(key * kWidth + column)]);
    };
    std::vector<double> expected(kRows * kWidth);
    for (int64_t row = 0; row < kRows; ++row)
      for (int64_t key = 0; key < keys; ++key) {
        double score = 0;
        for (int64_t i = 0; i < kWidth; ++i)
          score += exact(qValues[static_cast<size_t>(row * kWidth + i)]) * at(key, i);
        for (int64_t i = 0; i < kWidth; ++i)
          expected[static_cast<size_t>(row * kWidth + i)] += score * at(key, i);
      }
    runUnderEverySchedule(
        program.consts(stages, rotates).grid(1), steps,
        {Written(d, smallIntegers<float>(kRows * kWidth, 3))},
        [&] { expectAll(d, [&](int64_t i) { return expected[static_cast<size_t>(i)]; }); }, q,
        input<half>({keys, kWidth}, values), d);
  });
}

// Two groups of warps go through the loop twice, which makes its barriers anew; with their rows of q as above. A warp of its
// own may load for them, and goes through the nest as they do.
TEST_P(AttentionLoops, GroupsInANest) {
  static constexpr int kGroups = 2, kAll = kGroups * kRows, kHeads = 2;
  static const auto program =
      kernel("groups", [](In<f16, 2> q, In<f16, 2> k, In<f16, 2> v, Out<f32, 2> d, Const stages,
                          ConstOf<bool> rotates, ConstOf<bool> specializes) {
        hint::warps(4 * kGroups);
        for (auto head : range(cdiv(q.dim(0), kAll))) {
          Value queries = q.tile({kAll, kWidth})(head, 0);
          auto sums = var(zeros(f32, {kAll, kWidth}));
          auto largest = var(full(f32, {kAll}, -INFINITY));
          Range loop = range(cdiv(k.dim(0), kKeys)).stages(stages);
          Range turned = rotates ? loop.overlap_dots() : loop;
          for (auto j : specializes ? turned.warp_specialize() : turned) {
            Value scores = dot(queries, k.T().tile({kWidth, kKeys})(0, j));
            Value next = max(largest, reduce_max(scores, 1));
            sums = dot(cast(f16, exp2(scores - expand_dims(next, 1))),
                       v.tile({kKeys, kWidth})(j, 0), sums * expand_dims(exp2(largest - next), 1));
            largest = next;
          }
          d.tile({kAll, kWidth})(head, 0) = sums;
        }
      });
  constexpr int64_t kTotal = int64_t(kHeads) * kAll;
  auto q = input<half>({kTotal, kWidth}, oneHotRows(kTotal));
  auto d = input<float>({kTotal, kWidth}, std::vector<float>(kTotal * kWidth));
  forEveryRotation([&](int stages, int steps, bool rotates) {
    int64_t keys = keysOf(steps), padded = int64_t(steps) * kKeys;
    KeyRows k(keys, 1), v(keys, 2);
    std::vector<double> expected(kWidth * kWidth); // rows that are alike have like results
    for (int64_t row = 0; row < kWidth; ++row) {
      double most = -INFINITY;
      for (int64_t key = 0; key < padded; ++key)
        most = std::max(most, k(key, row));
      for (int64_t key = 0; key < padded; ++key)
        for (int64_t i = 0; i < kWidth; ++i)
          expected[static_cast<size_t>(row * kWidth + i)] +=
              std::exp2(k(key, row) - most) * v(key, i);
    }
    for (bool specializes : {false, true}) {
      SCOPED_TRACE(specializes ? "loaded by a warp of its own" : "");
      runUnderEverySchedule(
          program.consts(stages, rotates, specializes).grid(1), steps,
          {Written(d, smallIntegers<float>(kTotal * kWidth, 3))},
          [&] {
            expectAll(d, [&](int64_t i) {
              return expected[static_cast<size_t>(i / kWidth % kWidth * kWidth + i % kWidth)];
            });
          },
          q, input<half>({keys, kWidth}, k.values), input<half>({keys, kWidth}, v.values), d);
    }
  });
}

// Besides the chain a third product adds loaded tiles to what the loop carries; of `ieee` the chain's first result goes to the
// second product through shared memory.
TEST_P(AttentionLoops, AThirdProductBesideTheChain) {
  static const auto program = kernel(
      "chain_and_sums", [](In<any, 2> q, In<any, 2> kv, Out<f32, 2> d, Out<f32, 2> e, Const stages,
                           ConstOf<bool> rotates, ConstOf<Precision> precision) {
        DotOptions options{.precision = precision};
        Value queries = q.tile({kRows, kWidth})(0, 0);
        auto sums = var(zeros(f32, {kRows, kWidth})), scores = var(zeros(f32, {kRows, kKeys}));
        Range loop = range(cdiv(kv.dim(0), kKeys)).stages(stages);
        for (auto j : rotates ? loop.overlap_dots() : loop) {
          Value keys = kv.tile({kKeys, kWidth})(j, 0);
          Value right = kv.T().tile({kWidth, kKeys})(0, j);
          scores = dot(q.tile({kRows, kWidth})(0, 0), right, scores, options);
          sums = dot(cast(kv.dtype(), dot(queries, right, options)), keys, sums, options);
        }
        d.tile({kRows, kWidth})(0, 0) = sums;
        e.tile({kRows, kKeys})(0, 0) = scores;
      });
  auto d = input<float>({kRows, kWidth}, std::vector<float>(kRows * kWidth));
  auto e = input<float>({kRows, kKeys}, std::vector<float>(kRows * kKeys));
  auto chain = [&]<class T>(T, int stages, int steps, bool rotates) {
    int64_t keys = int64_t(steps) * kKeys;
    std::vector<T> qValues = smallIntegers<T>(kRows * kWidth, 1),
                   values = smallIntegers<T>(keys * kWidth, 2);
    auto at = [&](int64_t key, int64_t column) {
      return exact(values[static_cast<size_t>(key * kWidth + column)]);
    };
    auto score = [&](int64_t row, int64_t key) {
      double sum = 0;
      for (int64_t i = 0; i < kWidth; ++i)
        sum += exact(qValues[static_cast<size_t>(row * kWidth + i)]) * at(key, i);
      return sum;
    };
    std::vector<double> product(kRows * kWidth), added(kRows * kKeys);
    for (int64_t row = 0; row < kRows; ++row)
      for (int64_t key = 0; key < keys; ++key) {
        added[static_cast<size_t>(row * kKeys + key % kKeys)] += score(row, key);
        for (int64_t i = 0; i < kWidth; ++i)
          product[static_cast<size_t>(row * kWidth + i)] += score(row, key) * at(key, i);
      }
    runUnderEverySchedule(
        program.consts(stages, rotates, Precision::ieee).grid(1), steps,
        {Written(d, smallIntegers<float>(kRows * kWidth, 3)),
         Written(e, smallIntegers<float>(kRows * kKeys, 4))},
        [&] {
          expectAll(d, [&](int64_t i) { return product[static_cast<size_t>(i)]; });
          expectAll(e, [&](int64_t i) { return added[static_cast<size_t>(i)]; });
        },
        input<T>({kRows, kWidth}, qValues), input<T>({keys, kWidth}, values), d, e);
  };
  for (int steps : {0, 1, 2, 5})
    for (bool rotates : {false, true}) {
      SCOPED_TRACE(std::to_string(steps) + " steps" + (rotates ? ", rotated" : ""));
      chain(half(), 3, steps, rotates);
      chain(float(), 3, steps, rotates);
    }
}

// The tile of one load goes to the tensor cores through shared memory and to a reduction in registers.
TEST_P(AttentionLoops, ATileForAProductAndAReduction) {
  static const auto program =
      kernel("product_and_sums",
             [](In<f16, 2> a, In<f16, 2> b, Out<f32, 2> d, Out<f32, 1> rows, Const stages) {
               auto sums = var(zeros(f32, {kRows, kWidth}));
               auto totals = var(zeros(f32, {kRows}));
               for (auto k : range(cdiv(a.dim(1), kKeys)).stages(stages)) {
                 Value x = a.tile({kRows, kKeys})(0, k);
                 sums = dot(x, b.tile({kKeys, kWidth})(k, 0), sums);
                 totals += sum(cast(f32, x), 1);
               }
               d.tile({kRows, kWidth})(0, 0) = sums;
               rows.tile({kRows})(0) = totals;
             });
  auto d = input<float>({kRows, kWidth}, std::vector<float>(kRows * kWidth));
  auto rows = input<float>({kRows}, std::vector<float>(kRows));
  forEveryLoop([&](int stages, int steps) {
    int64_t depth = keysOf(steps);
    std::vector<half> aValues = smallIntegers<half>(kRows * depth, 1),
                      bValues = smallIntegers<half>(depth * kWidth, 2);
    auto sumOf = [&](int64_t row, auto weight) {
      double result = 0;
      for (int64_t k = 0; k < depth; ++k)
        result += exact(aValues[static_cast<size_t>(row * depth + k)]) * weight(k);
      return result;
    };
    runUnderEverySchedule(
        program.consts(stages).grid(1), steps,
        {Written(d, smallIntegers<float>(kRows * kWidth, 3)),
         Written(rows, smallIntegers<float>(kRows, 4))},
        [&] {
          expectAll(d, [&](int64_t i) {
            return sumOf(i / kWidth, [&](int64_t k) {
              return exact(bValues[static_cast<size_t>(k * kWidth + i % kWidth)]);
            });
          });
          expectAll(rows, [&](int64_t row) { return sumOf(row, [](int64_t) { return 1.0; }); });
        },
        input<half>({kRows, depth}, aValues), input<half>({depth, kWidth}, bValues), d, rows);
  });
}

STAGED_LOOPS_SUITE(AttentionLoops);

} // namespace
} // namespace tile::test
