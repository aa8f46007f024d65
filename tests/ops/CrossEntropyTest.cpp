// Cross-entropy and its gradient: rows of every length round the tiles, reductions, ignored rows, padded vocabularies,
// smoothing, dtypes, strides, targets that are no class, special values, the same bits twice, refusals.
#include "tests/execution/Harness.h"
#include "tests/ops/Refusals.h"

#include <tile/ops/CrossEntropy.h>

using namespace tile;
using namespace tile::test;
using ops::CrossEntropyOptions;
using ops::LossReduction;

namespace {

/// What CrossEntropy.h says, in f64.
struct Reference {
  CrossEntropyOptions options;
  int64_t rows, columns, classes, counted = 0;
  std::vector<double> x, lse, losses;
  std::vector<int64_t> targets;

  template <class X>
  Reference(const CrossEntropyOptions &options, int64_t columns, const std::vector<X> &logits,
            std::vector<int64_t> wanted)
      : options(options), rows(int64_t(wanted.size())), columns(columns),
        classes(options.classes ? options.classes : columns), targets(std::move(wanted)) {
    for (const X &value : logits)
      x.push_back(exact(value));
    for (int64_t r = 0; r < rows; ++r)
      addRow(r);
  }

  double loss() const {
    double sum = 0;
    for (double each : losses)
      sum += each;
    return options.reduction == LossReduction::Mean ? sum / double(counted) : sum;
  }
  double gradient(int64_t i, const std::vector<double> &dloss) const {
    int64_t r = i / columns, j = i % columns, target = targets[size_t(r)];
    if (target == options.ignoreIndex || j >= classes)
      return 0;
    double factor = dloss[options.reduction == LossReduction::None ? size_t(r) : 0];
    if (options.reduction == LossReduction::Mean)
      factor /= double(counted);
    double wanted = j == target ? 1 - options.labelSmoothing : 0;
    wanted += options.labelSmoothing / double(classes);
    return isClass(target) ? factor * (std::exp(x[size_t(i)] - lse[size_t(r)]) - wanted) : NAN;
  }

private:
  bool isClass(int64_t target) const { return target >= 0 && target < classes; }
  void addRow(int64_t r) {
    const double *row = &x[size_t(r * columns)];
    double m = std::numeric_limits<double>::lowest(), sum = 0, mean = 0;
    for (int64_t j = 0; j < classes; ++j)
      m = std::isnan(row[j]) ? NAN : std::max(m, row[j]);
    for (int64_t j = 0; j < classes; ++j)
      sum += std::exp(row[j] - m), mean += row[j] / double(classes);
    lse.push_back(m + std::log(sum));
    int64_t target = targets[size_t(r)];
    if (target == options.ignoreIndex)
      return losses.push_back(0);
    ++counted;
    double share = options.labelSmoothing, chosen = isClass(target) ? row[target] : NAN;
    // As differences from m, beside which log(sum) may be nothing.
    losses.push_back(std::log(sum) - (1 - share) * (chosen - m) -
                     (share > 0 ? share * (mean - m) : 0));
  }
};

struct Tolerances {
  Within loss = {16, 4e-6}, gradient = {16, 4e-6};
};

class CrossEntropy : public OnDevice {
protected:
  static std::vector<int64_t> someTargets(int64_t rows, int64_t classes, int64_t ignored) {
    std::vector<int64_t> targets(static_cast<size_t>(rows));
    Random random(7);
    for (int64_t &target : targets)
      target = random.bits() % 5 == 0 ? ignored : int64_t(random.bits() % uint64_t(classes));
    return targets;
  }

  /// Forward and backward of random targets, some of them ignored.
  template <class X, class Index = int64_t>
  void check(int64_t rows, int64_t columns, const std::vector<X> &x,
             const CrossEntropyOptions &options = {}, const Tolerances &tolerances = {}) {
    check<X, Index>(
        columns, x,
        someTargets(rows, options.classes ? options.classes : columns, options.ignoreIndex),
        options, tolerances);
  }
  template <class X, class Index = int64_t>
  void check(int64_t columns, const std::vector<X> &x, const std::vector<int64_t> &targets,
             const CrossEntropyOptions &options = {}, const Tolerances &tolerances = {}) {
    int64_t rows = int64_t(targets.size());
    SCOPED_TRACE(std::to_string(rows) + "x" + std::to_string(columns));
    Reference reference(options, columns, x, targets);
    using Loss = std::conditional_t<std::is_same_v<X, double>, double, float>;
    auto in = input({rows, columns}, x);
    auto wanted = input({rows}, std::vector<Index>(targets.begin(), targets.end()));
    bool isReduced = options.reduction != LossReduction::None;
    auto loss = output<Loss>({isReduced ? 1 : rows}), lse = output<Loss>({rows});
    ops::crossEntropy(stream, in, wanted, loss.tensor(), lse.tensor(), options);
    expectAll(
        loss.result(),
        [&](int64_t i) { return isReduced ? reference.loss() : reference.losses[size_t(i)]; },
        tolerances.loss);
    expectAll(
        lse.result(), [&](int64_t i) { return reference.lse[size_t(i)]; }, tolerances.loss);

    auto dloss = uniform<Loss>(isReduced ? 1 : rows, 0.5, 2);
    std::vector<double> slopes(dloss.begin(), dloss.end());
    auto slope = input({int64_t(dloss.size())}, dloss);
    auto dlogits = output<X>({rows, columns}, 3);
    ops::crossEntropyBackward(stream, slope, in, wanted, lse.tensor(), dlogits.tensor(), options);
    auto apart = dlogits.result();
    expectAll(
        apart, [&](int64_t i) { return reference.gradient(i, slopes); }, tolerances.gradient);
    // In place of the logits, the same to the bit.
    ops::crossEntropyBackward(stream, slope, in, wanted, lse.tensor(), in, options);
    auto inPlace = in.download();
    EXPECT_EQ(std::memcmp(inPlace.data(), apart.data(), apart.size() * sizeof(X)), 0);
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, CrossEntropy, ::testing::ValuesIn(deviceNames(Targets::One)),
                         [](const auto &run) { return testName(run.param); });

TEST_P(CrossEntropy, RowsOfEveryLength) {
  for (int64_t columns : {1, 2, 31, 33, 127, 1000, 1025, 8191, 8192, 8193, 20011})
    for (int64_t rows : {1, 13})
      check<float>(rows, columns, uniform<float>(rows * columns, -10, 10));
}

TEST_P(CrossEntropy, ManyRows) {
  for (int64_t rows : {31, 33, 4096, 9001})
    check<float>(rows, 20, uniform<float>(rows * 20, -10, 10));
}

TEST_P(CrossEntropy, ReductionsAndOptions) {
  for (auto reduction : {LossReduction::None, LossReduction::Sum, LossReduction::Mean})
    for (int64_t columns : {100, 9000})
      for (double smoothing : {0.0, 0.1, 1.0}) {
        SCOPED_TRACE(std::to_string(int(reduction)) + ", smoothing " + std::to_string(smoothing));
        auto x = uniform<float>(7 * columns, -10, 10);
        CrossEntropyOptions options = {.reduction = reduction, .labelSmoothing = smoothing};
        Tolerances tolerances = {.loss = {16, 2e-5}, .gradient = {16, 4e-6}};
        check<float>(7, columns, x, options, tolerances);
        options.ignoreIndex = 3; // a class
        check<float, int32_t>(7, columns, x, options, tolerances);
      }
}

TEST_P(CrossEntropy, PaddedVocabulary) {
  for (int64_t columns : {64, 1024, 20032})
    for (double smoothing : {0.0, 0.1})
      for (int64_t padding : {1, 47}) {
        auto x = uniform<float>(5 * columns, -10, 10);
        // Columns beyond the classes must not be read: they hold NaN.
        for (int64_t r = 0; r < 5; ++r)
          x[size_t((r + 1) * columns - 1)] = NAN;
        check<float>(5, columns, x, {.classes = columns - padding, .labelSmoothing = smoothing},
                     {.loss = {16, 2e-5}});
      }
}

TEST_P(CrossEntropy, Dtypes) {
  for (int64_t columns : {100, 9001}) {
    check<half>(5, columns, uniform<half>(5 * columns, -10, 10), {}, {.gradient = {0.6, 1e-6}});
    check<bfloat16, int32_t>(5, columns, uniform<bfloat16>(5 * columns, -10, 10), {},
                             {.gradient = {0.6, 1e-6}});
    check<double>(5, columns, uniform<double>(5 * columns, -10, 10), {.labelSmoothing = 0.1},
                  {.loss = {256, 1e-13}, .gradient = {256, 1e-15}});
  }
}

TEST_P(CrossEntropy, TargetsThatAreNoClass) {
  for (int64_t columns : {40, 9000}) {
    auto x = uniform<float>(6 * columns, -10, 10);
    std::vector<int64_t> targets = {0, columns, -1, columns - 1, INT64_MAX, INT64_MIN};
    check<float>(columns, x, targets, {.reduction = LossReduction::None});
    check<float>(columns, x, targets, {.reduction = LossReduction::Sum});
    // 2^32 + 1 is not 1.
    targets = {1, (int64_t(1) << 32) + 1};
    x.resize(size_t(2 * columns));
    check<float>(columns, x, targets, {.reduction = LossReduction::None});
  }
}

TEST_P(CrossEntropy, SpecialValues) {
  for (int64_t columns : {50, 9000}) {
    auto x = uniform<float>(6 * columns, -5, 5);
    auto row = [&](int64_t r) { return x.begin() + r * columns; };
    row(0)[3] = NAN;
    row(1)[columns - 1] = INFINITY;
    std::fill(row(2), row(2) + columns / 2, -INFINITY); // classes that cannot be
    std::fill(row(3), row(4), 3e38f);
    std::fill(row(4), row(5), -3e38f), row(4)[3] = 0;
    row(5)[7] = NAN; // ignored
    std::vector<int64_t> targets = {1, 2, columns - 1, 0, 3, -100};
    check<float>(columns, x, targets, {.reduction = LossReduction::None});
    std::fill(row(0), row(1), -INFINITY);
    check<float>(columns, x, targets, {.reduction = LossReduction::None});
  }
  // A target that cannot be.
  auto loss = ops::crossEntropy(stream, input({1, 2}, std::vector<float>{0, -INFINITY}),
                                input({1}, std::vector<int32_t>{1}));
  EXPECT_EQ(TensorOf<float>(loss).download()[0], INFINITY);
}

TEST_P(CrossEntropy, NothingLeftHasNoMean) {
  auto logits = input({2, 3}, uniform<float>(6)), lse = input({2}, std::vector<float>{1, 1});
  auto targets = input({2}, std::vector<int64_t>{-100, -100});
  auto mean = ops::crossEntropy(stream, logits, targets);
  EXPECT_EQ(mean.rank(), 0);
  EXPECT_TRUE(std::isnan(TensorOf<float>(mean).download()[0]));
  auto total = ops::crossEntropy(stream, logits, targets, {.reduction = LossReduction::Sum});
  EXPECT_EQ(TensorOf<float>(total).download()[0], 0);
  auto slope = input({}, std::vector<float>{1});
  auto gradient = ops::crossEntropyBackward(stream, slope, logits, targets, lse);
  EXPECT_EQ(TensorOf<float>(gradient).download(), std::vector<float>(6, 0.0f));
  // A mean over no rows at all is NaN, too.
  auto none = device().tensor<float>({0, 3});
  auto noTargets = device().tensor<int64_t>({0});
  EXPECT_TRUE(
      std::isnan(TensorOf<float>(ops::crossEntropy(stream, none, noTargets)).download()[0]));
  EXPECT_EQ(
      TensorOf<float>(ops::crossEntropy(stream, none, noTargets, {.reduction = LossReduction::Sum}))
          .download()[0],
      0);
  // Without classes every target is none.
  auto empty = ops::crossEntropy(stream, device().tensor<float>({2, 0}),
                                 input({2}, std::vector<int64_t>{0, -100}),
                                 {.reduction = LossReduction::None});
  auto losses = TensorOf<float>(empty).download();
  EXPECT_TRUE(std::isnan(losses[0]));
  EXPECT_EQ(losses[1], 0);
}

TEST_P(CrossEntropy, RanksAndStrides) {
  // Logits batch x time x vocabulary, whose batch and time do not merge; every second target.
  constexpr int64_t kBatch = 3, kTime = 5, kVocabulary = 33;
  auto x = uniform<float>(kBatch * kTime * kVocabulary, -5, 5);
  auto logits = input({kTime, kBatch, kVocabulary}, x).permute({1, 0, 2});
  auto stored = someTargets(2 * kBatch * kTime, kVocabulary, -100);
  auto targets = input({2 * kBatch * kTime}, stored).withStrides({kBatch, kTime}, {2 * kTime, 2});
  std::vector<float> ordered;
  std::vector<int64_t> wanted;
  for (int64_t b = 0; b < kBatch; ++b)
    for (int64_t t = 0; t < kTime; ++t) {
      auto row = x.begin() + (t * kBatch + b) * kVocabulary;
      ordered.insert(ordered.end(), row, row + kVocabulary);
      wanted.push_back(stored[size_t(2 * (b * kTime + t))]);
    }
  CrossEntropyOptions options = {.reduction = LossReduction::None};
  Reference reference(options, kVocabulary, ordered, wanted);
  auto loss = output<float>({kBatch, kTime}, 2), lse = output<float>({kBatch, kTime}, 1);
  ops::crossEntropy(stream, logits, targets, loss.tensor(), lse.tensor(), options);
  expectAll(loss.result(), [&](int64_t i) { return reference.losses[size_t(i)]; }, {16, 4e-6});
  auto slope = uniform<float>(kBatch * kTime);
  auto dlogits = output<float>({kBatch, kTime, kVocabulary}, 4);
  ops::crossEntropyBackward(stream, input({kBatch, kTime}, slope), logits, targets, lse.tensor(),
                            dlogits.tensor(), options);
  std::vector<double> slopes(slope.begin(), slope.end());
  expectAll(dlogits.result(), [&](int64_t i) { return reference.gradient(i, slopes); }, {16, 4e-6});
  // The vocabulary down the columns.
  auto across = input({kVocabulary, 3}, uniform<float>(kVocabulary * 3)).T();
  auto copied = input({3, kVocabulary}, across.download());
  auto few = input({3}, std::vector<int32_t>{0, 5, 32});
  EXPECT_NEAR(TensorOf<float>(ops::crossEntropy(stream, across, few)).download()[0],
              TensorOf<float>(ops::crossEntropy(stream, copied, few)).download()[0], 1e-6);
}

TEST_P(CrossEntropy, EqualCallsGiveEqualBits) {
  auto logits = input({300, 9001}, uniform<half>(300 * 9001, -10, 10));
  auto targets = input({300}, someTargets(300, 9001, -100));
  auto first = TensorOf<float>(ops::crossEntropy(stream, logits, targets)).download();
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(TensorOf<float>(ops::crossEntropy(stream, logits, targets)).download(), first);
}

TEST_P(CrossEntropy, Refusals) {
  auto logits = device().tensor<float>({4, 8});
  auto targets = device().tensor<int64_t>({4}), fewer = device().tensor<int64_t>({3});
  auto loss = device().tensor<float>({}), losses = device().tensor<float>({4});
  expectRefused(ErrorCode::InvalidShape,
                "crossEntropy: targets is i64 3, but logits is f32 4x8: targets needs the extents "
                "of logits without the last",
                [&] { ops::crossEntropy(stream, logits, fewer, loss); });
  expectRefused(ErrorCode::InvalidArgument, "targets is f32 4; supported dtypes: i32, i64",
                [&] { ops::crossEntropy(stream, logits, losses); });
  expectRefused(ErrorCode::InvalidShape, "crossEntropy: loss is f32 4; it needs one element",
                [&] { ops::crossEntropy(stream, logits, targets, losses); });
  expectRefused(ErrorCode::InvalidShape, "loss is f32 scalar, but logits is f32 4x8", [&] {
    ops::crossEntropy(stream, logits, targets, loss, {.reduction = LossReduction::None});
  });
  expectRefused(ErrorCode::InvalidArgument,
                "classes is 9, but logits is f32 4x8: 0 (all columns) to 8 are possible",
                [&] { ops::crossEntropy(stream, logits, targets, {.classes = 9}); });
  expectRefused(ErrorCode::InvalidArgument, "labelSmoothing is 1.500000: it must be in 0 .. 1",
                [&] { ops::crossEntropy(stream, logits, targets, {.labelSmoothing = 1.5}); });
  expectRefused(ErrorCode::InvalidArgument, "crossEntropyBackward: lse is ",
                [&] { ops::crossEntropyBackward(stream, loss, logits, targets, {}, logits); });
  expectRefused(ErrorCode::Aliasing, "dlogits overlaps logits", [&] {
    auto memory = device().tensor<float>({5, 8});
    ops::crossEntropyBackward(stream, loss, memory.slice(0, 0, 4), targets, losses,
                              memory.slice(0, 1, 4));
  });
}

} // namespace
